/** Reads small files during start, when nothing else runs yet. Separate from bounded-file.ts, whose modules a start does not need. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { notRegular, readFlags, tooLarge } from "./unsuitable-file.ts";

export function readRegularSync(path: string, maxBytes: number): Buffer {
	const descriptor = openSync(path, readFlags);
	try {
		const facts = fstatSync(descriptor);
		if (!facts.isFile()) throw notRegular();
		if (facts.size > maxBytes) throw tooLarge(maxBytes);
		const parts: Buffer[] = [];
		for (let total = 0; ; ) {
			const part = Buffer.allocUnsafe(Math.max(facts.size - total + 1, 4096));
			const bytesRead = readSync(descriptor, part, 0, part.length, null);
			if (bytesRead === 0) return Buffer.concat(parts, total);
			total += bytesRead;
			if (total > maxBytes) throw tooLarge(maxBytes);
			parts.push(part.subarray(0, bytesRead));
		}
	} finally {
		closeSync(descriptor);
	}
}
