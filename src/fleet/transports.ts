/** Ways by which git may fetch. Its own configuration on this machine decides about them, as it does for a person. */
import type { Git } from "../snapshots/git.ts";

const known = ["https", "http", "ssh", "git", "file"] as const;

/**
 * Returns a value for `GIT_ALLOW_PROTOCOL`: the transports of the fleet that the configuration allows. `of`: a URL that somebody gave (`run`), or one that
 * a repository names (`submodule`), which may lead to any repository of this machine: paths are refused there unless `protocol.file.allow` is `always`.
 * Git before 2.38.1 does not refuse them by itself, and no version applies its configuration once this variable is set.
 */
export async function allowedTransports(git: Git, { of, signal }: { of: "run" | "submodule"; signal?: AbortSignal }): Promise<string> {
	// In a place without a repository, whose configuration would count.
	const { output } = await git
		.with({ cwd: "/" })
		.ask(["config", "-z", "--get-regexp", "^protocol\\."], { codes: [0, 1], ...(signal ? { signal } : {}) });
	const set = new Map(
		output.split("\0").map((entry): [string, string] => {
			const [name = "", value = ""] = entry.split("\n", 2);
			return [name, value];
		}),
	);
	const policyOf = (name: string) => set.get(`protocol.${name}.allow`) ?? set.get("protocol.allow") ?? (name === "file" ? "user" : "always");
	const isAllowed = (policy: string) => policy === "always" || (policy === "user" && of === "run");
	return known.filter((name) => isAllowed(policyOf(name))).join(":") || "none";
}
