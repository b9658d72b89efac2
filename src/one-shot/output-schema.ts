/** Reads the JSON Schema that `--output-schema` names. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../lib/usage-error.ts";
import { requireAnswer } from "../live/require-answer.ts";

export async function readSchema(cwd: string, path: string): Promise<Record<string, unknown>> {
	const schema = parsed(path, readText(resolve(cwd, path), path));
	if (typeof schema !== "object" || schema === null || Array.isArray(schema))
		throw new UsageError(`--output-schema ${path}: a JSON Schema is an object, such as {"type":"object"}.`);
	try {
		await requireAnswer(schema as Record<string, unknown>);
	} catch (error) {
		throw new UsageError(`--output-schema ${path}: ${(error as Error).message.replace(/^outputSchema: /, "")}`);
	}
	return schema as Record<string, unknown>;
}

function readText(file: string, path: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		throw new UsageError(`--output-schema ${path} cannot be read: ${(error as Error).message}`);
	}
}

function parsed(path: string, text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw new UsageError(`--output-schema ${path} is not JSON: ${(error as Error).message}`);
	}
}
