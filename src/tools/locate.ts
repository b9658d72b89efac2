/** Finds the file that a model names, and its text where an editor has another one than the disk. */
import type { FileCall, Files } from "../agent/contracts.ts";
import { type ConfinedFiles, resolveExisting, resolvePath } from "./paths.ts";

export interface Located {
	target: string;
	/** What counts instead of the disk. */
	text?: string;
}

type Place = { cwd: string; files?: Files; confined?: ConfinedFiles };

/** Throws when there is no such file, neither on disk nor in the editor. */
export async function locate(options: Place, path: string, call: FileCall): Promise<Located> {
	const { target, text } = await find(options, path, call);
	return { target, text: text ?? (await options.files?.read(target, call)) };
}

/** The same without the text, unless only the editor has the file. */
export async function find({ cwd, files, confined }: Place, path: string, call: FileCall): Promise<Located> {
	try {
		return { target: await resolveExisting(cwd, path, confined) };
	} catch (error) {
		const target = resolvePath(cwd, path);
		const text = await files?.read(target, call);
		if (text === undefined) throw error;
		return { target, text };
	}
}
