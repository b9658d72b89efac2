/** Files through the editor: unsaved buffers are read and written there. Also remembers what calls changed, for their diffs. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import type { FileCall, Files } from "../agent/files.ts";
import type { Change } from "./diffs.ts";
import { codes, isRpcError } from "./errors.ts";
import type { Peer } from "./peer.ts";

export interface EditorFilesParts {
	peer: Peer;
	/** Whether the editor reads and writes files. */
	isOffered: boolean;
	sessionId: () => string;
	/** The working directory and the additional ones; other files are not the editor's. */
	roots: readonly string[];
	notice: (title: string) => void;
}

const longestText = 4 * 1024 * 1024;
const longestChange = 1024 * 1024;
const readPatienceMs = 5000;
/** After so many reads in a row without an answer the editor is not asked again. */
const mostTimeouts = 3;

export class EditorFiles implements Files {
	#parts: EditorFilesParts;
	#changes = new Map<string, Change>();
	/** What the disk held when it was last looked at, by path, as digests. */
	#seen = new Map<string, string>();
	#timeouts = 0;
	#hasNoticed = false;

	constructor(parts: EditorFilesParts) {
		this.#parts = parts;
	}

	/** What a call did to a file; asked once. */
	changeOf(toolCallId: string): Change | undefined {
		const change = this.#changes.get(toolCallId);
		this.#changes.delete(toolCallId);
		return change;
	}

	changed(toolCallId: string, change: Change): void {
		if (change.after.length <= longestChange && (change.before?.length ?? 0) <= longestChange) this.#changes.set(toolCallId, change);
	}

	async read(path: string, { signal }: FileCall): Promise<string | undefined> {
		if (!this.#isEditors(path) || this.#timeouts >= mostTimeouts) return undefined;
		const disk = await textOnDisk(path);
		if (disk === "unsuitable") return undefined;
		const buffer = await this.#ask(path, signal);
		if (buffer === undefined || buffer.length > longestText) {
			if (disk !== undefined) this.#seen.set(path, digest(disk));
			return undefined;
		}
		// A new buffer that was never saved.
		if (disk === undefined) return buffer;
		const before = this.#seen.get(path);
		const [onDisk, inBuffer] = [digest(disk), digest(buffer)];
		this.#seen.set(path, onDisk);
		if (onDisk === inBuffer) return undefined;
		// A command wrote the file, and the editor has not read it again.
		if (inBuffer === before && onDisk !== before) return undefined;
		return buffer;
	}

	async write(path: string, text: string, { signal }: FileCall): Promise<boolean> {
		if (!this.#isEditors(path) || text.length > longestText) return false;
		const { peer, sessionId, notice } = this.#parts;
		try {
			await peer.request("fs/write_text_file", { sessionId: sessionId(), path, content: text }, { signal });
		} catch (error) {
			if (isRpcError(error) && error.code === codes.cancelled && signal.aborted) throw new Error("Operation aborted");
			throw isRpcError(error) ? new Error(error.message) : error;
		}
		const disk = await textOnDisk(path);
		this.#seen.set(path, digest(text));
		if (!this.#hasNoticed && (disk === undefined || disk === "unsuitable" || digest(disk) !== digest(text))) {
			this.#hasNoticed = true;
			notice(`The editor has not saved ${path} as it was written`);
		}
		return true;
	}

	#isEditors(path: string): boolean {
		const { isOffered, roots } = this.#parts;
		return isOffered && roots.some((root) => isInside(root, path));
	}

	/** Nothing when the editor has no answer. */
	async #ask(path: string, signal: AbortSignal): Promise<string | undefined> {
		const { peer, sessionId } = this.#parts;
		try {
			const answer = await peer.request<{ content?: unknown }>(
				"fs/read_text_file",
				{ sessionId: sessionId(), path },
				{ signal, timeoutMs: readPatienceMs },
			);
			this.#timeouts = 0;
			return typeof answer?.content === "string" ? answer.content : undefined;
		} catch (error) {
			if (!isRpcError(error)) throw error;
			if (error.code === codes.cancelled && !signal.aborted) this.#timeouts++;
			return undefined;
		}
	}
}

function isInside(root: string, path: string): boolean {
	const near = relative(root, path);
	return near !== "" && near !== ".." && !near.startsWith("../") && !isAbsolute(near);
}

/** Undefined when there is no file. */
async function textOnDisk(path: string): Promise<string | "unsuitable" | undefined> {
	try {
		const facts = await stat(path);
		if (!facts.isFile() || facts.size > longestText) return "unsuitable";
		const bytes = await readFile(path);
		return bytes.includes(0) || !isUtf8(bytes) ? "unsuitable" : bytes.toString();
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "unsuitable";
	}
}

/** Editors keep their own line ends and byte order mark. */
function digest(text: string): string {
	return createHash("sha1")
		.update(text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"))
		.digest("base64");
}
