/** What a tool call looks like to a person: kind, title, places and content. The same functions serve live calls and a replay. */
import { dirname, isAbsolute, join, relative } from "node:path";
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { UserContent } from "../protocol/content.ts";
import type { ToolResult } from "../protocol/messages.ts";
import { resolvePath } from "../tools/paths.ts";
import { type Change, diffOf, patchDiffs } from "./diffs.ts";

export type Args = Record<string, unknown>;

export interface ToolViewParts {
	cwd: string;
	/** What a tool is called where people read it; nothing for a tool that is not there. */
	labelOf: (name: string) => string | undefined;
	/** Whether a tool of a server says that it changes nothing. */
	isReadOnly?: (name: string) => boolean;
}

export interface FinishedCall {
	name: string;
	args: Args;
	result: ToolResult;
	isError: boolean;
	/** The texts of the file before and after, where they are known. */
	change?: Change;
}

const kinds: Record<string, ToolKind> = {
	read: "read",
	edit: "edit",
	write: "edit",
	bash: "execute",
	grep: "search",
	find: "search",
	ls: "search",
	task: "think",
};
const labels: Record<string, string> = {
	read: "Read",
	edit: "Edit",
	write: "Write",
	bash: "Bash",
	grep: "Search",
	find: "Find",
	ls: "List",
	task: "Task",
};

const longestTitle = 120;
const mostHits = 20;
const longestInput = 16 * 1024;
const longestOutput = 16 * 1024;
/** Of the output of a command that runs. */
const longestTail = 16 * 1024;
/** Of a text that a tool of an extension or a server returns. */
const longestText = 256 * 1024;
/** A line must stay below 32 MiB. */
const mostImageBytes = 20 * 1024 * 1024;

export class ToolView {
	#parts: ToolViewParts;

	constructor(parts: ToolViewParts) {
		this.#parts = parts;
	}

	kind(name: string): ToolKind {
		return kinds[name] ?? (this.#parts.isReadOnly?.(name) ? "read" : "other");
	}

	/** Before the arguments are known. */
	label(name: string): string {
		const mcp = mcpName(name);
		if (mcp) return `${mcp.server}: ${this.#parts.labelOf(name) ?? mcp.tool}`;
		return labels[name] ?? this.#parts.labelOf(name) ?? name;
	}

	title(name: string, args: Args): string {
		const label = this.label(name);
		const path = text(args.path);
		switch (name) {
			case "read":
				return path === undefined ? label : `${label} ${this.#near(path)}${linesOf(args)}`;
			case "edit":
			case "write":
				return path === undefined ? label : `${label} ${this.#near(path)}`;
			case "bash": {
				const command = text(args.command);
				return command === undefined ? label : `\`${shortened(command.trimStart().split("\n", 1)[0] as string).replaceAll("`", "'")}\``;
			}
			case "grep":
				return `${label} ${JSON.stringify(shortened(text(args.pattern) ?? ""))}${path === undefined ? "" : ` in ${this.#near(path)}`}`;
			case "find":
				return shortened(`${label} ${text(args.pattern) ?? ""}${path === undefined ? "" : ` in ${this.#near(path)}`}`);
			case "ls":
				return `${label} ${this.#near(path ?? ".")}`;
			case "task":
				return shortened(taskTitle(args) ?? label);
			default: {
				if (mcpName(name)) return label;
				const first = Object.values(args).find((value) => typeof value === "string" && value.trim() !== "") as string | undefined;
				return first === undefined ? label : shortened(`${label} ${first.trim().split("\n", 1)[0]}`);
			}
		}
	}

	/** Absolute, also where the model's paths are not. `result`: once there is one. */
	locations(name: string, args: Args, result?: ToolResult): ToolCallLocation[] {
		const path = text(args.path);
		const place = (line?: unknown): ToolCallLocation[] => {
			const isLine = typeof line === "number" && Number.isSafeInteger(line) && line >= 1;
			return path === undefined ? [] : [{ path: this.#absolute(path), ...(isLine && { line }) }];
		};
		switch (name) {
			case "read":
				return place(args.offset);
			case "edit":
				return place((result?.details as { firstChangedLine?: unknown } | undefined)?.firstChangedLine);
			case "write":
				return place();
			case "find":
			case "ls":
				return [{ path: this.#absolute(path ?? ".") }];
			case "grep": {
				const target = this.#absolute(path ?? ".");
				const hits = result ? hitsIn(textOf(result.content), target) : [];
				return hits.length ? hits : [{ path: target }];
			}
			default:
				return [];
		}
	}

	/** The arguments, with long texts cut. */
	input(args: Args): Args {
		return cutTexts(args, 0) as Args;
	}

	/** The details of a result, if they are small. */
	output({ details }: ToolResult): unknown {
		if (details === undefined || details === null) return undefined;
		const json = JSON.stringify(details);
		return json === undefined || json === "{}" || json.length > longestOutput ? undefined : details;
	}

	/** What a call that runs shows. */
	progress(name: string, { content, details }: ToolResult): ToolCallContent[] {
		const states = name === "task" ? taskStates(details) : undefined;
		if (states !== undefined) return [textBlock(states)];
		const shown = textOf(content);
		const tail = shown.length > longestTail ? shown.slice(-longestTail).replace(/^[\udc00-\udfff]/, "") : shown;
		return [textBlock(name === "bash" ? fenced(tail) : tail)];
	}

	/** What a finished call shows. */
	content({ name, args, result, isError, change }: FinishedCall): ToolCallContent[] {
		if (!isError && (name === "edit" || name === "write")) {
			const diffs = this.#diffs(name, args, result, change);
			if (diffs.length) return diffs;
		}
		if (name === "bash") return [textBlock(fenced(textOf(result.content)))];
		return blocks(result.content).map((content) => ({ type: "content", content }));
	}

	#diffs(name: string, args: Args, { details }: ToolResult, change: Change | undefined): ToolCallContent[] {
		const given = text(args.path);
		if (given === undefined) return [];
		const path = this.#absolute(given);
		const patch = text((details as { patch?: unknown } | undefined)?.patch) ?? "";
		const whole = change && diffOf(path, change);
		if (whole) return [whole];
		if (name === "edit") return patchDiffs(path, patch);
		const content = text(args.content);
		const created = content === undefined ? undefined : diffOf(path, { after: content });
		return created ? [created] : [];
	}

	#absolute(path: string): string {
		return resolvePath(this.#parts.cwd, path);
	}

	/** Relative to the working directory where it is inside. */
	#near(path: string): string {
		const near = relative(this.#parts.cwd, this.#absolute(path));
		return near === "" ? "." : near.startsWith("..") || isAbsolute(near) ? path : near;
	}
}

/** The server and the tool that a name of a tool of a server is made of. */
export function mcpName(name: string): { server: string; tool: string } | undefined {
	const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
	return server !== undefined && tool !== undefined ? { server, tool } : undefined;
}

export function textBlock(text: string): ToolCallContent {
	return { type: "content", content: { type: "text", text } };
}

/** A fence that is longer than any in the text. */
function fenced(text: string): string {
	const longest = [...text.matchAll(/`{3,}/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2);
	const fence = "`".repeat(longest + 1);
	return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function blocks(content: UserContent): ContentBlock[] {
	let imageBytes = 0;
	return content.flatMap((block): ContentBlock[] => {
		if (block.type === "text") {
			const cut = block.text.length > longestText;
			return block.text === "" ? [] : [{ type: "text", text: cut ? `${block.text.slice(0, longestText)}\n[cut]` : block.text }];
		}
		imageBytes += block.data.length;
		if (imageBytes > mostImageBytes) return [{ type: "text", text: "[image: too large to be shown here]" }];
		return [{ type: "image", data: block.data, mimeType: block.mimeType }];
	});
}

function textOf(content: UserContent): string {
	return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

const text = (value: unknown) => (typeof value === "string" ? value : undefined);

function shortened(line: string): string {
	return line.length > longestTitle ? `${line.slice(0, longestTitle - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

function linesOf({ offset, limit }: Args): string {
	const first = typeof offset === "number" ? offset : 1;
	if (typeof limit === "number") return ` (${first}-${first + limit - 1})`;
	return typeof offset === "number" && offset > 1 ? ` (from ${offset})` : "";
}

function taskTitle({ tasks }: Args): string | undefined {
	if (!Array.isArray(tasks)) return undefined;
	const names = tasks.map((task) => text((task as { description?: unknown } | null)?.description)).filter((name) => name !== undefined);
	return names.length ? names.join("; ") : undefined;
}

/** One line for each task with its state. */
function taskStates(details: unknown): string | undefined {
	const progress = (details as { progress?: unknown } | undefined)?.progress;
	if (!Array.isArray(progress)) return undefined;
	return (progress as { id: string; description: string; status: string; currentTool?: string; currentToolArgs?: string }[])
		.map(({ id, description, status, currentTool, currentToolArgs }) => {
			const doing = currentTool === undefined ? "" : ` (${[currentTool, currentToolArgs].filter(Boolean).join(" ")})`;
			return `- ${id}: ${description || "task"}: ${status}${doing}`;
		})
		.join("\n");
}

/** `path:line: text` of each match, relative to the searched directory or to that of the searched file. */
function hitsIn(shown: string, target: string): ToolCallLocation[] {
	const hits: ToolCallLocation[] = [];
	for (const [, path = "", line] of shown.matchAll(/^(.+?):(\d+): /gm)) {
		if (hits.length === mostHits) break;
		// The search of one file names the file itself.
		const isFile = target.endsWith(`/${path}`) || target === path;
		hits.push({ path: isFile ? join(dirname(target), path.split("/").pop() as string) : join(target, path), line: Number(line) });
	}
	return hits;
}

function cutTexts(value: unknown, depth: number): unknown {
	if (typeof value === "string") return value.length > longestInput ? `${value.slice(0, longestInput)}… [cut]` : value;
	if (typeof value !== "object" || value === null || depth > 8) return value;
	if (Array.isArray(value)) return value.map((item) => cutTexts(item, depth + 1));
	return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutTexts(member, depth + 1)]));
}
