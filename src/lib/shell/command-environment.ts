/** The environment of every command that we start. */

/** No user can page or edit: without these a `git log` or `git commit` would wait forever. */
const unattended = {
	PAGER: "cat",
	MANPAGER: "cat",
	GIT_PAGER: "cat",
	GH_PAGER: "cat",
	BAT_PAGER: "cat",
	SYSTEMD_PAGER: "cat",
	AWS_PAGER: "",
	EDITOR: "true",
	VISUAL: "true",
	GIT_EDITOR: "true",
	GIT_TERMINAL_PROMPT: "0",
	DEBIAN_FRONTEND: "noninteractive",
};

/** Adds to the caller's variables. A Bowline inside a Bowline adds its mark to the outer one, so that both find the process. */
export function commandEnvironment(caller: Record<string, string | undefined>, mark: string): Record<string, string | undefined> {
	return { ...caller, ...unattended, BOWLINE: "1", AI_AGENT: "bowline", BOWLINE_RUN: `${caller.BOWLINE_RUN ?? ""}${mark}` };
}
