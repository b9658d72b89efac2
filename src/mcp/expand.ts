/** Puts variables into the texts of an entry, once, when its server is about to start. */
import { resolve } from "node:path";
import type { ServerConfig } from "./config.ts";

export interface ExpandInput {
	env: Record<string, string | undefined>;
	/** The session's working directory. */
	cwd: string;
	home: string | undefined;
}

/** What is started or connected to. */
export interface Target {
	command: string;
	args: string[];
	env: Record<string, string>;
	cwd: string;
	url: string;
	headers: Record<string, string>;
	/** Values that no text may contain. */
	secrets: string[];
}

const secretName = /KEY|TOKEN|SECRET|PASS|.PWD|.PAT$|CREDENTIAL|AUTH|COOKIE|DSN/i;
/** Letters and digits without a word between them. A path or a name is none: taken for a secret, it would be missing from everything that the model reads. */
const secretShape = /^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_+=.~-]{19,}$/;

/** The entry with its variables, or the reason why it cannot be used. */
export function expand(config: ServerConfig, input: ExpandInput): Target | { problem: string } {
	const secrets: string[] = [];
	let problem: string | undefined;
	const fail = (text: string) => {
		problem ??= `MCP server ${JSON.stringify(config.name)}: ${text}`;
		return "";
	};
	const variable = (name: string, isInHeader: boolean, fallback?: string): string => {
		const value = input.env[name];
		// An empty variable counts as unset where there is a default, as in a shell.
		if (value === undefined || (value === "" && fallback !== undefined)) return fallback ?? fail(`the variable ${name} is not set`);
		const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/@]*:([^/]+)@/i.exec(value) ?? [];
		if (isInHeader || secretName.test(name) || secretShape.test(value) || password !== undefined) secrets.push(value);
		if (password !== undefined) secrets.push(password);
		return value;
	};
	const text = (value: string, isInHeader = false) =>
		value.replace(/\$\{([^}]*)\}/g, (_, inside: string) => {
			if (inside === "workspaceFolder") return input.cwd;
			if (inside === "userHome") return input.home ?? fail("the variable HOME is not set");
			if (inside.startsWith("input:")) return fail(`${inside} is asked for by VS Code only`);
			const [name = "", fallback] = splitOnce(inside.replace(/^env:/, ""), ":-");
			return variable(name, isInHeader, fallback);
		});
	/** Here `$NAME` alone is a variable too. */
	const pair = ([name, value]: [string, string], isInHeader: boolean): [string, string] => {
		const found = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(value);
		const expanded = found ? variable(found[1] as string, isInHeader) : text(value, isInHeader);
		if (secretName.test(name)) secrets.push(expanded, ...bearer(expanded));
		return [name, expanded];
	};
	const target: Target = {
		command: text(config.command ?? ""),
		args: config.args.map((arg) => text(arg)),
		env: Object.fromEntries(Object.entries(config.env).map((each) => pair(each, false))),
		cwd: config.cwd === undefined ? input.cwd : resolve(config.directory, home(text(config.cwd), input.home)),
		url: text(config.url ?? ""),
		headers: Object.fromEntries(Object.entries(config.headers).map((each) => pair(each, true))),
		secrets,
	};
	return problem === undefined ? target : { problem };
}

/** `Bearer x` gives `x` away as well. */
function bearer(value: string): string[] {
	const found = /^\S+\s+(\S+)$/.exec(value);
	return found ? [found[1] as string] : [];
}

function home(path: string, directory: string | undefined): string {
	return directory !== undefined && /^~(\/|$)/.test(path) ? `${directory}${path.slice(1)}` : path;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
