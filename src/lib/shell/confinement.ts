/** How a shell starts programs inside walls. The sandbox implements it; the shell knows no more than this. Types only. */
import type { ChildProcess } from "node:child_process";

export interface Confinement {
	/** Where outputs go that are too long to show: commands inside can read it. */
	readonly logDirectory: string;
	/** What runs inside does not end with this process by itself. */
	readonly canOutlive?: boolean;
	/** Builds the walls for one start. Rejects when they cannot be built. */
	enclose(start: ProgramStart): Promise<Enclosure>;
	/** Ends everything inside, also what left its group and cleared its environment. */
	endAll(): Promise<void>;
}

export interface ProgramStart {
	file: string;
	args: readonly string[];
	cwd: string;
	environment: Record<string, string | undefined>;
	/** The tool call that it belongs to. */
	callId?: string;
}

export interface Enclosure {
	/** What to start instead. */
	file: string;
	args: readonly string[];
	environment: Record<string, string>;
	/** Its descriptors from 3 on. Numbers are open in this process until `release`. */
	descriptors: readonly (number | "pipe")[];
	/** Resolves with true when the program inside has begun, with false when everything ended before that. */
	begun(child: ChildProcess): Promise<boolean>;
	/** Call it once the child has been started, or could not be. */
	release(): void;
	/** Call it when the program has ended: resolves with what happened to the walls meanwhile. */
	ended(): Promise<EnclosureFacts>;
}

export interface EnclosureFacts {
	/** Why the walls were rebuilt while the program ran: its result counts as a failure. */
	breach?: string;
	/** What was set right after the program, as one sentence. Its result stays what it is. */
	undone?: string;
	/** What was refused by name, such as `host a.example:443`. */
	denied: readonly string[];
}
