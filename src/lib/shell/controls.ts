/** Removes terminal control from output, byte by byte, so that no chunk boundary can hide a sequence. */
import type { ByteFilter } from "../redact.ts";
import { c1Lead, firstControl, scannable } from "./scan.ts";

const Tab = 0x09;
const Newline = 0x0a;
const Bell = 0x07;
const Escape = 0x1b;
const Delete = 0x7f;

/** Where we are: in plain text, after ESC, after ESC and intermediates, in ESC [, in a string such as a window title, after ESC in a string, after 0xC2. */
type Place = "ground" | "escape" | "intermediate" | "sequence" | "string" | "stringEscape" | "c1";

export function controlStripper(): ByteFilter {
	let place: Place = "ground";

	/** Advances by one byte. True when the byte is to be shown. */
	function step(byte: number): boolean {
		switch (place) {
			case "escape":
				place = afterEscape(byte);
				return isStray(byte) && ground(byte);
			case "intermediate":
				if (byte >= 0x20 && byte <= 0x2f) return false;
				place = "ground";
				return isStray(byte) && ground(byte);
			case "sequence":
				if (byte >= 0x20 && byte <= 0x3f) return false;
				place = "ground";
				return isStray(byte) && ground(byte);
			case "string":
				if (byte === Bell) place = "ground";
				else if (byte === Escape) place = "stringEscape";
				// No title or link contains a newline: this one was never ended, and must not swallow the rest of the output.
				else if (byte === Newline) return ground(byte);
				return false;
			case "stringEscape":
				place = byte === 0x5c ? "ground" : afterEscape(byte);
				return isStray(byte) && ground(byte);
			default:
				return ground(byte);
		}
	}

	function ground(byte: number): boolean {
		place = "ground";
		if (byte === Escape) place = "escape";
		// Whether it is shown depends on the byte after it.
		if (byte === c1Lead) place = "c1";
		return place === "ground" && ((byte >= 0x20 && byte !== Delete) || byte === Newline || byte === Tab);
	}

	return {
		push(chunk) {
			const scan = scannable(chunk);
			let at = place === "ground" ? firstControl(scan, 0) : 0;
			if (at === chunk.length) return chunk;
			const kept = Buffer.allocUnsafe(chunk.length + 1);
			let length = chunk.copy(kept, 0, 0, at);
			while (at < chunk.length) {
				const byte = chunk[at] as number;
				at += 1;
				if (place === "c1") {
					place = "ground";
					if (byte >= 0x80 && byte <= 0x9f) {
						place = afterC1(byte);
						continue;
					}
					kept[length++] = c1Lead;
				}
				if (step(byte)) kept[length++] = byte;
				if (place === "ground") {
					const next = firstControl(scan, at);
					length += chunk.copy(kept, length, at, next);
					at = next;
				}
			}
			return kept.subarray(0, length);
		},
		end() {
			// A lone 0xC2 at the very end is a broken character, not a control.
			const rest = place === "c1" ? Buffer.of(c1Lead) : Buffer.alloc(0);
			place = "ground";
			return rest;
		},
	};
}

/** A byte that cannot be part of an escape sequence ends it and is handled on its own. */
const isStray = (byte: number) => byte < 0x20 || byte >= 0x7f;

function afterEscape(byte: number): Place {
	if (byte === 0x5b) return "sequence";
	// ] P X ^ _ open a string: title, link, device control.
	if (byte === 0x5d || byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) return "string";
	if (byte >= 0x20 && byte <= 0x2f) return "intermediate";
	return "ground";
}

function afterC1(byte: number): Place {
	if (byte === 0x9b) return "sequence";
	if (byte === 0x9d || byte === 0x90 || byte === 0x98 || byte === 0x9e || byte === 0x9f) return "string";
	return "ground";
}
