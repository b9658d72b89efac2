/** `bowline record show|trim|merge`: looks at records, and makes them fit for a folder of tests. */
import { readFileSync, writeFileSync } from "node:fs";
import { didYouMean } from "../../lib/nearest.ts";
import { printable } from "../../lib/printable.ts";
import { UsageError } from "../../lib/usage-error.ts";
import { merged, summaryOf, trimmed } from "../../models/records/edit.ts";
import { type ModelRecord, parseRecord, toText } from "../../models/records/format.ts";
import type { Options } from "../../protocol/flags.ts";
import { printJson, printValue } from "../json.ts";

const usage = "bowline record show <record>, record trim <record> <output> [requests], record merge <output> <record> <record> …";

export function recordCommand([what, ...words]: readonly string[], options: Options): void {
	if (what === "show") return show(words, options);
	if (what === "trim") return trim(words);
	if (what === "merge") return merge(words);
	if (what === undefined) throw new UsageError(`Say what to do. ${usage}`);
	throw new UsageError(`Unknown: record ${what}.${didYouMean(what, ["show", "trim", "merge"], (name) => `record ${name}`)} ${usage}`);
}

function show([path, tooMuch]: readonly string[], options: Options): void {
	if (path === undefined || tooMuch !== undefined) throw new UsageError(`Which record? ${usage}`);
	const lines = summaryOf(read(path));
	if (options.json) printJson(lines);
	else process.stdout.write(`${printable(lines.join("\n"))}\n`);
}

function trim([path, output, count, tooMuch]: readonly string[]): void {
	if (path === undefined || output === undefined || tooMuch !== undefined) throw new UsageError(`From where, and to where? ${usage}`);
	const requests = count === undefined ? undefined : Number(count);
	if (requests !== undefined && !(Number.isInteger(requests) && requests > 0)) throw new UsageError(`${count} is not a number of requests. ${usage}`);
	write(output, trimmed(read(path), requests));
}

function merge([output, first, ...others]: readonly string[]): void {
	if (output === undefined || first === undefined || others.length === 0) throw new UsageError(`Which records, and to where? ${usage}`);
	write(output, merged([read(first), ...others.map(read)]));
}

function read(path: string): ModelRecord {
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
	}
	const record = parseRecord(text, path);
	if ("problem" in record) throw new UsageError(record.problem);
	return record;
}

/** A record of a real session is for its owner, until they decide otherwise. A file that exists is not replaced. */
function write(path: string, record: ModelRecord): void {
	try {
		writeFileSync(path, toText(record), { mode: 0o600, flag: "wx" });
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw new UsageError(code === "EEXIST" ? `${path} exists. Remove it, or name another.` : `${path} cannot be written: ${message}`);
	}
	printValue(`${path}\n`);
}
