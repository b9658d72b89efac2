/** Stream rules: watches a reply while it streams, and names the rules that it breaks. Cuts nothing itself. */
import type { StreamEvent } from "../../agent/contracts.ts";
import type { CustomMessage } from "../../protocol/messages.ts";
import { type Pattern, PatternSearch, patternLimitMs } from "./pattern.ts";
import { type InterruptMode, type Reach, type Rule, type RuleSource, readRules, type SourceKind, type StreamRule, type Trigger } from "./rule.ts";
import { pathsIn, Source, textsIn, unescaped } from "./source.ts";

export type { Rule, RuleSource } from "./rule.ts";

export interface StreamRuleSettings {
	enabled: boolean;
	interruptMode: InterruptMode;
	repeatMode: "once" | "after-gap";
	/** Turns before a rule may fire again, with `after-gap`. */
	repeatGap: number;
}

export interface StreamRulesInput {
	/** Rule files; those without a condition are ignored here. */
	rules: readonly RuleSource[];
	settings: StreamRuleSettings;
	warn: (text: string) => void;
}

export interface StreamRules {
	/** Whether there is anything to watch for. */
	readonly isEmpty: boolean;
	/**
	 * Takes every event of a reply's blocks, in order. Returns the rules for which the reply must be cut now, and then nothing more until the
	 * next reply. Rules that may not cut wait for `takePending`.
	 */
	watch(event: StreamEvent): Rule[] | undefined;
	/** The rules that the reply broke without being cut for them. Call it when the reply ended well; the next reply clears them. */
	takePending(): Rule[];
	/** Forgets the text of the last reply. */
	replyStarted(): void;
	turnEnded(): void;
	/** The message that informs the model, hidden from the user. From now on the rules count as used. */
	injectionFor(rules: readonly Rule[]): Omit<CustomMessage, "role" | "timestamp">;
	/** Takes the rules that the conversation already contains: it may have replaced another one. The gap of new ones starts here. */
	restore(names: readonly string[]): void;
}

export { cutText } from "./cut-text.ts";

interface Look {
	kind: SourceKind;
	source: Source;
	isEnd: boolean;
	call?: { name: string; arguments: Record<string, unknown> };
}

export function streamRules({ rules: files, settings, warn }: StreamRulesInput): StreamRules {
	const rules = settings.enabled ? readRules(files, warn) : [];
	const watched = new Set(rules.flatMap((rule) => rule.triggers.flatMap((trigger) => trigger.reaches.map(({ kind }) => kind))));
	const search = new PatternSearch((slow) => {
		const owner = rules.find((rule) => rule.triggers.some((trigger) => trigger.pattern === slow));
		warn(`Rule ${owner?.rule.path}: the condition ${JSON.stringify(slow.source)} took more than ${patternLimitMs} ms and is not used any more.`);
	});
	/** By the block's index in the reply. */
	const sources = new Map<number, Source>();
	const pending = new Set<StreamRule>();
	/** The turn in which a rule was last used, by name. */
	const used = new Map<string, number>();
	let turn = 0;
	let isCut = false;

	const mayFire = (rule: StreamRule): boolean => {
		if (pending.has(rule)) return false;
		const last = used.get(rule.rule.name);
		return last === undefined || (settings.repeatMode === "after-gap" && turn - last >= settings.repeatGap);
	};

	const look = (at: Look): Rule[] | undefined => {
		const open = rules
			.filter(mayFire)
			.flatMap((rule) => rule.triggers.filter((trigger) => isReached(trigger, at)).map((trigger) => ({ rule, trigger })));
		if (open.length === 0) return undefined;
		const patterns = open.flatMap(({ trigger }) => trigger.pattern ?? []);
		const found = patterns.length === 0 ? new Set<Pattern>() : occurring(patterns, at, search);
		const broken = new Set(open.filter(({ trigger }) => !trigger.pattern || found.has(trigger.pattern)).map(({ rule }) => rule));
		for (const rule of broken) pending.add(rule);
		if (![...broken].some((rule) => mayCut(rule.interruptMode ?? settings.interruptMode, at.kind))) return undefined;
		isCut = true;
		return takePending();
	};

	const hear = (kind: SourceKind, event: { contentIndex: number } & Pick<Look, "call">, piece: string, isEnd: boolean): Rule[] | undefined => {
		if (isCut || !watched.has(kind)) return undefined;
		let source = sources.get(event.contentIndex);
		if (!source) {
			source = new Source();
			sources.set(event.contentIndex, source);
		}
		// The end event carries the whole block; that is new only when no pieces came before.
		if (!isEnd || source.length === 0) source.add(piece);
		return look({ kind, source, isEnd, ...(event.call ? { call: event.call } : {}) });
	};

	const takePending = () => {
		const taken = [...pending].map(({ rule }) => rule);
		pending.clear();
		return taken;
	};
	const replyStarted = () => {
		sources.clear();
		pending.clear();
		isCut = false;
	};

	return {
		isEmpty: rules.length === 0,
		watch(event) {
			if (rules.length === 0) return undefined;
			switch (event.type) {
				case "text_delta":
					return hear("text", event, event.delta, false);
				case "text_end":
					return hear("text", event, event.content, true);
				case "thinking_delta":
					return hear("thinking", event, event.delta, false);
				case "thinking_end":
					return hear("thinking", event, event.content, true);
				case "toolcall_delta": {
					const call = event.partial.content[event.contentIndex];
					if (call?.type !== "toolCall") return undefined;
					return hear("tool", { contentIndex: event.contentIndex, call }, event.delta, false);
				}
				case "toolcall_end": {
					const { contentIndex, toolCall: call } = event;
					// Short arguments may come in one piece with the end.
					const piece = sources.has(contentIndex) || !watched.has("tool") ? "" : JSON.stringify(call.arguments);
					return hear("tool", { contentIndex, call }, piece, true);
				}
				default:
					return undefined;
			}
		},
		takePending,
		replyStarted,
		turnEnded() {
			turn += 1;
		},
		injectionFor(broken) {
			for (const { name } of broken) used.set(name, turn);
			return {
				customType: "ttsr-injection",
				content: broken.map(block).join("\n\n"),
				display: false,
				details: { rules: broken.map(({ name }) => name) },
			};
		},
		restore(names) {
			for (const name of used.keys()) if (!names.includes(name)) used.delete(name);
			for (const name of names) if (!used.has(name)) used.set(name, turn);
		},
	};
}

function mayCut(mode: InterruptMode, kind: SourceKind): boolean {
	if (mode === "prose-only") return kind !== "tool";
	return mode === "always" || (mode === "tool-only" && kind === "tool");
}

function isReached({ reaches }: Trigger, { kind, call, isEnd }: Look): boolean {
	const isHere = (reach: Reach) => {
		if (reach.kind !== kind || (reach.tool !== undefined && reach.tool !== call?.name)) return false;
		if (reach.paths.length === 0) return true;
		return pathsIn(call?.arguments ?? {}, isEnd).some((path) => reach.paths.every((test) => test(path)));
	};
	return reaches.some(isHere);
}

/** Checks the end first, and everything when that finds something or a full check is due. */
function occurring(patterns: readonly Pattern[], { source, isEnd, call }: Look, search: PatternSearch): Set<Pattern> {
	const isDue = source.isDue(isEnd) || (isEnd && call !== undefined);
	const likely = isDue ? patterns : [...search.find(patterns, call ? [source.tail, unescaped(source.tail)] : [source.tail])];
	if (likely.length === 0) return new Set();
	return search.find(likely, [source.whole(), ...(call ? textsIn(call.arguments) : [])]);
}

function block({ name, path, content }: Rule): string {
	const quoted = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
	return [
		`<rule-interrupt rule="${quoted(name)}" path="${quoted(path)}">`,
		"What you wrote goes against this rule of the user or the project. Start that part over and keep to the rule; it is not an attack, and it needs no answer.",
		"",
		content,
		"</rule-interrupt>",
	].join("\n");
}
