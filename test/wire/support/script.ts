/** The `model:` line of a transcript, as a model script. Replies are separated by `·`, the blocks of one reply by `+`. */
import { objectAt } from "./parse.ts";

type Reply = Record<string, unknown> & { blocks?: unknown[] };

export function toScript(line: string): { replies: Reply[] } {
	return { replies: split(line, "·").map(reply) };
}

function reply(text: string): Reply {
	const result: Reply = {};
	const block = (value: unknown) => {
		result.blocks = [...(result.blocks ?? []), value];
	};
	for (const part of split(text, "+")) {
		const [verb = ""] = part.split(" ", 1);
		const rest = part.slice(verb.length).trim();
		switch (verb) {
			case "say":
				block({ text: JSON.parse(rest) });
				break;
			case "think":
				block({ thinking: JSON.parse(rest) });
				break;
			case "call": {
				const [, id, tool = "", json = ""] = /^(?:#(\S+) )?(\S+) ?(.*)$/s.exec(rest) as RegExpExecArray;
				const args: unknown = json.startsWith("{") ? JSON.parse(objectAt(json, 0)) : json === "" ? {} : JSON.parse(json);
				block({ tool, arguments: args, ...(id ? { id } : {}) });
				break;
			}
			case "fail": {
				const [, status, body] = /^"(?:(\d+) ?)?(.*)"$/.exec(rest) as RegExpExecArray;
				result.fail = { ...(status ? { status: Number(status) } : {}), body };
				break;
			}
			case "stall":
				result.stall = true;
				break;
			case "cut":
				result.cut = true;
				break;
			case "stop":
				result.stop = rest;
				break;
			case "delay":
				result.delayMs = Number(rest);
				break;
			case "pace":
				result.pieceDelayMs = Number(rest);
				break;
			case "used":
				result.usage = { input: Number(rest) };
				break;
			case "always":
				result.times = "always";
				break;
			case "agent":
				result.when = { ...(result.when as object), agent: rest };
				break;
			case "sees":
				result.when = { ...(result.when as object), text: JSON.parse(rest) };
				break;
			default:
				throw new Error(`model: cannot read ${JSON.stringify(part)}`);
		}
	}
	return result;
}

/** Splits at a separator outside strings. */
function split(text: string, separator: string): string[] {
	const parts: string[] = [""];
	let isString = false;
	for (let index = 0; index < text.length; index++) {
		const char = text[index] as string;
		if (isString && char === "\\") {
			parts[parts.length - 1] += char + text[++index];
			continue;
		}
		if (char === '"') isString = !isString;
		if (char === separator && !isString) parts.push("");
		else parts[parts.length - 1] += char;
	}
	return parts.map((part) => part.trim());
}
