/**
 * The gate in front of tool calls. A call is allowed, denied, or asked about; a question always ends: by an answer, a deadline, an abort, a
 * change of mode, or the host's going. Every question has exactly one end, and silence is never a yes.
 */
import { relative } from "node:path";
import type { Emit, PendingCall, Policy, ToolDecision } from "../agent/policy.ts";
import type { FileEffect } from "../agent/tool.ts";
import { onAbort } from "../lib/abort.ts";
import { digestOf } from "../lib/canonical-json.ts";
import { type ClosedPaths, literalGlob, type Places } from "../lib/path-pattern.ts";
import { printableLine } from "../lib/printable.ts";
import { realPathOf } from "../lib/real-path.ts";
import { ruleInWords } from "../lib/rule-words.ts";
import { factsOf } from "../lib/tool-facts.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { permissionModes } from "../protocol/permission-modes.ts";
import type {
	PermissionBy,
	PermissionGrant,
	PermissionLapse,
	PermissionMode,
	PermissionOrigin,
	PermissionOutcome,
	PermissionRecord,
	PermissionRequest,
	PermissionResponse,
	PermissionRule,
	PermissionScope,
	SourcedRule,
} from "../protocol/permissions.ts";
import { type Call, type Decision, decide, type RuleBook, serverAskedAbout } from "./decide.ts";
import { isForeignProgram } from "./find-program.ts";
import { type Grant, Grants, type GrantsParts } from "./grants.ts";
import { isSingleHost } from "./hosts.ts";
import { Lapses, type Look, lapseInWords, runsProject } from "./lapse.ts";
import { judgeMerge, type MergeVerdict } from "./merges.ts";
import { answerOfMode } from "./modes.ts";
import { isBelow } from "./path-patterns.ts";
import { type Proposal, placeOf, proposalOf } from "./proposal.ts";
import { callOf, judgedCall, readingFacts, type Surroundings, scriptOf, searchesBelow } from "./question.ts";
import { holdsSecret, isSecret } from "./reading.ts";
import { compileRule, coveredBy } from "./rules.ts";
import { type Denial, denialText, dialogTitle, textOf, titleOf } from "./texts.ts";

/** How a question reaches a person. */
export type Route = "typed" | "dialog" | "nobody";

/** A dialog with options, for hosts that do not know typed questions. */
export type OptionDialog = (
	title: string,
	options: string[],
	limits: { timeout: number; signal: AbortSignal },
) => Promise<{ chosen?: string; hasTimedOut: boolean }>;

export interface GateParts {
	place: Surroundings;
	rules: readonly SourcedRule[];
	grants: Omit<GrantsParts, "places" | "newId" | "now" | "warn">;
	home: string | undefined;
	mode: () => PermissionMode;
	route: () => Route;
	dialog: OptionDialog;
	/** A host that was asked by dialog did not answer, and never did before. */
	onSilence: () => void;
	settings: { timeoutMs: number; onTimeout: "deny" | "abort"; grantsLapse: boolean };
	/** What the real paths of files begin with that Bowline itself writes. */
	ownFiles: () => readonly string[];
	/** The question goes to the agent that sent this one: the deadline is that of the outermost. */
	hasOuterDeadline: boolean;
	isHermetic: boolean;
	/** Returns the change a call would make as a unified diff, or undefined for a tool that cannot tell. */
	preview: (tool: string, args: Record<string, unknown>) => Promise<string | undefined>;
	/** Once one has fired, nothing new may start. */
	halts: () => readonly AbortSignal[];
	/** Whether steering skips calls. */
	skipsOnSteering: () => boolean;
	/** Keeps a record in the session file. */
	record: (record: PermissionRecord) => void;
	/** A call was denied because nobody can be asked. */
	onUnasked: (call: { tool: string; text: string; remedy: string }) => void;
	emit: Emit;
	abortRun: () => void;
	warn: (text: string) => void;
	newId: () => string;
	now: () => number;
}

/** How a call ended at the gate. `allowed`: with these arguments, and no others. */
export type Permit =
	| { allowed: Record<string, unknown>; by: PermissionBy }
	| { denied: string; details: unknown; by: PermissionBy; message?: string };

/** A question of a subagent, as it arrives here. */
export interface ForeignQuestion {
	request: PermissionRequest;
	origin: PermissionOrigin;
}
export type ForeignAnswer = Pick<PermissionResponse, "decision" | "digest" | "message" | "by">;

const longestDialogText = 4000;
const longestDiff = 64 * 1024;
const longestRecordedText = 500;
const longestMessage = 2000;
const longestConnectionMs = 120_000;
const mostDenials = 3;
const dialogDefaultMs = 300_000;
const answers = { deny: "Deny", once: "Allow once", session: "Allow for this session", always: "Always allow in this project" };

interface Ending {
	outcome: PermissionOutcome;
	by: PermissionBy;
	scope?: PermissionScope;
	message?: string;
	note?: string;
	rule?: PermissionRule;
}

interface Open {
	call: Call;
	request: PermissionRequest;
	proposal: Proposal;
	/** The files that the person judges by, where an answer lapses with them. */
	look: Look | undefined;
	route: Route;
	/** A subagent asks; it checks again itself. */
	isForeign: boolean;
	askedAt: number;
	/** An answer is in, and is being checked once more. */
	isAnswered: boolean;
	locate: () => Promise<Call | undefined>;
	end: (ending: Ending) => void;
	/** Aborted when the question is over, whatever the reason. */
	over: AbortController;
}

export class Gate {
	readonly #parts: GateParts;
	readonly #book: RuleBook;
	readonly #grants: Grants;
	readonly #lapses: Lapses | undefined;
	readonly #open = new Map<string, Open>();
	readonly #place: Surroundings;
	readonly #places: Places;
	/** Files that results named: the model may read its own output. */
	readonly #shown = new Set<string>();
	#isClosed = false;
	/** Denials of this run because nobody can be asked. */
	#unasked = 0;

	constructor(parts: GateParts) {
		this.#parts = parts;
		this.#place = { ...parts.place, given: async () => [...(await parts.place.given()), ...this.#shown] };
		const places = { cwd: parts.place.cwd, home: parts.home, ignoresCase: parts.place.ignoresCase };
		this.#places = places;
		const compiled = parts.rules.map((rule) =>
			compileRule(rule, places, (reason) => parts.warn(`permissions.rules: ${ruleInWords(rule)}: ${reason}.`)),
		);
		const of = (action: SourcedRule["action"]) => compiled.filter(({ rule }) => rule.action === action);
		this.#book = { deny: of("deny"), ask: of("ask"), allow: of("allow") };
		this.#lapses = parts.settings.grantsLapse ? new Lapses({ roots: parts.place.roots, ownFiles: parts.ownFiles }) : undefined;
		this.#grants = new Grants({ ...parts.grants, places, newId: parts.newId, now: parts.now, warn: parts.warn });
	}

	readonly policy: Policy = {
		name: "permissions",
		isLast: true,
		beforeTool: (call, signal) => this.#beforeTool(call, signal),
		observe: (event) => this.#observe(event),
		abort: () => this.#endAll({ outcome: "cancelled", by: "abort" }),
		renew: () => this.#grants.forgetSession(),
	};

	get pending(): PermissionRequest[] {
		return [...this.#open.values()].map(({ request }) => request);
	}

	get grants(): PermissionGrant[] {
		return this.#grants.all.map(({ id, rule, scope, createdAt }) => ({ id, rule, scope, createdAt }));
	}

	get rules(): readonly SourcedRule[] {
		return this.#parts.rules;
	}

	/** False when there is no such grant. */
	revoke(id: string): boolean {
		return this.#grants.revoke(id);
	}

	/** Mode or rules have changed: open questions are decided again at once. */
	reconsider(): void {
		for (const open of [...this.#open.values()]) this.#reconsider(open);
	}

	/** The host is gone, or takes back that it can answer: open questions end, and new ones find nobody. */
	disconnect(): void {
		this.#endAll({ outcome: "denied", by: "gone" });
	}

	close(): void {
		this.#isClosed = true;
		this.disconnect();
	}

	/** The host's answer. */
	receive(response: PermissionResponse): void {
		const open = this.#open.get(response.id);
		if (!open || open.isAnswered || open.route !== "typed") return;
		// A parent says who decided; its word on that is for the model and the records.
		const by = this.#parts.hasOuterDeadline ? (response.by ?? "host") : "host";
		if (response.digest !== open.request.digest) return open.end({ outcome: "denied", by: "digest" });
		if (response.decision === "deny") {
			const outcome = by === "abort" || by === "steer" ? "cancelled" : "denied";
			return open.end({ outcome, by, message: response.message?.slice(0, longestMessage) });
		}
		this.#allow(open, by, response.scope ?? (open.request.server === undefined ? "once" : "session"), response.rule);
	}

	/**
	 * Returns the paths that a search or a listing leaves out: what a rule denies, and for the content of files also what a rule asks about,
	 * unless it has asked about the searched path itself.
	 */
	closedTo(tool: string, shows: "names" | "contents", searched: string): ClosedPaths {
		const showsContents = shows === "contents";
		const tools = showsContents ? [tool, "read"] : [tool];
		const about = (rules: RuleBook["deny"]) => rules.filter(({ isAbout }) => tools.some((each) => isAbout({ kind: "read", tool: each })));
		const asking = showsContents ? about(this.#book.ask).filter(({ path }) => !path?.catches(searched)) : [];
		const { grantsFile } = this.#parts.place;
		const patterns = [...about(this.#book.deny), ...asking].flatMap((rule) => rule.patterns);
		const secrets = showsContents ? this.#secretsIn(searched) : [];
		return { patterns: [...patterns, ...secrets], own: grantsFile === undefined ? [] : [literalGlob(grantsFile)], places: this.#places };
	}

	/** What a search of a directory leaves out because a read of it would be asked about: it holds credentials. */
	#secretsIn(searched: string): string[] {
		const { place, mode } = this.#parts;
		if (mode() === "full" || place.sandbox().mode !== "off") return [];
		return place.reading().secrets.flatMap((path) => (path !== searched && isBelow(searched, path) ? [literalGlob(path)] : []));
	}

	/** Asks about a call of our own, such as a connection, through the same rules and the same host. */
	async permit(call: Call, toolCallId: string, signal: AbortSignal): Promise<Permit> {
		return this.#permit(call, { toolCallId, batch: { index: 0, count: 1 } }, signal, async () => call);
	}

	/** Asks about a connection of a command. A private address is reached only where a rule or a person names that very address, or a rule says so. */
	async connection(target: string, toolCallId: string, signal: AbortSignal): Promise<{ isAllowed: boolean; mayBePrivate: boolean }> {
		const { place } = this.#parts;
		const port = target.lastIndexOf(":");
		const host = target.slice(0, port);
		const call = callOf({ kind: "network", tool: "network", args: { host, port: Number(target.slice(port + 1)) }, targets: [target] }, place);
		const permit = await this.permit(call, toolCallId, signal);
		if (!("allowed" in permit)) return { isAllowed: false, mayBePrivate: false };
		const isAddress = host.startsWith("[") || /^[0-9.]+$/.test(host);
		const allowing = [...this.#book.allow, ...this.#grants.all.map(({ compiled }) => compiled)].filter((rule) => rule.host?.(target));
		const isNamed = allowing.some(({ rule }) => rule.private === true || (isAddress && isSingleHost(rule.host ?? "*.")));
		return { isAllowed: true, mayBePrivate: isNamed || (isAddress && permit.by === "host") };
	}

	/** Answers a subagent: from rules and grants first, then by asking on. Its digest goes through unchanged. */
	async permitFor({ request, origin }: ForeignQuestion, signal: AbortSignal): Promise<ForeignAnswer> {
		const { subject, digest } = request;
		const { place } = this.#parts;
		const isCommand = subject.kind === "command" || subject.kind === "escalation";
		const script = isCommand ? scriptOf(String(subject.args.command ?? ""), { ...place, cwd: subject.cwd }) : undefined;
		const path = script && (await place.searchPath());
		const { targets, tool } = subject;
		// What this agent knows of the tool. One that it does not know is judged most strictly.
		const { effect, source } = place.toolOf(tool, subject.args);
		const { reach, replaces }: Partial<FileEffect> = effect.kind === "read" || effect.kind === "write" ? effect : {};
		const isRead = subject.kind === "read";
		// A copy may lead to files of the project that it was made from.
		const inside = isRead ? [subject.cwd, ...place.roots()] : [subject.cwd];
		const isFile = isRead || subject.kind === "write" || subject.kind === "protected";
		const isTree = isFile && (await searchesBelow({ reach }, targets));
		const isUnconfined = source !== "built-in" || !factsOf(tool);
		const isUnfiltered = isTree && isUnconfined;
		const call: Call = {
			subject,
			writtenPaths: [],
			isInside: targets.every((each) => inside.some((root) => isBelow(root, each))),
			isGiven: false,
			isSecret: targets.some((target) => isSecret(place.reading(), target) || (isUnfiltered && holdsSecret(place.reading(), target))),
			...(isRead && (await readingFacts(targets, this.#place))),
			source: request.server === undefined ? "extension" : "mcp",
			...(request.server !== undefined && { server: { name: request.server, tools: request.proposal?.tool ?? tool } }),
			readOnly: false,
			isTree,
			isUnfiltered,
			isUnconfined,
			isBlind: replaces,
			isVerified: place.sandbox().isVerified,
			...(script && { script, isForeign: (program: string) => isForeignProgram(program, path, [subject.cwd, ...place.roots()]) }),
		};
		const asked = { toolCallId: request.toolCallId, batch: request.batch, foreign: { request, origin } };
		// A parent never answers for another call than the one that it showed.
		if (digestOf(subject) !== digest) return { decision: "deny", digest, by: "digest" };
		const permit = await this.#permit(call, asked, signal, async () => call);
		if ("allowed" in permit) return { decision: "allow", digest, by: permit.by };
		const { by, message } = permit;
		return { decision: "deny", digest, by, ...(message === undefined ? {} : { message }) };
	}

	/** Judges the paths that isolated work changes as writes, before it is merged. Returns why it may not be merged. */
	async permitMerge(
		{ id, toolCallId, patch, paths }: { id: string; toolCallId: string; patch: string; paths: readonly string[] },
		signal: AbortSignal,
	): Promise<string | undefined> {
		const verdict = await this.#judgeMerge(paths);
		if (!verdict) return undefined;
		const { kind, tool, refusal } = verdict;
		const targets = verdict.paths.map(({ target }) => target);
		const facts = { isInside: true, writtenPaths: verdict.paths.flatMap(({ written }) => written) };
		const call = callOf({ kind, tool, args: { id, paths: targets }, targets }, this.#parts.place, facts);
		const permit = await this.#permit(call, { toolCallId, batch: { index: 0, count: 1 }, diff: patch }, signal, async () => call);
		return "allowed" in permit ? undefined : refusal;
	}

	/** A rule may name a path as the session spells it, and not as it really is. */
	async #judgeMerge(paths: readonly string[]): Promise<MergeVerdict | undefined> {
		if (paths.length === 0) return undefined;
		const { place } = this.#parts;
		const spelled = await Promise.all(paths.map(async (target) => ({ target, written: [await place.pathOf(relative(place.cwd, target))] })));
		return judgeMerge(spelled, { cwd: place.cwd, book: this.#book, named: await place.protectedFiles() });
	}

	async #beforeTool(pending: PendingCall, signal: AbortSignal): Promise<ToolDecision | undefined> {
		if (signal.aborted) return undefined;
		const locate = () => judgedCall(pending, this.#place);
		const call = await locate();
		if (!call) return undefined;
		if (call.subject.kind !== "read") await this.#lapses?.begin(call.subject.cwd, this.#grants.all);
		const permit = await this.#permit(call, { toolCallId: pending.toolCallId, batch: pending.batch ?? { index: 0, count: 1 } }, signal, locate);
		return "allowed" in permit ? { input: permit.allowed } : { denied: permit.denied, details: permit.details };
	}

	async #permit(
		call: Call,
		asked: { toolCallId: string; batch: PermissionRequest["batch"]; diff?: string; foreign?: ForeignQuestion },
		signal: AbortSignal,
		locate: () => Promise<Call | undefined>,
	): Promise<Permit> {
		const look = await this.#lookFor(call);
		const decision = this.#decide(call);
		const covered = () => look && lapsesWithFiles(call) && !asked.foreign && this.#lapses?.covers(asked.toolCallId, look.cwd);
		if (decision.answer === "allow") {
			covered();
			return { allowed: call.subject.args, by: decision.by === "mode" ? "rule" : decision.by };
		}
		const origin = asked.foreign ? [asked.foreign.origin, ...asked.foreign.request.origin] : [];
		const digest = asked.foreign?.request.digest ?? digestOf(call.subject);
		const text = textOf(call.subject);
		const { now } = this.#parts;
		const record = (ending: Ending, requestId: string | undefined, waitedMs: number) =>
			this.#record(call, { toolCallId: asked.toolCallId, digest, text, origin }, ending, requestId, waitedMs);
		const denied = (ending: Ending): Permit => this.#denied(call, ending, digest);
		const refuse = (ending: Ending): Permit => {
			record(ending, undefined, 0);
			return denied(ending);
		};
		if (decision.answer === "deny") return refuse({ outcome: "denied", by: decision.by, ...(decision.rule && { rule: decision.rule }) });
		const route = this.#isClosed ? "nobody" : this.#parts.route();
		const isAskable = route === "typed" || (route === "dialog" && this.#fitsDialog(call, text));
		if (!isAskable) return refuse({ outcome: "denied", by: "nobody" });
		if (signal.aborted) return denied(cancelledBy(signal));

		const request = await this.#request(call, decision, { ...asked, digest, text, origin });
		// Making the request takes time: the file of a diff has to be read.
		if (signal.aborted) return denied(cancelledBy(signal));
		return new Promise<Permit>((resolve) => {
			const over = new AbortController();
			const askedAt = now();
			const end = (ending: Ending) => {
				if (over.signal.aborted) return;
				over.abort();
				this.#open.delete(request.id);
				const waitedMs = now() - askedAt;
				// The record names the rule that decided, else the one that asked.
				record(request.rule && !ending.rule ? { ...ending, rule: request.rule } : ending, request.id, waitedMs);
				const { outcome, by, scope, note } = ending;
				if (outcome === "allowed" && (by === "session" || by === "always" || (scope !== undefined && scope !== "once"))) covered();
				if (route === "typed")
					this.#parts.emit({
						type: "permission_resolved",
						id: request.id,
						toolCallId: request.toolCallId,
						digest,
						outcome,
						by,
						...(scope && { scope }),
						...(note !== undefined && { note }),
						waitedMs,
					});
				resolve(outcome === "allowed" ? { allowed: call.subject.args, by } : denied(ending));
				if (by === "timeout" && request.onTimeout === "abort") this.#parts.abortRun();
			};
			const open: Open = {
				call,
				request,
				proposal: proposalOf(call, digest, { cwd: this.#place.cwd, server: this.#serverAskedAbout(call) }),
				look,
				route,
				isForeign: asked.foreign !== undefined,
				askedAt,
				isAnswered: false,
				locate,
				end,
				over,
			};
			this.#open.set(request.id, open);
			this.#watch(open, signal);
			if (route === "typed") this.#parts.emit({ type: "permission_request", ...request });
			else void this.#askByDialog(open);
			this.#startDeadline(open);
		});
	}

	/** Whatever ends the call ends the question. */
	#watch({ over, end }: Open, signal: AbortSignal): void {
		const releases = [onAbort(signal, () => end(cancelledBy(signal)))];
		for (const halt of this.#parts.halts()) if (!halt.aborted) releases.push(onAbort(halt, () => end({ outcome: "denied", by: "mode" })));
		onAbort(over.signal, () => {
			for (const release of releases) release();
		});
	}

	#startDeadline({ request: { timeoutMs }, route, over, end }: Open): void {
		// A dialog has a deadline of its own.
		if (route !== "typed" || timeoutMs === 0) return;
		const timer = setTimeout(() => end({ outcome: "denied", by: "timeout" }), timeoutMs);
		onAbort(over.signal, () => clearTimeout(timer));
	}

	#decide(call: Call): Decision {
		const { grantsFile } = this.#parts.place;
		const { targets } = call.subject;
		if (grantsFile !== undefined && targets.includes(grantsFile)) return { answer: "deny", by: "rule", rule: ownFileRule };
		const decision = decide(call, this.#book, this.#holding(call), this.#parts.mode());
		const holdsOwnFile = grantsFile !== undefined && call.isUnfiltered && targets.some((target) => isBelow(target, grantsFile));
		return decision.answer === "allow" && holdsOwnFile ? { answer: "ask", rule: ownFileRule } : decision;
	}

	/** Looks at the project where a person has to answer, or an answer that lapses with its files decides. */
	async #lookFor(call: Call): Promise<Look | undefined> {
		if (!this.#lapses || call.subject.kind !== "command") return undefined;
		const { answer, ...why } = decide(call, this.#book, lapsesWithFiles(call) ? [] : this.#grants.all, this.#parts.mode());
		return answer === "ask" && !("rule" in why) ? this.#lapses.look(call.subject.cwd) : undefined;
	}

	#holding(call: Call): readonly Grant[] {
		const { all } = this.#grants;
		const lapses = lapsesWithFiles(call) ? this.#lapses : undefined;
		return lapses ? all.filter((grant) => lapses.holds(grant, call.subject.cwd)) : all;
	}

	/** What has changed since the latest answer that covered the call. */
	#lapseOf(call: Call): PermissionLapse | undefined {
		const holding = this.#holding(call);
		const gone = this.#grants.all.filter((grant) => !holding.includes(grant)).sort((one, two) => (one.createdAt < two.createdAt ? 1 : -1));
		const last = gone.find((_, index) => decide(call, this.#book, [...holding, ...gone.slice(0, index + 1)], this.#parts.mode()).answer === "allow");
		return last && this.#lapses?.since(last, call.subject.cwd);
	}

	#reconsider(open: Open): void {
		if (open.isAnswered) return;
		const decision = this.#decide(open.call);
		if (decision.answer === "deny") open.end({ outcome: "denied", by: decision.by, ...(decision.rule && { rule: decision.rule }) });
		else if (decision.answer === "allow") void this.#check(open, { outcome: "allowed", by: decision.by === "mode" ? "rule" : decision.by });
	}

	/** An answer allows the call: keeps the grant, applies it to other open questions, and checks the call once more. */
	#allow(open: Open, by: PermissionBy, wanted: PermissionScope, rule: PermissionRule | undefined): void {
		const { call, request, proposal } = open;
		const scope = request.choices.includes(wanted) ? wanted : "once";
		const given = rule === undefined ? proposal.grant : this.#grantOf(call, rule, request.digest);
		if (scope !== "once" && given === undefined) return void this.#check(open, { outcome: "allowed", by, scope: "once", note: "rule_not_covering" });
		void this.#check(open, { outcome: "allowed", by, scope, ...(given && scope !== "once" && { rule: given.rule }) }, () => {
			if (scope === "once" || given === undefined) return;
			try {
				const grant = this.#grants.add(scope, given);
				if (open.look) this.#lapses?.give(grant, open.look);
			} catch (error) {
				this.#parts.warn(`The permission could not be kept: ${(error as Error).message}`);
			}
		});
	}

	/** A rule of the host's own must cover the very call. */
	#grantOf(call: Call, rule: PermissionRule, digest: string): Proposal["grant"] {
		const { action, tool, command, path, host } = rule;
		const isRule = action === "allow" && [tool, command, path, host].every((member) => member === undefined || typeof member === "string");
		if (!isRule || (tool === undefined && host === undefined)) return undefined;
		const compiled = compileRule(rule, this.#places, () => undefined);
		return coveredBy([compiled], call)
			? { rule: { action, ...definedOf({ tool, command, path, host }) }, digest, ...placeOf(call, this.#place.cwd) }
			: undefined;
	}

	/** Before the run: it was not aborted, no rule or mode denies it now, and the paths still lead to the same files. */
	async #check(open: Open, ending: Ending, onAllowed: () => void = () => undefined): Promise<void> {
		open.isAnswered = true;
		// Paths that can no longer be located have changed, and are refused as such.
		const now = open.isForeign ? open.call : await open.locate().catch(() => undefined);
		if (open.over.signal.aborted) return;
		const isSame = now !== undefined && (now === open.call || digestOf(now.subject) === open.request.digest);
		if (!isSame) return open.end({ outcome: "denied", by: "changed" });
		const decision = this.#decide(now);
		if (decision.answer === "deny") return open.end({ outcome: "denied", by: decision.by, ...(decision.rule && { rule: decision.rule }) });
		onAllowed();
		open.end(ending);
		if (ending.scope !== undefined && ending.scope !== "once") this.reconsider();
	}

	async #request(
		call: Call,
		{ rule }: Extract<Decision, { answer: "ask" }>,
		asked: Pick<PermissionRequest, "toolCallId" | "batch" | "digest" | "text" | "origin" | "diff"> & { foreign?: ForeignQuestion },
	): Promise<PermissionRequest> {
		const { settings, newId, now, hasOuterDeadline, preview } = this.#parts;
		const { subject, script } = call;
		const { toolCallId, batch, digest, text, origin, foreign } = asked;
		const isChange = subject.kind === "write" || subject.kind === "protected";
		// An edit that does not fit the file has no preview; the tool itself reports why.
		const diff =
			asked.diff ?? foreign?.request.diff ?? (isChange && !foreign ? await preview(subject.tool, subject.args).catch(() => undefined) : undefined);
		const isCut = foreign?.request.diffTruncated ?? (diff !== undefined && diff.length > longestDiff);
		const server = rule ? undefined : this.#serverAskedAbout(call);
		const { proposal } = proposalOf(call, digest, { server });
		const choices = this.#choices(call, rule);
		const lapsed = rule ? undefined : this.#lapseOf(call);
		// A program does not wait for a connection for ever.
		const usual = subject.kind === "network" ? Math.min(settings.timeoutMs || longestConnectionMs, longestConnectionMs) : settings.timeoutMs;
		const timeoutMs = hasOuterDeadline ? 0 : usual;
		return {
			id: newId(),
			toolCallId,
			subject,
			digest,
			title: titleOf(subject),
			text,
			...(script && subject.kind === "command" && { words: script.commands?.map(({ words }) => words) ?? null }),
			...(diff !== undefined && { diff: diff.slice(0, longestDiff), ...(isCut && { diffTruncated: true }) }),
			reason: lapsed ? lapseInWords(lapsed) : reasonOf(call, rule, server?.name),
			...(lapsed && { lapsed }),
			...(server && { server: server.name }),
			...(rule && { rule }),
			choices,
			...(proposal && choices.length > 1 && { proposal }),
			timeoutMs,
			...(timeoutMs > 0 && { expiresAt: now() + timeoutMs }),
			onTimeout: settings.onTimeout,
			batch,
			origin,
		};
	}

	#serverAskedAbout(call: Call): Call["server"] {
		return serverAskedAbout(call, this.#parts.mode());
	}

	#choices(call: Call, rule: SourcedRule | undefined): PermissionScope[] {
		const { subject, script } = call;
		// An ask rule asks every time: it is stricter than any grant.
		if (rule || subject.kind === "protected" || subject.kind === "escalation") return ["once"];
		const isOpaque = script !== undefined && script.commands === undefined;
		const isElsewhere = subject.cwd !== this.#place.cwd;
		const isLasting = this.#serverAskedAbout(call) !== undefined || (!isOpaque && !isElsewhere && subject.kind !== "tool");
		const canKeep = isLasting && this.#parts.mode() !== "plan" && !this.#parts.isHermetic && this.#grants.canKeep;
		return canKeep ? ["once", "session", "always"] : ["once", "session"];
	}

	// ── By dialog ──────────────────────────────────────────────────────────────────────────────────────

	/** Nobody approves what they cannot see. */
	#fitsDialog({ subject: { kind } }: Call, text: string): boolean {
		return kind !== "protected" && kind !== "escalation" && text.length <= longestDialogText;
	}

	async #askByDialog(open: Open): Promise<void> {
		const { request, call, over, end } = open;
		const { text, reason, origin, choices } = request;
		const options = [answers.deny, ...choices.map((choice) => answers[choice])];
		const timeout = request.timeoutMs || dialogDefaultMs;
		const title = dialogTitle(call.subject, text, reason, origin);
		const { chosen, hasTimedOut } = await this.#parts.dialog(title, options, { timeout, signal: over.signal });
		if (over.signal.aborted || open.isAnswered) return;
		if (hasTimedOut) {
			this.#parts.onSilence();
			return end({ outcome: "denied", by: "timeout" });
		}
		const scope = choices.find((choice) => answers[choice] === chosen);
		if (scope === undefined) return end({ outcome: "denied", by: "host" });
		this.#allow(open, "host", scope, undefined);
	}

	// ── Ends ───────────────────────────────────────────────────────────────────────────────────────────

	#observe(event: AgentEvent): void {
		if (event.type === "agent_start") this.#unasked = 0;
		if (event.type === "tool_execution_start") this.#lapses?.started(event.toolCallId);
		if (event.type === "tool_execution_end") this.#lapses?.ended(event.toolCallId);
		if (event.type === "tool_execution_end") for (const path of outputFiles(event.result.details)) this.#shown.add(path);
		if (event.type !== "queue_update" || event.steering.length === 0 || !this.#parts.skipsOnSteering()) return;
		for (const open of [...this.#open.values()]) if (!open.isForeign) open.end({ outcome: "cancelled", by: "steer" });
	}

	#endAll(ending: Ending): void {
		for (const open of [...this.#open.values()]) open.end(ending);
	}

	#denied(call: Call, { outcome, by, message, rule }: Ending, digest: string): Permit {
		if (by === "nobody" || by === "gone") {
			this.#unasked += 1;
			if (by === "nobody")
				this.#parts.onUnasked({ tool: call.subject.tool, text: textOf(call.subject), remedy: remedyFor(call, this.#serverAskedAbout(call)) });
		}
		const { mode, settings } = this.#parts;
		const denial: Denial =
			by === "host"
				? { by, ...(message !== undefined && { message }) }
				: by === "rule"
					? { by, ...(rule && { rule }) }
					: by === "mode"
						? { by, mode: mode() }
						: by === "timeout"
							? { by, seconds: Math.round(settings.timeoutMs / 1000) }
							: by === "nobody" || by === "gone"
								? { by, isRepeated: this.#unasked >= mostDenials }
								: { by: by as "changed" | "digest" | "abort" | "steer" };
		return { denied: denialText(denial), details: { permission: { outcome, by, digest } }, by, ...(message !== undefined && { message }) };
	}

	#record(
		{ subject: { kind, tool, sandbox } }: Call,
		{ toolCallId, digest, text, origin }: { toolCallId: string; digest: string; text: string; origin: PermissionOrigin[] },
		{ outcome, by, scope, rule }: Ending,
		requestId: string | undefined,
		waitedMs: number,
	): void {
		this.#parts.record({
			...(requestId !== undefined && { requestId }),
			toolCallId,
			kind,
			tool,
			text: text.slice(0, longestRecordedText),
			digest,
			outcome,
			by,
			...(scope && { scope }),
			...(rule && { rule }),
			waitedMs,
			origin,
			sandbox,
		});
	}
}

const lapsesWithFiles = ({ subject, script }: Call): boolean => subject.kind === "command" && script !== undefined && runsProject(script);

/** Where the whole output of a command is, and what subagents wrote down. */
function outputFiles(details: unknown): string[] {
	const { fullOutputPath, results } = (typeof details === "object" && details !== null ? details : {}) as Record<string, unknown>;
	const named = (Array.isArray(results) ? results : []).flatMap((result: Record<string, unknown> | null) => [result?.outputPath, result?.patchPath]);
	return [fullOutputPath, ...named].flatMap((path) => (typeof path === "string" ? [realPathOf(path)] : []));
}

function cancelledBy(signal: AbortSignal): Ending {
	if (signal.reason === "gone") return { outcome: "denied", by: "gone" };
	return { outcome: "cancelled", by: signal.reason === "steer" ? "steer" : "abort" };
}

const ownFileRule: SourcedRule = { action: "deny", tool: "*", because: "the file of the user's own permissions is closed to tools", source: "user" };

function reasonOf({ subject, isInside, isSecret }: Call, rule: SourcedRule | undefined, server?: string): string {
	if (rule === ownFileRule) return `In there, ${rule.because}.`;
	if (rule?.action === "deny") return `A rule closes what may be in there: ${ruleInWords(rule)}.`;
	if (rule) return rule.because ?? `A rule asks: ${ruleInWords(rule)}.`;
	if (server !== undefined) return `The MCP server ${printableLine(server)} is outside the sandbox. An answer for the session covers all its tools.`;
	if (isSecret) return "It is where programs keep keys and credentials.";
	if (subject.kind === "protected") return "Programs run or read this file on their own.";
	if ((subject.kind === "read" || subject.kind === "write") && !isInside) return "It is outside the working directory.";
	return "No rule covers it.";
}

/** What would have allowed the call, for a person who reads the log of an unattended run. */
function remedyFor(call: Call, server: Call["server"]): string {
	const { kind } = call.subject;
	const { proposal } = proposalOf(call, "", { server });
	const isOpaque = call.script !== undefined && call.script.commands === undefined;
	const hasRule = proposal && kind !== "protected" && kind !== "escalation" && !isOpaque;
	const mode = permissionModes.find((each) => answerOfMode(each, call) === "allow");
	// Rules with a path name built-in tools; the word for all of a kind means others, too.
	const rule = proposal?.path !== undefined && !factsOf(call.subject.tool) ? { ...proposal, tool: kind } : proposal;
	const ways = [...(hasRule ? [`the rule ${JSON.stringify(rule)}`] : []), ...(mode ? [`--permission-mode ${mode}`] : [])];
	return ways.join(", or ") || "a host that answers approvals";
}

function definedOf<Value extends object>(value: Value): Value {
	return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}
