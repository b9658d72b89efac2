/** Commands that the host runs. Several may run side by side; each leaves a record for the model, in the order in which they end. */
import { deferred } from "../lib/deferred.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { BashResult } from "../protocol/commands/bash.ts";
import type { BashExecutionMessage } from "../protocol/messages.ts";

export interface UserBashParts {
	shell: () => Promise<Shell>;
	/** Keeps the record: at once, or when the run that is going on has ended. */
	record: (message: BashExecutionMessage) => void;
	now: () => number;
}

export class UserBash {
	#parts: UserBashParts;
	#running = new Map<AbortController, Promise<void>>();

	constructor(parts: UserBashParts) {
		this.#parts = parts;
	}

	async run(command: string, excludeFromContext: boolean): Promise<BashResult> {
		const controller = new AbortController();
		const ended = deferred();
		this.#running.set(controller, ended.promise);
		try {
			const shell = await this.#parts.shell();
			const { output, truncation, fullOutputPath, exitCode, aborted } = await shell.run({ command, signal: controller.signal, stripControls: true });
			const { truncated, totalLines, totalBytes, outputLines, outputBytes } = truncation;
			this.#parts.record({
				role: "bashExecution",
				command,
				output,
				exitCode,
				cancelled: aborted,
				truncated,
				fullOutputPath: fullOutputPath ?? null,
				...(excludeFromContext ? { excludeFromContext } : {}),
				timestamp: this.#parts.now(),
			});
			return {
				output,
				...(exitCode === null ? {} : { exitCode }),
				cancelled: aborted,
				truncated,
				fullOutputPath,
				totalLines,
				totalBytes,
				outputLines,
				outputBytes,
			};
		} finally {
			this.#running.delete(controller);
			ended.resolve();
		}
	}

	/** Kills every command that is running; resolves when they are gone. */
	async abort(): Promise<void> {
		const running = [...this.#running];
		for (const [controller] of running) controller.abort();
		await Promise.all(running.map(([, ended]) => ended));
	}
}
