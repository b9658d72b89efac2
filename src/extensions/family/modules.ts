/** The modules that extensions written for the family's agents import from its packages, as far as useful without a terminal. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import typebox from "typebox";
import { truncateHead as keepHead, truncateTail as keepTail, type Limits, outputLimits, type Truncated } from "../../lib/truncate.ts";
import { defineExtension, defineTool } from "../helpers.ts";

type ToolEvent = { toolName: string };
const isTool = (name: string) => (event: ToolEvent) => event.toolName === name;
const asResult = ({ text, truncation }: Truncated) => ({ content: text, ...truncation });
const longestLine = 500;

const agent = {
	defineExtension,
	defineTool,
	isToolCallEventType: (name: string, event: ToolEvent) => event.toolName === name,
	isBashToolResult: isTool("bash"),
	isReadToolResult: isTool("read"),
	isEditToolResult: isTool("edit"),
	isWriteToolResult: isTool("write"),
	isGrepToolResult: isTool("grep"),
	isFindToolResult: isTool("find"),
	isLsToolResult: isTool("ls"),
	DEFAULT_MAX_LINES: outputLimits.maxLines,
	DEFAULT_MAX_BYTES: outputLimits.maxBytes,
	truncateHead: (text: string, limits?: Partial<Limits>) => asResult(keepHead(text, { ...outputLimits, ...limits })),
	truncateTail: (text: string, limits?: Partial<Limits>) => asResult(keepTail(text, { ...outputLimits, ...limits })),
	truncateLine: (line: string, most = longestLine) =>
		line.length > most ? { text: `${line.slice(0, most)}... [truncated]`, wasTruncated: true } : { text: line, wasTruncated: false },
	formatSize: (bytes: number) =>
		bytes < 1024 ? `${bytes}B` : bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 / 1024).toFixed(1)}MB`,
	getAgentDir: () => resolve(process.env.BOWLINE_DIR || join(homedir(), ".bowline")),
};

const ai = {
	Type: typebox,
	/** A string enum in the form that every provider accepts. */
	StringEnum: (values: readonly string[], options: object = {}) => typebox.Unsafe({ type: "string", enum: [...values], ...options }),
};

const combined =
	(...modifiers: string[]) =>
	(key: string) =>
		[...modifiers, key].join("+");
const keyNames = ["escape", "enter", "tab", "space", "backspace", "delete", "home", "end", "pageUp", "pageDown", "up", "down", "left", "right"];
/** Names of keys. There is no keyboard here, so a shortcut is registered and never pressed. */
const tui = {
	Key: {
		...Object.fromEntries(keyNames.map((name) => [name, name])),
		ctrl: combined("ctrl"),
		shift: combined("shift"),
		alt: combined("alt"),
		ctrlShift: combined("ctrl", "shift"),
		ctrlAlt: combined("ctrl", "alt"),
		shiftAlt: combined("shift", "alt"),
	},
	matchesKey: () => false,
};

export type Module = Record<string, unknown>;

const scopes = ["@mariozechner", "@earendil-works", "@oh-my-pi"];

/** The modules by package name. Each has its own members, so that more can be added for one loader. */
export function familyModules(): Record<string, Module> {
	const byName: Record<string, Module> = { "pi-coding-agent": agent, "pi-ai": ai, "pi-tui": tui, "pi-agent-core": {} };
	return Object.fromEntries(scopes.flatMap((scope) => Object.entries(byName).map(([name, members]) => [`${scope}/${name}`, { ...members }])));
}
