/** Files that rewind, for a session: takes checkpoints while it runs, shows what changed, and goes back. Loaded where `checkpoints.enabled` is on. */

import { randomBytes } from "node:crypto";
import { chmodSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import {
	CannotTake,
	type Checkpoint,
	type CheckpointData,
	Checkpoints,
	changedByOthers,
	changesBetween,
	checkpointAt,
	checkpointsIn,
	checkpointType,
	collect,
	type HistoryPlan,
	prepareRestore,
	repairRewinds,
	runsLaterBetween,
	type State,
	type Taken,
	TreeStore,
} from "../checkpoints/index.ts";
import type { RunsLater } from "../lib/runs-later.ts";
import type { EffectKind } from "../lib/tool-facts.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { CommandParams, CommandResult } from "../protocol/commands/index.ts";
import type { UserMessage } from "../protocol/messages.ts";
import { textOf } from "../session/inbox.ts";
import { noteChoice } from "../session/restore.ts";
import type { Session } from "../session/session.ts";
import { type RepositoryPath, toText } from "../snapshots/paths.ts";
import type { Assembly } from "./assemble.ts";
import type { Workspace } from "./workspace.ts";

/** Effects before which the state of the files is taken. */
const changing: ReadonlySet<EffectKind> = new Set(["write", "run"]);

type Parts = { assembly: Pick<Assembly, "session" | "shells" | "sources">; workspace: Workspace; warn: (text: string) => void };

export class SessionCheckpoints {
	#session: Session;
	#checkpoints: Checkpoints;

	constructor({ assembly: { session, shells, sources }, workspace, warn }: Parts) {
		this.#session = session;
		const { cwd, userDirectory, settings } = workspace;
		const shell = () => shells.gitStarter();
		const open = async () => {
			const environment = await shells.commandEnvironment();
			const store = await TreeStore.open({ cwd, root: join(userDirectory, "checkpoints"), own: () => this.#own(workspace), shell, environment });
			await repairRewinds(store, Date.now());
			void collect(store, settings.get("checkpoints.keepDays"), shell, Date.now());
			return store;
		};
		const isRequired = settings.contained !== undefined;
		const mayChange = (tool: string) => changing.has(sources.effectOf(tool).kind);
		this.#checkpoints = new Checkpoints({ open, mayChange, warn, isRequired, note: (checkpoint, store) => this.#note(checkpoint, store) });
		session.doors.put(this.#checkpoints.policy);
	}

	/** Files that run later and that the last run changed, or the turns of the current one so far. */
	get runsLater(): readonly RunsLater[] {
		return this.#checkpoints.runsLater;
	}

	/** Sessions are not files of the project, wherever they are. */
	#own({ cwd, userDirectory }: Workspace): string[] {
		const { transcript, store } = this.#session;
		const files = transcript.file === undefined ? [] : [transcript.file, transcript.file.replace(/\.jsonl$/, "")];
		const directory = store.directory === undefined ? [] : [resolve(cwd, store.directory)].filter((path) => !`${cwd}/`.startsWith(`${path}/`));
		return [userDirectory, ...directory, ...files].flatMap((path) => realPathOf(path) ?? []);
	}

	#note(checkpoint: Omit<CheckpointData, "id">, store: TreeStore): string {
		const id = randomBytes(8).toString("hex");
		store.keep(id, checkpoint.state);
		if (checkpoint.history) store.commits.touch(checkpoint.history);
		if (checkpoint.ignored) store.ignored.touch(checkpoint.ignored);
		return this.#session.conversation.append({ type: "custom", customType: checkpointType, data: { id, ...checkpoint } }).id;
	}

	async #store(): Promise<TreeStore> {
		try {
			return await this.#checkpoints.settled();
		} catch (error) {
			if (error instanceof CannotTake) throw new CommandError("unsupported", `There are no checkpoints here: ${error.message}`);
			throw error;
		}
	}

	async list(): Promise<CommandResult<"get_checkpoints">> {
		const { off } = this.#checkpoints;
		const checkpoints = checkpointsIn(this.#session.transcript.entries).map(({ entryId, timestamp, phase, cause }) => ({
			entryId,
			timestamp,
			phase,
			cause,
		}));
		if (off !== undefined) return { enabled: false, reason: off, checkpoints };
		const { top, leftOut: large } = await this.#store();
		const leftOut = [...large].map(toText).sort().slice(0, mostNames);
		const lost = checkpointsIn(this.#session.transcript.entries).at(-1)?.history?.lost ?? {};
		const withoutHistory = Object.entries(lost).map(([at, reason]) => `${at === "" ? top : toText(at)}: ${reason}`);
		return {
			enabled: true,
			root: top,
			checkpoints,
			...(leftOut.length > 0 ? { leftOut } : {}),
			...(withoutHistory.length > 0 ? { withoutHistory } : {}),
		};
	}

	async changes({ from, to }: CommandParams<"get_changes">): Promise<CommandResult<"get_changes">> {
		const store = await this.#store();
		const { entries } = this.#session.transcript;
		const first = from === undefined ? checkpointsIn(entries)[0] : this.#at(from);
		const last = to === undefined ? await store.takeAll() : this.#at(to);
		if (!first || !last) return { root: store.top, files: [], diff: "", truncated: false };
		const found = await this.#kept(store, [first.state, last.state], () => changesBetween(store, first.state, last.state));
		const runsLater = await runsLaterBetween(store, first.state, last.state, to === undefined ? first.ignored : undefined);
		const others = to === undefined ? changedByOthers(checkpointsIn(entries), first, last) : [];
		const more = ignoredOf(first, others).ignored;
		const lost = more && to === undefined ? store.ignored.missing(more.target, more.others).lost.map(toText) : [];
		const pairs = others.map(([before, after]) => [before.history, after.history] as const);
		const history = first.history && last.history ? await store.commits.lost(first.history, last.history, pairs) : [];
		return {
			root: store.top,
			...found,
			...(runsLater.length > 0 && { runsLater }),
			...(lost.length > 0 && { lost }),
			...(history.length > 0 && { history: shown(history) }),
		};
	}

	/** Either everything happens or nothing. A run is aborted first. */
	async rewind({ entryId, files = true, conversation = true }: CommandParams<"rewind">): Promise<CommandResult<"rewind">> {
		const session = this.#session;
		if (!session.transcript.find(entryId)) throw new CommandError("not_found", `Entry not found: ${entryId}`);
		if (!files && !conversation) throw new CommandError("bad_field", "rewind: nothing to do; files and conversation are both false");
		const store = await this.#store();
		return session.runExclusively(async (signal) => {
			await this.#checkpoints.settled();
			const departure = { to: "entry" as const, entryId, entriesToSummarize: [], signal };
			if (conversation && (await session.doors.leave?.(departure))?.cancel) return { cancelled: true, restored: [], skipped: [] };
			const target = files ? this.#at(entryId) : undefined;
			const folder = this.#openFolder(store, target);
			try {
				return await this.#kept(store, target ? [target.state] : [], () => this.#goBack({ store, target, folder, entryId, conversation, signal }));
			} catch (error) {
				folder.undo();
				throw error;
			}
		});
	}

	async #goBack({ store, target, folder, entryId, conversation, signal }: Way): Promise<CommandResult<"rewind">> {
		const session = this.#session;
		if (target) await store.unlock(target.state);
		const current = { ...(await store.takeAll(signal, true)), mode: folder.before };
		const others = target ? changedByOthers(checkpointsIn(session.transcript.entries), target, current) : [];
		const wanted = target?.state ?? current.state;
		const except = target ? await this.#notTouched(store, target, current, others) : new Set<RepositoryPath>();
		const { file: sessionFile, leafId } = session.transcript;
		const more = target && { ...historyOf(target, current, others), ...ignoredOf(target, others) };
		const restore = await prepareRestore({ store, current: current.state, target: wanted, except, sessionFile, ...more });
		const skipped = await this.#skipped(store, current.state, wanted, except);
		await restore.apply();
		try {
			const { history, lost } = restore;
			const isMoved = history !== undefined && history.steps.length > 0;
			const undoEntryId = this.#note({ phase: "before", cause: "rewind", ...current, ...(isMoved && { rewound: history.rewound }) }, store);
			const text = conversation ? this.#moveTo(entryId) : undefined;
			const after = restore.paths.length > 0 || isMoved ? await store.takeAll() : current;
			folder.finish();
			this.#note({ phase: "after", cause: "rewind", ...after, mode: folder.after, rewind: restore.id }, store);
			session.conversation.reproject();
			const back = history && inWords(history);
			return {
				cancelled: false,
				restored: folder.after === folder.before ? restore.paths : [".", ...restore.paths],
				skipped,
				...(lost.length > 0 && { lost }),
				...(back && { history: back }),
				undoEntryId,
				...(text === undefined ? {} : { text }),
			};
		} catch (error) {
			await restore.undo();
			session.moveTo(leafId);
			throw error;
		} finally {
			await restore.finish();
		}
	}

	/** The directory itself: a command may have closed it, and then nothing in it can be looked at. */
	#openFolder({ top }: TreeStore, target: Checkpoint | undefined): Folder {
		const before = statSync(top).mode & 0o7777;
		const others = target ? changedByOthers(checkpointsIn(this.#session.transcript.entries), target, { state: {}, mode: before }) : [];
		const isOthers = others.some(([one, two]) => one.mode !== undefined && two.mode !== undefined && one.mode !== two.mode);
		const after = isOthers ? before : (target?.mode ?? before) & 0o7777;
		const open = after | 0o700;
		if (after !== before && open !== before) chmodSync(top, open);
		const set = (mode: number) => {
			if (after !== before) chmodSync(top, mode);
		};
		return { before, after, finish: () => set(after), undo: () => set(before) };
	}

	/** Goes on from an entry; from the one in front of it when it is a prompt, whose text is returned. */
	#moveTo(entryId: string): string {
		const session = this.#session;
		const entry = session.transcript.find(entryId);
		const oldLeafId = session.transcript.leafId;
		const prompt = entry?.type === "message" && entry.message.role === "user" ? entry.message : undefined;
		// An entry whose parent is missing is a root.
		if (!session.moveTo((prompt ? entry?.parentId : entryId) ?? null)) session.moveTo(null);
		noteChoice(session);
		session.doors.notice({ type: "session_tree", newLeafId: session.transcript.leafId, oldLeafId });
		return prompt ? textOf(prompt as UserMessage) : "";
	}

	#at(entryId: string): Checkpoint | undefined {
		const { transcript } = this.#session;
		if (!transcript.find(entryId)) throw new CommandError("not_found", `Entry not found: ${entryId}`);
		return checkpointAt(transcript.entries, entryId);
	}

	/** Files that stay: those that others than the agent changed, are too large, or were ignored and are not any more. */
	async #notTouched(store: TreeStore, target: Checkpoint, current: Taken, others: Pairs): Promise<Set<RepositoryPath>> {
		// A file that has become too large is not in the state, and must not be replaced either.
		const found = new Set<RepositoryPath>(store.leftOut);
		for (const [before, after] of others) for (const { path } of await store.fileChanges(before.state, after.state)) found.add(path);
		if (target.ignored === undefined) return found;
		const wasIgnored = store.ignored.covers(target.ignored);
		for (const { path, to } of await store.fileChanges(current.state, target.state)) if (!to && wasIgnored(path)) found.add(path);
		return found;
	}

	/** Those of them that a rewind would have changed. */
	async #skipped(store: TreeStore, current: State, target: State, except: ReadonlySet<RepositoryPath>): Promise<string[]> {
		if (except.size === 0) return [];
		return (await store.fileChanges(current, target))
			.map(({ path }) => path)
			.filter((path) => except.has(path))
			.map(toText)
			.sort();
	}

	async #kept<T>(store: TreeStore, states: readonly State[], work: () => Promise<T>): Promise<T> {
		for (const state of states) {
			if (!(await store.has(state)))
				throw new CommandError(
					"not_found",
					"The files of that point are no longer kept. The setting checkpoints.keepDays says for how long they are.",
				);
		}
		return work();
	}
}

interface Way {
	store: TreeStore;
	target: Checkpoint | undefined;
	folder: Folder;
	entryId: string;
	conversation: boolean;
	signal: AbortSignal;
}

/** Who may do what with the directory itself, before and after a rewind. */
interface Folder {
	before: number;
	after: number;
	finish(): void;
	undo(): void;
}

type Pairs = ReturnType<typeof changedByOthers>;

function ignoredOf({ ignored }: Checkpoint, others: Pairs) {
	return ignored === undefined
		? {}
		: { ignored: { target: ignored, others: others.map(([before, after]) => [before.ignored, after.ignored] as const) } };
}

/** Undefined for checkpoints from before the history was kept. */
function historyOf({ history, timestamp, cause, phase, rewound }: Checkpoint, current: Taken, others: Pairs) {
	if (!history) return {};
	const undo = cause === "rewind" && phase === "before" ? rewound : undefined;
	const pairs = others.map(([before, after]) => [before.history, after.history] as const);
	return { history: { target: { history, time: Date.parse(timestamp) }, current: current.history, others: pairs, ...(undo && { undo }) } };
}

type RewoundHistory = NonNullable<CommandResult<"rewind">["history"]>;

/** More names than this are counted. */
const mostNames = 200;

/** Returns undefined where there is nothing to say. */
function inWords({ restored, kept, problems }: HistoryPlan): RewoundHistory | undefined {
	if (restored.length + kept.length + problems.length === 0) return undefined;
	const more = Math.max(0, restored.length - mostNames) + Math.max(0, kept.length - mostNames);
	return {
		restored: shown(restored),
		...(kept.length > 0 && { kept: kept.slice(0, mostNames).map(toText) }),
		...(problems.length > 0 && { problems }),
		...(more > 0 && { more }),
	};
}

const shown = (moves: HistoryPlan["restored"]): RewoundHistory["restored"] =>
	moves.slice(0, mostNames).map(({ at, name, from, to }) => ({
		name: toText(name),
		...(from && { before: from }),
		...(to && { after: to }),
		...(at !== "" && { repository: toText(at) }),
	}));

function realPathOf(path: string): string | undefined {
	try {
		return realpathSync(path);
	} catch {
		return undefined; // It is not there yet.
	}
}
