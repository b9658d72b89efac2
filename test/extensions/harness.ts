/** Real extension files in a temporary folder, and a session that only writes down what it is asked. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Ui } from "../../src/agent/contracts.ts";
import type { ExtensionActions } from "../../src/extensions/actions.ts";
import { findExtensions } from "../../src/extensions/discover.ts";
import { ExtensionHost, type HostOptions } from "../../src/extensions/host.ts";
import type { ExtensionError } from "../../src/extensions/link.ts";
import { loadExtensions } from "../../src/extensions/load.ts";
import type { Model } from "../../src/protocol/model.ts";

export function folder(files: Record<string, string> = {}): string {
	const path = mkdtempSync(join(tmpdir(), "bowline-extensions-"));
	onTestFinished(() => rmSync(path, { recursive: true, force: true }));
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(dirname(join(path, name)), { recursive: true });
		writeFileSync(join(path, name), content);
	}
	return path;
}

export const model: Model = {
	id: "m1",
	name: "M One",
	api: "scripted",
	provider: "acme",
	baseUrl: "",
	reasoning: false,
	input: ["text"],
	contextWindow: 1000,
	maxTokens: 100,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

export const text = (words: string) => ({ type: "text" as const, text: words });
export const user = (words: string) => ({ role: "user" as const, content: [text(words)], timestamp: 1 });

/** Dialogs stay open until their signal fires, or give what `answers` says. */
export function fakeUi(calls: unknown[][], answers: { confirm?: boolean } = {}): Ui {
	const open = <T>(name: string, fallback: T, given: T | undefined, args: unknown[], signal?: AbortSignal) => {
		calls.push([name, ...args]);
		if (given !== undefined) return Promise.resolve(given);
		return new Promise<T>((resolve) => signal?.addEventListener("abort", () => resolve(fallback)));
	};
	return {
		select: (title, choices, options) => open("select", undefined, undefined, [title, choices], options?.signal),
		confirm: (title, message, options) => open("confirm", false, answers.confirm, [title, message], options?.signal),
		input: (title, placeholder, options) => open("input", undefined, undefined, [title, placeholder], options?.signal),
		editor: (title, prefill, options) => open("editor", undefined, undefined, [title, prefill], options?.signal),
		notify: (...args) => void calls.push(["notify", ...args]),
		setStatus: (...args) => void calls.push(["setStatus", ...args]),
		setWidget: (...args) => void calls.push(["setWidget", ...args]),
		setTitle: (...args) => void calls.push(["setTitle", ...args]),
		setEditorText: (...args) => void calls.push(["setEditorText", ...args]),
	};
}

export function fakeActions(calls: unknown[][], cwd: string): ExtensionActions {
	const note =
		(name: string) =>
		(...args: unknown[]) =>
			void calls.push([name, ...args]);
	const entries = [
		{ type: "message" as const, message: user("hello"), id: "e1", parentId: null, timestamp: "t" },
		{ type: "custom" as const, customType: "x", data: 1, id: "e2", parentId: "e1", timestamp: "t" },
		{ type: "label" as const, targetId: "e1", label: "start", id: "e3", parentId: "e2", timestamp: "t" },
	];
	return {
		ui: fakeUi(calls),
		hasUI: true,
		cwd,
		sendMessage: note("sendMessage"),
		sendUserMessage: note("sendUserMessage"),
		sendFailed: note("sendFailed"),
		appendEntry: note("appendEntry"),
		setLabel: note("setLabel"),
		getSessionName: () => "a name",
		setSessionName: note("setSessionName"),
		model,
		setModel: async (chosen) => chosen.provider === "acme",
		models: { available: [model], all: [model], scoped: [{ model, level: "low" }], credentials: async () => ({ apiKey: "a-key", headers: {} }) },
		settings: () => ({ retry: { enabled: true } }),
		isProjectTrusted: () => true,
		mode: "rpc",
		getThinkingLevel: () => "low",
		setThinkingLevel: note("setThinkingLevel"),
		getActiveTools: () => ["read"],
		setActiveTools: note("setActiveTools"),
		getAllTools: () => [{ name: "read", description: "reads", parameters: {} }],
		getCommands: () => [],
		abort: note("abort"),
		isIdle: () => true,
		hasPendingMessages: () => false,
		waitForIdle: async () => note("waitForIdle")(),
		newSession: async (options) => {
			note("newSession")(options);
			return { cancelled: false };
		},
		fork: async (entryId) => {
			note("fork")(entryId);
			return { cancelled: false, text: "hello" };
		},
		switchSession: async (path) => {
			note("switchSession")(path);
			return { cancelled: true };
		},
		compact: async (instructions) => {
			note("compact")(instructions);
			if (instructions === "fail") throw new Error("Nothing to compact");
			return { summary: "short", firstKeptEntryId: "e1", tokensBefore: 3, details: {} };
		},
		contextUsage: () => ({ tokens: 10, contextWindow: 1000, percent: 1 }),
		systemPrompt: () => "You are helpful.",
		sessionView: () => ({
			sessionId: "s1",
			file: "/s/1.jsonl",
			name: "a name",
			header: { id: "s1", timestamp: "t", cwd },
			entries,
			leafId: "e3",
			path: () => entries,
		}),
		shutdown: note("shutdown"),
		exec: async (...args) => {
			note("exec")(...args);
			return { stdout: "out", stderr: "", code: 0, killed: false };
		},
		changed: note("changed"),
	};
}

export interface Loaded {
	host: ExtensionHost;
	directory: string;
	/** The calls that extensions made to the session. */
	calls: unknown[][];
	/** The errors that extensions threw, while loading and later, without the folder in paths. */
	errors: ExtensionError[];
	warnings: string[];
	actions: ExtensionActions;
}

/** Files are written into one trusted directory and loaded in the order of their names. */
export async function load(
	files: Record<string, string>,
	options: Partial<HostOptions> & { limitMs?: number; isBound?: boolean } = {},
): Promise<Loaded> {
	const directory = folder(files);
	const calls: unknown[][] = [];
	const errors: ExtensionError[] = [];
	const warnings: string[] = [];
	const short = (words: string) => words.replaceAll(`${directory}/`, "");
	const { found, errors: discoveryErrors } = findExtensions({ cwd: directory, directories: [{ path: directory, scope: "user", isTrusted: true }] });
	const loaded = await loadExtensions(found, { warn: (line) => void warnings.push(short(line)), limitMs: options.limitMs });
	const onError = ({ extensionPath, event, error }: ExtensionError) =>
		void errors.push({ extensionPath: short(extensionPath), event, error: short(error) });
	for (const error of [...discoveryErrors, ...loaded.errors]) onError(error);
	const host = new ExtensionHost(loaded, { onError, ...options });
	const actions = fakeActions(calls, directory);
	if (options.isBound !== false) host.bind(actions);
	return { host, directory, calls, errors, warnings, actions };
}

/** An extension in JavaScript with this body, which can use `api`. */
export const body = (code: string) => `export default (api) => { ${code} };`;

/** Code of a promise that never resolves. */
export const never = "new Promise(() => undefined)";
