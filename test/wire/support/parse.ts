/** The language of wire tests: a transcript that a person can read. See CONTRIBUTING.md. */

export type Step =
	| { kind: "send"; line: string; at: number }
	| { kind: "raw"; text: string; at: number }
	| { kind: "expect"; tokens: Token[]; at: number }
	| { kind: "eof"; at: number }
	| { kind: "signal"; name: NodeJS.Signals; at: number }
	| { kind: "exit"; code: number; at: number }
	| { kind: "stderr"; text: string; at: number }
	| { kind: "silence"; ms: number; at: number }
	| { kind: "touch"; path: string; at: number }
	| { kind: "answer"; type: string; members: object; back: number; at: number };

export type Token =
	| { kind: "gap" }
	| { kind: "frame"; name: string | undefined; role: string | undefined; repeats: boolean; shape: unknown; exact: boolean; text: string };

export interface Case {
	title: string;
	line: number;
	flags: string[];
	env: Record<string, string>;
	model: string | undefined;
	files: Record<string, string>;
	isRepository: boolean;
	steps: Step[];
}

export function parseWire(text: string): Case[] {
	const cases: Case[] = [];
	for (const [index, raw] of text.split("\n").entries()) {
		const line = raw.trim();
		const at = index + 1;
		if (line === "" || line.startsWith("//")) continue;
		if (line.startsWith("# ")) {
			cases.push({ title: line.slice(2), line: at, flags: [], env: {}, model: undefined, files: {}, isRepository: false, steps: [] });
			continue;
		}
		const current = cases.at(-1);
		if (!current) throw new Error(`line ${at}: a case starts with "# title"`);
		read(line, at, current);
	}
	return cases;
}

function read(line: string, at: number, current: Case): void {
	const rest = (prefix: string) => line.slice(prefix.length).trim();
	const { steps } = current;
	if (line.startsWith("> ")) steps.push({ kind: "send", line: rest(">"), at });
	else if (line.startsWith(">raw ")) steps.push({ kind: "raw", text: JSON.parse(rest(">raw")), at });
	else if (line.startsWith("<= ")) steps.push({ kind: "expect", tokens: tokens(rest("<="), at, true), at });
	else if (line.startsWith("< ")) steps.push({ kind: "expect", tokens: tokens(rest("<"), at, false), at });
	else if (line.startsWith("flags:")) current.flags.push(...rest("flags:").split(/\s+/));
	else if (line.startsWith("model:")) current.model = rest("model:");
	else if (line.startsWith("env:")) {
		const [name = "", ...value] = rest("env:").split("=");
		current.env[name] = value.join("=");
	} else if (line.startsWith("file:")) {
		const [path = ""] = rest("file:").split(" ", 1);
		current.files[path] = JSON.parse(rest("file:").slice(path.length));
	} else if (line === "repository") current.isRepository = true;
	else if (line === "eof") steps.push({ kind: "eof", at });
	else if (line.startsWith("signal ")) steps.push({ kind: "signal", name: rest("signal") as NodeJS.Signals, at });
	else if (line.startsWith("exit ")) steps.push({ kind: "exit", code: Number(rest("exit")), at });
	else if (line.startsWith("stderr ")) steps.push({ kind: "stderr", text: JSON.parse(rest("stderr")), at });
	else if (line.startsWith("answer ")) {
		const [, type = "", back = "0", json = "{}"] = /^answer ([a-z_]+)(?:-(\d))? ?(.*)$/.exec(line) as RegExpExecArray;
		steps.push({ kind: "answer", type, members: JSON.parse(json), back: Number(back), at });
	} else if (line.startsWith("touch ")) steps.push({ kind: "touch", path: rest("touch"), at });
	else if (line.startsWith("silence ")) steps.push({ kind: "silence", ms: Number(rest("silence")), at });
	else throw new Error(`line ${at}: cannot read ${JSON.stringify(line)}`);
}

/** `…`, `name`, `name(role)`, `name{shape}`, `name+`, or a bare shape. */
function tokens(text: string, at: number, exact: boolean): Token[] {
	const found: Token[] = [];
	let rest = text;
	while (rest !== "") {
		if (rest.startsWith("…")) {
			found.push({ kind: "gap" });
			rest = rest.slice(1).trimStart();
			continue;
		}
		const head = /^([a-z_]+)?(\(([^)]*)\))?(\+)?/i.exec(rest) as RegExpExecArray;
		let length = head[0].length;
		let shape: unknown;
		if (rest[length] === "{") {
			const json = objectAt(rest.slice(length), at);
			shape = JSON.parse(json);
			length += json.length;
		}
		if (length === 0) throw new Error(`line ${at}: cannot read ${JSON.stringify(rest)}`);
		found.push({ kind: "frame", name: head[1], role: head[3], repeats: head[4] === "+", shape, exact, text: rest.slice(0, length) });
		rest = rest.slice(length).trimStart();
		if (rest.startsWith("·")) rest = rest.slice(1).trimStart();
	}
	return found;
}

/** The JSON object at the start of a text. */
export function objectAt(text: string, at: number): string {
	let depth = 0;
	let isString = false;
	for (let index = 0; index < text.length; index++) {
		const char = text[index];
		if (isString) {
			if (char === "\\") index++;
			else if (char === '"') isString = false;
		} else if (char === '"') isString = true;
		else if (char === "{" || char === "[") depth++;
		else if (char === "}" || char === "]") {
			depth--;
			if (depth === 0) return text.slice(0, index + 1);
		}
	}
	throw new Error(`line ${at}: the object does not end: ${text}`);
}
