/** Commands that the host runs. Several may run at once; each leaves a record for the model, in the order in which they end. */
import type { Doors } from "../agent/doors.ts";
import { deferred } from "../lib/deferred.ts";
import type { Log } from "../lib/log.ts";
import type { EnclosureFacts } from "../lib/shell/confinement.ts";
import type { Shell, ShellUpdate } from "../lib/shell/index.ts";
import type { BashResult } from "../protocol/commands/bash.ts";
import type { BashExecutionMessage } from "../protocol/messages.ts";
import type { SandboxUse } from "../protocol/sandbox.ts";

export interface UserBashParts {
	/** `isInside`: in the sandbox of the session. */
	shell: (isInside: boolean) => Promise<Shell>;
	/** What a result says about the sandbox. */
	sandboxUse?: (denied: readonly string[]) => SandboxUse;
	/** Where the record of a command that starts now will go. */
	recorder: () => (message: BashExecutionMessage) => void;
	doors: Doors;
	log: Log;
	now: () => number;
}

/** Receives what a command has printed so far, at most every 100 ms. */
type OnUpdate = (update: ShellUpdate) => void;

export class UserBash {
	#parts: UserBashParts;
	#running = new Map<AbortController, Promise<void>>();

	constructor(parts: UserBashParts) {
		this.#parts = parts;
	}

	async run(
		command: string,
		{ excludeFromContext = false, sandbox = false }: { excludeFromContext?: boolean; sandbox?: boolean } = {},
		onUpdate?: OnUpdate,
	): Promise<BashResult> {
		const controller = new AbortController();
		const record = this.#parts.recorder();
		const ended = deferred();
		this.#running.set(controller, ended.promise);
		try {
			const { signal } = controller;
			const result =
				(sandbox ? undefined : await this.#parts.doors.shell?.(command, signal)) ?? (await this.#run(command, sandbox, signal, onUpdate));
			const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
			this.#keep(record, {
				role: "bashExecution",
				command,
				output,
				...(exitCode === undefined ? {} : { exitCode }),
				cancelled,
				truncated,
				...(fullOutputPath === undefined ? {} : { fullOutputPath }),
				...(excludeFromContext ? { excludeFromContext } : {}),
				timestamp: this.#parts.now(),
			});
			return result;
		} finally {
			this.#running.delete(controller);
			ended.resolve();
		}
	}

	async #run(command: string, isInside: boolean, signal: AbortSignal, onUpdate: OnUpdate | undefined): Promise<BashResult> {
		const shell = await this.#parts.shell(isInside);
		const { output, truncation, fullOutputPath, exitCode, aborted, inside } = await shell.run({ command, signal, onUpdate, stripControls: true });
		const { truncated, totalLines, totalBytes, outputLines, outputBytes } = truncation;
		const size = { totalLines, totalBytes, outputLines, outputBytes };
		return {
			output,
			...(exitCode === null ? {} : { exitCode }),
			cancelled: aborted,
			truncated,
			fullOutputPath,
			...size,
			...(inside && { sandboxed: true, sandbox: { applied: true, ...this.#parts.sandboxUse?.(inside.denied), ...noteOf(inside) } }),
		};
	}

	/** The host gets its output also when the session's file cannot take the record. */
	#keep(record: (message: BashExecutionMessage) => void, message: BashExecutionMessage): void {
		try {
			record(message);
		} catch (error) {
			this.#parts.log.error("the record of a command could not be kept", error);
		}
	}

	/** Kills every command that is running; resolves when they are gone. */
	async abort(): Promise<void> {
		const running = [...this.#running];
		for (const [controller] of running) controller.abort();
		await Promise.all(running.map(([, ended]) => ended));
	}
}

function noteOf({ breach, undone }: EnclosureFacts): { note?: string } {
	const notes = [breach, undone].filter((each) => each !== undefined);
	return notes.length > 0 ? { note: notes.join(" ") } : {};
}
