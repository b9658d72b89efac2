import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { Output } from "../../../src/lib/shell/output.ts";
import { removeOldLogs } from "../../../src/lib/shell/temp-log.ts";

const directory = mkdtempSync(join(tmpdir(), "bowline-output-"));
afterAll(() => rmSync(directory, { recursive: true }));

const pieces = (bytes: Buffer, size: number) =>
	Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

function shown(chunks: Buffer[]) {
	const output = new Output(directory);
	for (const chunk of chunks) output.append(chunk);
	const view = output.view(true);
	output.close();
	return view;
}

test("characters survive every way of cutting the stream", () => {
	fc.assert(
		fc.property(fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\n"), maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (text, size) => {
			expect(shown(pieces(Buffer.from(text), size)).text).toBe(text);
		}),
	);
});

test("a character that is not complete yet is not shown, and is there at the end", () => {
	const output = new Output(directory);
	const smile = Buffer.from("😀");
	output.append(Buffer.from("ok "));
	output.append(smile.subarray(0, 3));
	expect(output.view(false).text).toBe("ok ");
	output.append(smile.subarray(3));
	expect(output.view(true).text).toBe("ok 😀");
});

test("nothing is written while everything can be shown", () => {
	const before = readdirSync(directory).length;
	const view = shown([Buffer.from("x\n".repeat(2000))]);
	expect([view.truncation.truncated, view.fullOutputPath, readdirSync(directory).length]).toEqual([false, undefined, before]);
});

test.each([
	["too many lines", Buffer.from("x\n".repeat(2001)), 13],
	["too many bytes", Buffer.from("x".repeat(51201)), 1000],
	["much more than memory keeps", Buffer.from(Array.from({ length: 60_000 }, (_, at) => `line ${at} €`).join("\n")), 70_001],
	["one chunk larger than the buffer", Buffer.from("0123456789\n".repeat(60_000)), 700_000],
])("%s: the end is shown and the file has it all, for the user alone", (_name, bytes, size) => {
	const view = shown(pieces(bytes, size));
	const path = view.fullOutputPath as string;
	expect(path).toMatch(/bowline-bash-[0-9a-f]+\.log$/);
	expect(readFileSync(path).equals(bytes)).toBe(true);
	expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(bytes.toString().endsWith(view.text)).toBe(true);
	expect(view.truncation.totalBytes).toBe(bytes.length);
	expect(Buffer.byteLength(view.text)).toBeLessThanOrEqual(51200);
});

test("broken bytes that grow beyond the limit when shown have their file too", () => {
	const bytes = Buffer.alloc(30_000, 0xff);
	const view = shown(pieces(bytes, 4096));
	expect(view.truncation.truncated).toBe(true);
	expect(readFileSync(view.fullOutputPath as string).equals(bytes)).toBe(true);
});

test("a directory that cannot be written to costs the file, not the output", () => {
	const output = new Output(join(directory, "missing"));
	output.append(Buffer.from("x\n".repeat(3000)));
	const view = output.view(true);
	expect([view.fullOutputPath, view.truncation.outputLines]).toEqual([undefined, 2000]);
	expect(view.fullOutputProblem).toContain("ENOENT");
});

test("a path that is not a directory, or cannot be a path at all, costs the file, not the output", () => {
	const file = join(directory, "a-file");
	writeFileSync(file, "");
	for (const place of [join(file, "inside"), file, "/dev/null", "bad\0path", join(directory, "x".repeat(300))]) {
		const output = new Output(place);
		output.append(Buffer.from("x\n".repeat(3000)));
		const view = output.view(true);
		expect([place, view.fullOutputPath, view.truncation.outputLines]).toEqual([place, undefined, 2000]);
		expect(view.fullOutputProblem).not.toBe(undefined);
		output.close();
	}
});

test("logs and pipes older than a week are removed, everything else stays", async () => {
	const old = join(directory, "bowline-bash-0123456789abcdef.log");
	const fresh = join(directory, "bowline-bash-fedcba9876543210.log");
	const other = join(directory, "bowline-bash-notes.txt");
	const pipes = join(directory, "bowline-pipes-aB3dE6");
	mkdirSync(pipes);
	for (const path of [old, fresh, other, join(pipes, "0")]) writeFileSync(path, "");
	const now = Date.now();
	for (const path of [old, other, pipes]) utimesSync(path, now / 1000 - 8 * 86400, now / 1000 - 8 * 86400);
	await removeOldLogs(directory, now);
	expect([old, fresh, other, pipes].map((path) => existsSync(path))).toEqual([false, true, true, false]);
});
