/** Reads the output of a command until it has really ended. */
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

/** A background process may hold the pipe open for ever: this much silence after the exit is the end. */
const silenceMs = 100;
/** The limit for a background process that is never silent. */
const longestMs = 1000;

export interface PipeReader {
	/** Call it when the command has exited. */
	exited(): void;
	/** Resolves at the end of the output. */
	done: Promise<void>;
}

export function readPipes(pipes: Readable[], onData: (chunk: Buffer) => void): PipeReader {
	let open = pipes.length;
	let isDone = false;
	let chunks = 0;
	let silence: NodeJS.Timeout | undefined;
	let longest: NodeJS.Timeout | undefined;
	let finish: () => void = () => undefined;
	const done = new Promise<void>((resolve) => {
		finish = () => {
			if (isDone) return;
			isDone = true;
			clearTimeout(silence);
			clearTimeout(longest);
			// Keep reading and discard: a closed pipe would end a server in the background. The pipe must not keep us alive, though.
			for (const pipe of pipes) (pipe as Socket).unref?.();
			resolve();
		};
	});
	for (const pipe of pipes) {
		let isOpen = true;
		const closed = () => {
			if (isOpen) open -= 1;
			isOpen = false;
			if (open === 0) finish();
		};
		pipe.on("data", (chunk: Buffer) => {
			if (isDone) return;
			chunks += 1;
			silence?.refresh();
			onData(chunk);
		});
		pipe.on("end", closed).on("close", closed).on("error", closed);
	}
	// Timers come before reading in a turn of the event loop. After a turn that took long, the output may be there and not be read yet.
	const finishIfSilent = () => {
		const before = chunks;
		setImmediate(() => {
			if (chunks === before) finish();
		});
	};
	return {
		done,
		exited() {
			if (isDone || silence) return;
			silence = setTimeout(finishIfSilent, silenceMs);
			longest = setTimeout(() => setImmediate(finish), longestMs);
		},
	};
}
