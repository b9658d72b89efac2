/** Reads the arguments of a tool call while they arrive. */
import { PartialJsonReader } from "../../lib/partial-json.ts";
import type { ToolCall } from "../../protocol/content.ts";
import { isNestedDeeperThan, maxNesting } from "../../protocol/nesting.ts";

/** A call whose arguments were no JSON object carries the reason and must not be executed. */
export type CallMembers = Pick<ToolCall, "arguments"> & { argumentsError?: string };

export class ArgumentsReader {
	#reader = new PartialJsonReader(maxNesting);

	/** Takes a piece; gives the best reading so far when there is a new one. */
	add(piece: string): ToolCall["arguments"] | undefined {
		return this.#reader.push(piece);
	}

	/** Strict: half a call that happens to look complete would be worse than none. */
	end(): CallMembers {
		const { text } = this.#reader;
		if (isNestedDeeperThan(maxNesting, text)) return { arguments: {}, argumentsError: `The arguments are nested deeper than ${maxNesting}` };
		try {
			const value: unknown = JSON.parse(text);
			return isObject(value) ? { arguments: value } : { arguments: {}, argumentsError: "The arguments are not a JSON object" };
		} catch (error) {
			return { arguments: {}, argumentsError: (error as Error).message };
		}
	}
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
