/** Reads the arguments of a tool call while they arrive. */
import { parse } from "partial-json";
import type { ToolCall } from "../../protocol/content.ts";
import { isNestedDeeperThan, maxNesting } from "../../protocol/nesting.ts";

/** A call whose arguments were no JSON object carries the reason and must not be executed. */
export type CallMembers = Pick<ToolCall, "arguments"> & { argumentsError?: string };

/** Up to this many characters every piece is read; beyond, a reading must bring at least a quarter more, so that the cost stays linear. */
const always = 512;
const step = 2048;

export class ArgumentsReader {
	#text = "";
	#readAt = 0;

	/** Takes a piece; gives the best reading so far when there is a new one. */
	add(piece: string): ToolCall["arguments"] | undefined {
		this.#text += piece;
		const { length } = this.#text;
		if (length > always && length - this.#readAt < Math.max(step, this.#readAt / 4)) return undefined;
		this.#readAt = length;
		return bestReading(this.#text);
	}

	/** Strict: half a call that happens to look complete would be worse than none. */
	end(): CallMembers {
		if (isNestedDeeperThan(maxNesting, this.#text)) return { arguments: {}, argumentsError: `The arguments are nested deeper than ${maxNesting}` };
		try {
			const value: unknown = JSON.parse(this.#text);
			return isObject(value) ? { arguments: value } : { arguments: {}, argumentsError: "The arguments are not a JSON object" };
		} catch (error) {
			return { arguments: {}, argumentsError: (error as Error).message };
		}
	}
}

function bestReading(text: string): ToolCall["arguments"] | undefined {
	if (isNestedDeeperThan(maxNesting, text)) return undefined;
	try {
		const value: unknown = whole(text) ?? parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Nearly every script writes its arguments in one piece. */
function whole(text: string): unknown {
	if (!text.endsWith("}")) return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
