/** Names of files and folders that programs run or read on their own: editors, agents and hooks of a project that a person opens. */

/** Without Bowline's own. */
export const openedByPrograms: readonly string[] = [
	".vscode",
	".idea",
	".husky",
	".devcontainer",
	".claude",
	".codex",
	".cursor",
	".gemini",
	".agents",
	".mcp.json",
	".envrc",
];

const all = new Set([".bowline", ...openedByPrograms]);

/** Returns whether some file system takes a name for one of them: some ignore case, others invisible characters, or dots and spaces at the end. */
export const isOpenedByPrograms = (name: string): boolean => all.has(foldedName(name));

/** Returns the plainest name that a file system may take a name for. */
export function foldedName(name: string): string {
	return name
		.normalize("NFKC")
		.replace(/\p{Default_Ignorable_Code_Point}/gu, "")
		.toLowerCase()
		.replace(/(?<=[^. ])[. ]{1,255}$/, "");
}
