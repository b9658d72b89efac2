/** Opening takes the lock first, so that it reads everything another process wrote before it released its lock. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openTranscript } from "../../src/transcript/open.ts";
import { chain, fileOf, folder, header, partsOf, said, user } from "./support.ts";

const trap = vi.hoisted(() => ({ beforeLock: (): void => undefined }));

vi.mock("node:fs", async (original) => {
	const fs = await original<typeof import("node:fs")>();
	const watched: typeof fs.openSync = (path, ...rest) => {
		if (String(path).endsWith(".lock")) trap.beforeLock();
		return fs.openSync(path, ...rest);
	};
	return { ...fs, openSync: watched };
});

test("a line that is added until the lock is taken is there", () => {
	const path = join(folder(), "s.jsonl");
	const [first, second] = chain(said(user("1")), said(user("2")));
	writeFileSync(path, fileOf(header, first as object));
	trap.beforeLock = () => appendFileSync(path, fileOf(second as object));
	const transcript = openTranscript(path, { ...partsOf("/"), mode: "write" });
	expect(transcript?.entries).toEqual([first, second]);
	transcript?.close();
});
