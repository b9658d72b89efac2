/** What a tool call looks like to a person: kind, title, places and content. The same functions serve live calls and a replay. */
import { dirname, isAbsolute, join, relative } from "node:path";
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { Tool } from "../agent/tool.ts";
import { type CallView, type EffectKind, factsOf, viewOf } from "../lib/tool-facts.ts";
import type { UserContent } from "../protocol/content.ts";
import type { ToolResult } from "../protocol/messages.ts";
import { resolvePath } from "../tools/paths.ts";
import { type Change, diffOf, patchDiffs } from "./diffs.ts";

export type Args = Record<string, unknown>;

export interface ToolViewParts {
	cwd: string;
	/** A tool of the session; undefined for one that is not there, as in the replay of an old session. */
	toolOf: (name: string) => Pick<Tool, "label" | "effect" | "view"> | undefined;
}

export interface FinishedCall {
	name: string;
	args: Args;
	result: ToolResult;
	isError: boolean;
	/** The texts of the file before and after, where they are known. */
	change?: Change;
}

/** Of tools that say what they do and not how they look. */
const kinds: Record<EffectKind, ToolKind> = { read: "read", write: "edit", run: "other", ask: "other", none: "other" };
const plain: Partial<CallView> = {};

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
		return this.#view(name).kind ?? kinds[this.#parts.toolOf(name)?.effect.kind ?? "run"];
	}

	/** A command, whose output can be shown in a terminal. */
	isCommand(name: string): boolean {
		return this.#view(name).command === true;
	}

	/** The plan shows what the call does. */
	isPlan(name: string): boolean {
		return this.#view(name).plan === true;
	}

	#view(name: string): Partial<CallView> {
		return this.#parts.toolOf(name)?.view ?? viewOf(name) ?? plain;
	}

	/** Before the arguments are known. */
	label(name: string): string {
		const mcp = mcpName(name);
		const tool = this.#parts.toolOf(name);
		if (mcp) return `${mcp.server}: ${tool?.label ?? mcp.tool}`;
		const facts = factsOf(name);
		return this.#view(name).verb ?? tool?.label ?? (facts?.isSelectable ? facts.label : name);
	}

	title(name: string, args: Args): string {
		const label = this.label(name);
		const view = this.#view(name);
		const path = text(args.path);
		if (view.command) {
			const command = text(args.command);
			return command === undefined ? label : `\`${shortened(command.trimStart().split("\n", 1)[0] as string).replaceAll("`", "'")}\``;
		}
		if (view.tasks) return shortened(taskTitle(args) ?? label);
		if (view.pattern) {
			const pattern = text(args.pattern) ?? "";
			const place = path === undefined ? "" : ` in ${this.#near(path)}`;
			return view.pattern === "quoted" ? `${label} ${JSON.stringify(shortened(pattern))}${place}` : shortened(`${label} ${pattern}${place}`);
		}
		if (view.path === "place") return `${label} ${this.#near(path ?? ".")}`;
		if (view.path === "file") return path === undefined ? label : `${label} ${this.#near(path)}${view.lines ? linesOf(args) : ""}`;
		if (mcpName(name)) return label;
		const first = Object.values(args).find((value) => typeof value === "string" && value.trim() !== "") as string | undefined;
		return first === undefined ? label : shortened(`${label} ${first.trim().split("\n", 1)[0]}`);
	}

	/** Absolute, also where the model's paths are not. `result`: once there is one. */
	locations(name: string, args: Args, result?: ToolResult): ToolCallLocation[] {
		const view = this.#view(name);
		const path = text(args.path);
		if (view.path === "place") {
			const target = this.#absolute(path ?? ".");
			const hits = view.hits && result ? hitsIn(textOf(result.content), target) : [];
			return hits.length ? hits : [{ path: target }];
		}
		if (view.path === "file") {
			const line = view.lines ? args.offset : view.edits && (result?.details as { firstChangedLine?: unknown } | undefined)?.firstChangedLine;
			const isLine = typeof line === "number" && Number.isSafeInteger(line) && line >= 1;
			return path === undefined ? [] : [{ path: this.#absolute(path), ...(isLine && { line }) }];
		}
		const effect = this.#parts.toolOf(name)?.effect;
		const paths = effect?.kind === "read" || effect?.kind === "write" ? (effect.paths?.(args) ?? []) : [];
		return paths.map((each) => ({ path: this.#absolute(each) }));
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
		const view = this.#view(name);
		const states = view.tasks ? taskStates(details) : undefined;
		if (states !== undefined) return [textBlock(states)];
		const shown = textOf(content);
		const tail = shown.length > longestTail ? shown.slice(-longestTail).replace(/^[\udc00-\udfff]/, "") : shown;
		return [textBlock(view.command ? fenced(tail) : tail)];
	}

	/** What a finished call shows. */
	content({ name, args, result, isError, change }: FinishedCall): ToolCallContent[] {
		const view = this.#view(name);
		if (!isError && (view.edits || view.content)) {
			const diffs = this.#diffs(view, args, result, change);
			if (diffs.length) return diffs;
		}
		if (view.command) return [textBlock(fenced(textOf(result.content)))];
		return blocks(result.content).map((content) => ({ type: "content", content }));
	}

	#diffs(view: Partial<CallView>, args: Args, { details }: ToolResult, change: Change | undefined): ToolCallContent[] {
		const given = text(args.path);
		if (given === undefined) return [];
		const path = this.#absolute(given);
		const patch = text((details as { patch?: unknown } | undefined)?.patch) ?? "";
		const whole = change && diffOf(path, change);
		if (whole) return [whole];
		if (view.edits) return patchDiffs(path, patch);
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
