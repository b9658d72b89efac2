/** The small language of commands: every script that is accepted means to bash exactly the words that we read. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "unbash";
import { describe, expect, test } from "vitest";
import { readScript, type ScriptCommand } from "../../src/permissions/lexer.ts";
import { Random } from "../torture/random.ts";

const wordsOf = (script: string) => readScript(script)?.map(({ words }) => words);

describe("accepted", () => {
	test.each<[string, string[][]]>([
		["npm test", [["npm", "test"]]],
		["a && b || c; d | e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]],
		["git commit -m 'fix: a $b `c` \\ !'", [["git", "commit", "-m", "fix: a $b `c` \\ !"]]],
		["echo \"a b\"c'd'", [["echo", "a bcd"]]],
		["npm test 2>&1", [["npm", "test"]]],
		["npm test >/dev/null 2>&1", [["npm", "test"]]],
		["npm test &>/dev/null </dev/null", [["npm", "test"]]],
		["# first\nls # all of it\n", [["ls"]]],
		["make a=b", [["make", "a=b"]]],
		["a |\nb &&\n\nc", [["a"], ["b"], ["c"]]],
		["echo 'ä ☂'", [["echo", "ä ☂"]]],
		["echo ''", [["echo", ""]]],
		[
			"test -f 'a[1]' && echo '$5'",
			[
				["test", "-f", "a[1]"],
				["echo", "$5"],
			],
		],
		["test 3 -lt 10", [["test", "3", "-lt", "10"]]],
	])("%j", (script, words) => {
		expect(wordsOf(script)).toEqual(words);
	});

	test("cd to the working directory is dropped when it comes first", () => {
		const read = (script: string) => readScript(script, (word) => word === "/w")?.map(({ words }) => words);
		expect(read("cd /w && npm test")).toEqual([["npm", "test"]]);
		expect(read("cd /x && npm test")).toBeUndefined();
		expect(read("npm test && cd /w")).toBeUndefined();
		expect(read("cd /w")).toBeUndefined();
	});
});

/** Ways around lists of allowed commands that were reported in public, and everything that the reference names. */
const opaque = [
	"echo $HOME",
	"echo $(rm x)",
	"echo `rm x`",
	'echo "$(rm x)"',
	'echo "`rm x`"',
	'echo "a\\"b"',
	'echo "a!b"',
	"r\\m x",
	"ls & rm x",
	"ls &",
	"ls |& rm x",
	"ls > out",
	"ls >> out",
	"ls >out",
	"ls 1>/dev/null",
	"ls 3>/dev/null",
	"ls a2>&1",
	"ls 2>&1x",
	"ls >&2",
	"ls > /dev/nullx",
	"ls >/dev/null/../../tmp/x",
	"cat < x",
	"cat <(ls)",
	"cat <<EOF\nx\nEOF",
	"cat <<<x",
	"(rm x)",
	"{ rm x; }",
	"echo {a,b}",
	"ls *",
	"ls ?",
	"ls [a]",
	"ls ~",
	"ls ~root",
	"ls\rrm x",
	"ls\0rm",
	"ls\u00a0rm",
	"ls ä",
	"echo 'a\nb'",
	"echo 'a\tb'",
	"A=b ls",
	"A+=b ls",
	"PATH=. ls",
	"A=b",
	"if true; then rm x; fi",
	"for a in b; do rm x; done",
	"while true; do rm x; done",
	"! ls",
	"[[ a ]]",
	"time ls",
	"coproc ls",
	"function f",
	"f() { rm; }",
	". ./x",
	"source x",
	"eval rm x",
	"'eval' rm",
	"exec rm",
	"alias ls=rm",
	"set -- a",
	"shopt -s x",
	"trap rm EXIT",
	"enable -f x y",
	"hash -p /tmp/x ls",
	"builtin eval rm",
	"command rm x",
	"export PATH=.",
	"declare -x PATH=.",
	"typeset x",
	"local x",
	"readonly x",
	"unset PATH",
	"read x",
	"mapfile x",
	"pushd x",
	"popd",
	"cd x",
	"%1",
	"-c x",
	"printf -v PATH /tmp",
	"printf -vPATH /tmp",
	"printf '%d' 'a[$(rm x)]'",
	"printf '%d' 'a[`rm x`]'",
	"test -v 'a[$(rm x)]'",
	"test -v x",
	"test -R x",
	"test ! -v 'a[b]'",
	"test x -a -v x",
	"test 'a[$(rm x)]' -eq 0",
	"test 'a[b]' -eq 0",
	"test 1 -lt x",
	"test -t 'a[$(rm x)]'",
	"[ -v x ]",
	"exit 'a[$(rm x)]'",
	"return 'a[$x]'",
	"shift 'a[$(rm x)]'",
	"kill 'a[$(rm x)]'",
	"chdir /x",
	"compgen -C 'rm x'",
	"complete -C 'rm x' y",
	"bind -x 'rm'",
	"jobs -x rm x",
	"history -s rm",
	"nameref a=b",
	"ls;;rm",
	"; ls",
	"ls &&",
	"ls ||",
	"ls |",
	"| ls",
	"ls && && rm",
	"",
	"# only a comment",
	"echo 'unfinished",
	'echo "unfinished',
	"echo a#b",
	">/dev/null",
	"2>&1",
	"echo \ud800",
	`echo ${"a".repeat(10_001)}`,
	Array.from({ length: 51 }, () => "ls").join(";"),
];
test.each(opaque.map((script) => [script.slice(0, 60), script] as const))("opaque: %j", (_, script) => {
	expect(wordsOf(script)).toBeUndefined();
});

// ── Against bash and a second parser ───────────────────────────────────────────────────────────────────

const pieces: readonly (readonly [number, readonly string[]])[] = [
	[10, ["aa", "bb", "cc", "x1", "-o", "--all", "a/b", "./x", "../y", "/z", "a=b", "%1", "@x", "+x", ",", "0", "12", "2", "1"]],
	[6, [" ", "  ", "\t", "\n"]],
	[4, ["'", '"', "''", '""', "'a b'", '"c d"', "'$x'", "'`'", "'\\'", "'!'", "'*'", '"*"', "'#'"]],
	[4, ["&&", "||", ";", "|", " && ", " || ", " ; ", " | "]],
	[3, ["2>&1", ">/dev/null", "2>/dev/null", "&>/dev/null", "</dev/null", " 2>&1 ", " >/dev/null ", " &>/dev/null"]],
	[2, ["#", " # x y", "#'", "\n#z\n"]],
	[1, ["$", "`", "\\", "!", "(", ")", "{", "}", "*", "?", "[", "]", "~", "&", "<", ">", "=", "\r", "é", "$(", "<<", ">>"]],
	[1, ["if", "then", "fi", "time", "cd", "set", "A=", "A+=", "in", "do"]],
];

const fuzzed = (random: Random) => Array.from({ length: random.int(1, 12) }, () => random.pick(random.weighted(pieces))).join("");

/** The commands that run when each one ends with `status`. */
function executed(commands: readonly ScriptCommand[], status: number): string[][] {
	let runs = true;
	/** Of the last pipeline that ran. */
	let last = 0;
	return commands.flatMap(({ words, joined }) => {
		if (joined !== "|") runs = joined === "&&" ? last === 0 : joined === "||" ? last !== 0 : true;
		if (!runs) return [];
		const [name = ""] = words;
		// A path that leads nowhere fails without being looked for.
		const isLookedFor = !name.includes("/");
		last = isLookedFor ? status : 127;
		return isLookedFor ? [words] : [];
	});
}

/** Runs all scripts in one bash that finds no program, and gives the words of each command that it looked for. */
function bashWords(scripts: readonly string[], status: number): string[][][] {
	const folder = mkdtempSync(join(tmpdir(), "bowline-lexer-"));
	const file = join(folder, "scripts");
	writeFileSync(file, scripts.map((script) => `${script}\0`).join(""));
	const program = `PATH=/nowhere; exec 3>&1
command_not_found_handle() { local all; printf -v all '%s\x1f' "$@"; printf '%s\x1e' "$all" >&3; return ${status}; }
while IFS= read -r -d '' script <&4; do eval -- "$script" </dev/null >/dev/null 2>&1; printf '\x1d' >&3; done 4<"$1"`;
	try {
		const { stdout, stderr } = spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", program, "bash", file], {
			encoding: "utf8",
			env: { LC_ALL: "C.UTF-8" },
			maxBuffer: 1 << 28,
		});
		if (stderr) throw new Error(stderr);
		const split = (text: string, mark: string) => text.split(mark).slice(0, -1);
		return split(stdout, "\x1d").map((text) => split(text, "\x1e").map((command) => split(command, "\x1f")));
	} finally {
		rmSync(folder, { recursive: true });
	}
}

interface Node {
	type: string;
	command?: Node;
	commands?: Node[];
	name?: { value: string };
	suffix?: { type: string; value?: string }[];
}

/** The words of all simple commands in a tree; nothing for anything else. */
function simpleCommands(node: Node): string[][] {
	if (node.type === "Command")
		return [[node.name?.value ?? "", ...(node.suffix ?? []).flatMap(({ type, value }) => (type === "Word" ? [value ?? ""] : []))]];
	if (!["Script", "Statement", "AndOr", "Pipeline"].includes(node.type)) return [[`<${node.type}>`]];
	return [...(node.command ? [node.command] : []), ...(node.commands ?? [])].flatMap(simpleCommands);
}

/** A hundred thousand with BOWLINE_FUZZ=100000; fewer in every run. */
const count = Number(process.env.BOWLINE_FUZZ) || (process.env.EXHAUSTIVE ? 20_000 : 5000);
const seed = Number(process.env.BOWLINE_FUZZ_SEED) || 20261116;

test(`${count} fuzzed scripts (seed ${seed}): bash and a second parser read every accepted one as we do`, () => {
	const random = new Random(seed);
	const scripts = [...new Set(Array.from({ length: count }, () => fuzzed(random)))];
	const accepted = scripts.flatMap((script) => {
		const commands = readScript(script);
		return commands ? [{ script, commands }] : [];
	});
	expect(accepted.length).toBeGreaterThan(count / 50);
	const texts = accepted.map(({ script }) => script);
	const sorted = (commands: readonly (readonly string[])[]) => commands.map((words) => JSON.stringify(words)).sort();
	for (const status of [0, 1]) {
		const seen = bashWords(texts, status);
		expect(seen.length).toBe(accepted.length);
		const wrong = accepted.filter(({ commands }, index) => String(sorted(executed(commands, status))) !== String(sorted(seen[index] ?? [])));
		expect(wrong.map(({ script, commands }) => ({ script, commands, bash: seen[texts.indexOf(script)] })).slice(0, 5)).toEqual([]);
	}
	const wrong = accepted.filter(({ script, commands }) => {
		const tree = parse(script) as unknown as Node & { errors?: unknown[] };
		return tree.errors?.length || String(sorted(simpleCommands(tree))) !== String(sorted(commands.map(({ words }) => words)));
	});
	expect(wrong.map(({ script, commands }) => ({ script, commands, tree: simpleCommands(parse(script) as unknown as Node) })).slice(0, 5)).toEqual([]);
}, 120_000);
