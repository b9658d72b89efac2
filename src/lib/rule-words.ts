/** A permission rule in words, for a person or the model. */
interface Rule {
	action?: string;
	tool?: string;
	command?: string;
	path?: string;
	host?: string;
	runsLater?: boolean;
}

export function ruleInWords({ action, tool, command, path, host, runsLater }: Rule): string {
	const what = runsLater ? "files that run later" : (command ?? path ?? host);
	return [action, tool, what].filter((word) => word !== undefined).join(" ");
}
