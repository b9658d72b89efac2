/** A session that is open: commands go in through their lanes, events come out to any number of observers, and it closes in order. */
import { deferred } from "../lib/deferred.ts";
import { sleep } from "../lib/sleep.ts";
import type { CommandResult } from "../protocol/commands/index.ts";
import type { Identity } from "../protocol/identity.ts";
import type { Observer } from "../session/bus.ts";
import type { Session } from "../session/session.ts";
import type { Assembly } from "./assemble.ts";
import type { SessionCheckpoints } from "./checkpoints.ts";
import type { Handlers } from "./commands/contract.ts";
import { handlers } from "./commands/index.ts";
import { Dispatch } from "./dispatch.ts";
import type { Extensions } from "./extensions.ts";
import type { Front } from "./front.ts";
import type { SessionKeys } from "./keys.ts";
import { Lanes } from "./lanes.ts";
import type { Sequence } from "./sequence.ts";

/** How long extensions may still load when the host has gone. */
const loadPatienceMs = 1000;
/** How long extensions may take when a signal ends the process. */
const lastWordMs = 700;

/** Replaces some of the handlers, for the host's dialect. */
export type Override = (handlers: Handlers, live: LiveSession) => Partial<Handlers>;

type SlashCommand = CommandResult<"get_commands">["commands"][number];

export class LiveSession {
	readonly session: Session;
	readonly assembly: Assembly;
	readonly lanes: Lanes;
	readonly commands: Dispatch;
	/** Set once they are loaded, where there are any. */
	extensions: Extensions | undefined;
	/** Set where `checkpoints.enabled` is on. */
	checkpoints: SessionCheckpoints | undefined;
	/** Set where frames are numbered. */
	sequence: Sequence | undefined;
	#numbering: Promise<Sequence> | undefined;
	#keeping: Promise<SessionKeys> | undefined;
	#front: Front;
	#leaving = deferred();
	#gone: Promise<void> | undefined;

	constructor(assembly: Assembly, front: Front, identity: Identity, override?: Override) {
		this.assembly = assembly;
		this.session = assembly.session;
		this.#front = front;
		this.lanes = new Lanes(front);
		const table = handlers({
			assembly,
			front,
			live: () => this,
			identity,
			leaving: this.leaving,
			findCommand: (text) => this.extensions?.findCommand(text),
			slashCommands: () => this.slashCommands(),
			checkpoints: () => this.checkpoints,
		});
		this.commands = new Dispatch(override ? { ...table, ...override(table, this) } : table, this.lanes, () => this.#keys());
	}

	/** Numbers all frames from now on, above `after`, and keeps a log of them. */
	number(after?: number): Promise<Sequence> {
		this.#numbering ??= import("./sequence.ts").then(({ Sequence }) => {
			const sequence = new Sequence(this.assembly, () => this.checkpoints?.runsLater ?? [], after);
			this.sequence = sequence;
			this.commands.accounts = sequence;
			this.#front.numbered?.(sequence);
			return sequence;
		});
		return this.#numbering;
	}

	#keys(): Promise<SessionKeys> {
		this.#keeping ??= import("./keys.ts").then(({ SessionKeys }) => new SessionKeys(this.session, this.session.edges.now));
		return this.#keeping;
	}

	/** Watches the session. The returned function ends that. */
	observe(observer: Observer): () => void {
		return this.session.edges.bus.observe(observer);
	}

	async slashCommands(): Promise<CommandResult<"get_commands">["commands"]> {
		const commands = [...(this.extensions?.commands() ?? []), ...(await this.assembly.prompting.commands()), ...this.assembly.mcp.commands()];
		return commands.map(withPlace);
	}

	/** Resolves when the program ends and no longer waits for anything slow. */
	get leaving(): Promise<void> {
		return this.#leaving.promise;
	}

	/** Kills every process we started. */
	killProcesses(): Promise<void> {
		this.#gone ??= this.assembly.close();
		return this.#gone;
	}

	/**
	 * Ends everything. `finish`: commands that were read get answers, runs abort, extensions are notified. `kill`: the process is being ended by a
	 * signal; nothing more is answered.
	 */
	async close(how: "finish" | "kill"): Promise<void> {
		// Before anything is aborted, so that calls that wait for the host end with the reason.
		this.assembly.permissions.disconnect();
		this.assembly.gate.current?.close();
		this.#front.disconnect?.();
		const gone = this.killProcesses();
		if (how === "kill") {
			this.sequence?.flush();
			await gone;
			if (this.extensions) await Promise.race([this.extensions.shutdown(), sleep(lastWordMs)]);
			return;
		}
		this.session.doors.abort();
		this.commands.abortAll();
		const patience = setTimeout(this.#leaving.resolve, loadPatienceMs);
		try {
			await Promise.all([this.session.abort(), this.lanes.finished()]);
			await gone;
			await this.extensions?.shutdown();
			await this.session.close();
			this.sequence?.end();
		} finally {
			clearTimeout(patience);
		}
	}
}

/** Hosts of pi before 0.59 read the place of a command from these two members. */
function withPlace<C extends Pick<SlashCommand, "sourceInfo">>(command: C): C & Pick<SlashCommand, "path" | "location"> {
	const { path, scope } = command.sourceInfo ?? {};
	return { ...command, ...(path === undefined ? {} : { path }), ...(scope && { location: scope === "temporary" ? "path" : scope }) };
}
