/** The commands with which an agent leaves its session for another one. */
export const movers: ReadonlySet<string> = new Set(["new_session", "switch_session", "open_session", "fork", "branch", "clone"]);
