/** How a session is called as long as it has no name. */

const longest = 80;

/** The first line of a prompt; nothing when it has no text. */
export function titleOf(prompt: string): string | undefined {
	const line = prompt.trim().split("\n", 1)[0]?.trim() ?? "";
	if (line === "") return undefined;
	return line.length > longest ? `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
