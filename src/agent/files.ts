/** Who has the text of files besides the disk: an editor, whose buffers may not be saved. Types only. */

export interface FileCall {
	toolCallId: string;
	signal: AbortSignal;
}

/** The tools that read and change files ask it first. Without it, the disk alone counts. */
export interface Files {
	/** The text of a file, where it is not the one on disk. Undefined: the disk counts. */
	read(path: string, call: FileCall): Promise<string | undefined>;
	/** Writes the text of a file; its directory exists. False: the disk is to be written. Throws when the text was refused. */
	write(path: string, text: string, call: FileCall): Promise<boolean>;
	/** A call has changed a file. `before` is absent for a new one. */
	changed(toolCallId: string, change: { before?: string; after: string }): void;
}
