/** The variables that commands inside see. Only those on a list pass: any other one may hold a credential, or change what a shell does. */
import { delimiter, isAbsolute } from "node:path";

const passed = new Set(
	`
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CI PWD XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME JAVA_HOME GOPATH
GOROOT CARGO_HOME RUSTUP_HOME PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX NVM_DIR VOLTA_HOME BUN_INSTALL DENO_INSTALL SDKMAN_DIR PNPM_HOME SSL_CERT_FILE
SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE PAGER MANPAGER GIT_PAGER GH_PAGER BAT_PAGER SYSTEMD_PAGER AWS_PAGER EDITOR VISUAL GIT_EDITOR
GIT_TERMINAL_PROMPT DEBIAN_FRONTEND BOWLINE AI_AGENT BOWLINE_RUN BOWLINE_SESSION_ID BOWLINE_SESSION_FILE BOWLINE_PROVIDER BOWLINE_MODEL
`
		.trim()
		.split(/\s+/),
);
const passedPrefixes = ["LC_", "GIT_AUTHOR_", "GIT_COMMITTER_"];

/** They make a shell or the loader run something else first, or hold credentials of ours. No setting brings them in. */
const never =
	/^(BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_PRELOAD|LD_AUDIT|BOWLINE_.*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL).*)$/;

/** Caches are private: the next build outside would take poisoned objects from a shared one. */
const caches = (temporary: string): Record<string, string> => ({
	XDG_CACHE_HOME: `${temporary}/.cache`,
	npm_config_cache: `${temporary}/.cache/npm`,
	PIP_CACHE_DIR: `${temporary}/.cache/pip`,
	GOCACHE: `${temporary}/.cache/go-build`,
	GOMODCACHE: `${temporary}/.cache/go-mod`,
	YARN_CACHE_FOLDER: `${temporary}/.cache/yarn`,
	GRADLE_USER_HOME: `${temporary}/.cache/gradle`,
	CARGO_TARGET_DIR: `${temporary}/.cache/cargo-target`,
});

type Variables = Record<string, string | undefined>;

/** `wanted`: the setting `sandbox.env`. `own`: a pattern of variables that we ourselves set for a program of ours. `temporary`: as commands name it. */
export function insideEnvironment(given: Variables, wanted: readonly string[], own?: RegExp, temporary = "/tmp"): Record<string, string> {
	const exact = new Set(wanted);
	const prefixes = wanted.flatMap((name) => (name.endsWith("*") ? [name.slice(0, -1)] : []));
	const isWanted = (name: string) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
	const inside: Record<string, string> = {};
	for (const [name, value] of Object.entries(given)) {
		if (value === undefined || never.test(name) || name.includes("=")) continue;
		const isPassed = passed.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix)) || own?.test(name) || isWanted(name);
		if (isPassed) inside[name] = value;
	}
	if (inside.PATH !== undefined) inside.PATH = absoluteEntries(inside.PATH);
	// A variable that the user passes in on purpose leads where the user says.
	return { ...caches(temporary), ...inside, TMPDIR: temporary };
}

/** For a command outside: everything but what changes the shell, and no program from a directory that commands inside can write. */
export function outsideEnvironment(given: Variables, roots: readonly string[], isWithin: (path: string, root: string) => boolean): Variables {
	const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !never.test(name)));
	const isSafe = (entry: string) => isAbsolute(entry) && !roots.some((root) => isWithin(entry, root));
	return { ...kept, PATH: (given.PATH ?? "").split(delimiter).filter(isSafe).join(delimiter) };
}

const absoluteEntries = (path: string) =>
	path
		.split(delimiter)
		.filter((entry) => isAbsolute(entry))
		.join(delimiter);
