/**
 * Approvals of a session: the mode, who can be asked, and the gate. The gate itself is loaded only where a mode or a rule restricts
 * something: a session in mode `full` without rules has none, and pays nothing.
 */
import type { Doors } from "../agent/doors.ts";
import type { ClosedPaths } from "../lib/path-pattern.ts";
import type { ForeignAnswer, ForeignQuestion, Gate, Route } from "../permissions/index.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { CommandResult } from "../protocol/commands/index.ts";
import { permissionEntry } from "../protocol/permission-modes.ts";
import type { PermissionMode, PermissionResponse, SandboxState } from "../protocol/permissions.ts";
import type { SafetyState } from "../protocol/sandbox.ts";
import type { Conversation } from "../session/conversation.ts";
import type { Controls, Edges } from "../session/dependencies.ts";
import type { Front } from "./front.ts";
import type { Mcp } from "./mcp.ts";
import type { Prompting } from "./prompting.ts";
import type { Shells } from "./shells.ts";
import type { ToolSources } from "./tool-sources.ts";
import type { Workspace } from "./workspace.ts";

export interface PermissionsParts {
	workspace: Workspace;
	front: Pick<Front, "approvals">;
	conversation: Conversation;
	shells: Shells;
	controls: Controls;
	doors: Doors;
	edges: Edges;
}

/** What exists only once the session is put together. */
export interface PermissionsSession {
	sources: ToolSources;
	prompting: Prompting;
	mcp: Pick<Mcp, "serverOf">;
	abortRun: () => void;
}

/** What `get_state` says about approvals. */
export interface PermissionState {
	permissionMode: PermissionMode;
	pendingPermissions: number;
	sandbox: SandboxState;
	safety?: SafetyState;
}

/** A call that was denied because nobody could be asked. */
export interface UnaskedCall {
	tool: string;
	text: string;
	/** The rule or the mode that would have allowed it. */
	remedy: string;
}

/** A subagent that runs now. */
export interface ModeFollower {
	setMode(mode: PermissionMode): void;
}

/** In mode off. */
const noWalls: SandboxState = { mode: "off", active: false, verified: false };

export class Permissions {
	readonly #parts: PermissionsParts;
	#session: PermissionsSession | undefined;
	#mode: PermissionMode;
	#gate: Gate | undefined;
	#loading: Promise<Gate> | undefined;
	/** The host said that it answers typed questions. */
	#isTyped = false;
	/** The host was asked by dialog, did not answer, and had never answered before. */
	#isSilent = false;
	#isGone = false;
	#followers = new Set<ModeFollower>();
	readonly unasked: UnaskedCall[] = [];

	constructor(parts: PermissionsParts) {
		this.#parts = parts;
		this.#mode = parts.workspace.settings.get("permissions.mode");
	}

	/** Everything the gate needs exists now. Resolves when it stands where it is needed. */
	attach(session: PermissionsSession): Promise<unknown> | undefined {
		this.#session = session;
		const { settings, sandbox } = this.#parts.workspace;
		// A connection or a command outside the sandbox is asked about in every mode.
		const mayAsk = sandbox !== undefined && (settings.get("sandbox.escalation") === "ask" || settings.get("sandbox.network") === "hosts");
		return this.#mode !== "full" || mayAsk || settings.get("permissions.rules").length > 0 ? this.load() : undefined;
	}

	/** Servers of MCP are outside the sandbox, so they are asked about in every mode. */
	guardServers(): Promise<unknown> | undefined {
		const { sandbox } = this.#parts.workspace;
		return sandbox && sandbox.mode !== "external" ? this.load() : undefined;
	}

	get mode(): PermissionMode {
		return this.#mode;
	}

	/** Whether the model may ask for a command outside the sandbox: only a typed question allows one. */
	get mayEscalate(): boolean {
		const { sandbox, settings } = this.#parts.workspace;
		return sandbox?.confinement !== undefined && settings.get("sandbox.escalation") === "ask" && this.#mode !== "plan" && this.hasTypedRoute;
	}

	get hasTypedRoute(): boolean {
		return this.#route() === "typed";
	}

	get state(): PermissionState {
		const { safety } = this;
		const pendingPermissions = this.#gate?.pending.length ?? 0;
		return { permissionMode: this.#mode, pendingPermissions, sandbox: this.sandbox, ...(safety && { safety }) };
	}

	/** Undefined unless it was asked for. The mode may have changed since. */
	get safety(): SafetyState | undefined {
		const { contained } = this.#parts.workspace.settings;
		if (!contained) return undefined;
		const { options } = this.#parts.workspace;
		return { name: "contained", loosened: contained.loosenedNow({ mode: this.#mode, isStored: !options["no-session"] }) };
	}

	get sandbox(): SandboxState {
		return this.#parts.workspace.sandbox?.state ?? noWalls;
	}

	/** The gate, in its place behind all policies that may change arguments. */
	load(): Promise<Gate> {
		this.#loading ??= this.#load();
		return this.#loading;
	}

	/** What both sides can do, of what the host says. */
	hello(offered: Record<string, number>, capabilities: Readonly<Record<string, number>>): Record<string, number> {
		const common = Object.entries(capabilities).flatMap(([name, version]): [string, number][] => {
			const own = offered[name];
			return own !== undefined && Number.isInteger(version) && version > 0 ? [[name, Math.min(own, version)]] : [];
		});
		const agreed = Object.fromEntries(common);
		this.#isTyped = agreed.permissions !== undefined;
		this.#isSilent = false;
		// Nobody is left to answer what was asked.
		if (!this.#isTyped) this.#gate?.disconnect();
		return agreed;
	}

	async setMode(mode: PermissionMode): Promise<() => void> {
		if (mode !== "full") await this.load();
		this.#mode = mode;
		for (const follower of this.#followers) follower.setMode(mode);
		return () => {
			this.#parts.edges.bus.emit({ type: "permission_mode_changed", mode });
			this.#gate?.reconsider();
		};
	}

	async list(): Promise<CommandResult<"get_permissions">> {
		const gate = await this.load();
		return { mode: this.#mode, rules: [...gate.rules], grants: gate.grants, pending: gate.pending };
	}

	async revoke(id: string): Promise<void> {
		const gate = await this.load();
		if (!gate.revoke(id)) throw new CommandError("not_found", `Permission not found: ${id}`);
	}

	/** Returns the paths that a search or a listing leaves out, undefined where nothing restricts it. */
	closedTo(tool: string, shows: "names" | "contents", searched: string): ClosedPaths | undefined {
		return this.#gate?.closedTo(tool, shows, searched);
	}

	/** The host's answer to a question. */
	receive(response: PermissionResponse): void {
		this.#gate?.receive(response);
	}

	/** The host is gone: its open questions end before anything else does. */
	disconnect(): void {
		this.#isGone = true;
		this.#gate?.close();
	}

	/** A subagent asks through this agent. */
	async answer(question: ForeignQuestion, signal: AbortSignal): Promise<ForeignAnswer> {
		return (await this.load()).permitFor(question, signal);
	}

	/** Merging the work of a subagent is a change of this agent's own. Nothing is asked where nothing is restricted. */
	async refusalOfMerge(work: Parameters<Gate["permitMerge"]>[0], signal: AbortSignal): Promise<string | undefined> {
		return this.#gate?.permitMerge(work, signal);
	}

	/** Tells a subagent about changes of the mode, until the returned function is called. */
	follow(follower: ModeFollower): () => void {
		this.#followers.add(follower);
		return () => void this.#followers.delete(follower);
	}

	#route(): Route {
		const { workspace, front } = this.#parts;
		if (this.#isGone) return "nobody";
		if (workspace.subagent || this.#isTyped) return "typed";
		const { approvals } = front;
		if (!approvals || !workspace.settings.get("permissions.dialogs")) return "nobody";
		return this.#isSilent && !approvals.hasAnswered() ? "nobody" : "dialog";
	}

	async #load(): Promise<Gate> {
		const { workspace, front, conversation, shells, controls, doors, edges } = this.#parts;
		const session = this.#session as PermissionsSession;
		const { makeGate } = await import("./permission-gate.ts");
		const gate = await makeGate({
			workspace,
			shells,
			sources: session.sources,
			prompting: session.prompting,
			serverOf: (...call) => session.mcp.serverOf(...call),
			sessionFile: () => conversation.transcript.file,
			warn: edges.warn,
			parts: {
				mode: () => this.#mode,
				route: () => this.#route(),
				dialog: async (...question) => (await front.approvals?.choose(...question)) ?? { hasTimedOut: false },
				onSilence: () => {
					this.#isSilent = front.approvals?.hasAnswered() === false;
				},
				hasOuterDeadline: workspace.subagent !== undefined,
				halts: () => doors.halts,
				skipsOnSteering: () => controls.interruptMode === "immediate",
				record: (record) => {
					try {
						conversation.append({ type: "custom", customType: permissionEntry, data: record });
					} catch (error) {
						edges.log.error("the record of an approval could not be stored", error);
					}
				},
				onUnasked: (call) => void this.unasked.push(call),
				emit: edges.bus.emit,
				abortRun: session.abortRun,
				now: edges.now,
			},
		});
		this.#gate = gate;
		workspace.sandbox?.judgeConnections((...connection) => gate.connection(...connection));
		doors.put(gate.policy);
		return gate;
	}
}
