/** Measures how much of the output of commands reaches the model. */
import type { Reply } from "../../test/models/wire.ts";
import { Place, prompt } from "./place.ts";
import { lastResult, Recorder } from "./recorder.ts";
import { TokenCounter } from "./tokens.ts";

interface Output {
	what: string;
	command: string;
	/** The fewest tokens that any of six agents lets through of such an output. */
	most: number;
}

export const outputs: readonly Output[] = [
	{ what: "5 MB of lines", command: "cat large.txt", most: 1144 },
	{ what: "a progress bar of 3,000 steps", command: "cat progress.txt", most: 755 },
	{ what: "a binary file", command: "cat program.bin", most: 1795 },
	{ what: "20,000 matches", command: "grep -n needle matches.txt", most: 13_854 },
	{ what: "3,000 lines of tests, three of them failures", command: "cat tests.txt; exit 1", most: 2714 },
];

const failing = [400, 1500, 2900];

const lines = (count: number, line: (number: number) => string) => Array.from({ length: count }, (_, index) => line(index + 1)).join("");

/** Returns bytes that look random and are the same everywhere. */
function noise(length: number): Buffer {
	const bytes = Buffer.alloc(length);
	for (let at = 0, state = 1; at < length; at++) {
		state = (state * 16_807) % 2_147_483_647;
		bytes[at] = state & 0xff;
	}
	return bytes;
}

const files = {
	"large.txt": lines(80_000, (number) => `step ${number}: compiled another module of the program, no problem\n`),
	"progress.txt": `${lines(3000, (number) => `\rDownloaded ${number} of 3000`)}\n`,
	"program.bin": noise(64 * 1024),
	"matches.txt": lines(20_000, (number) => `const value${number} = needle(${number * 7});\n`),
	"tests.txt": lines(3000, (number) => `${failing.includes(number) ? "FAIL" : "ok"} parses a file of kind ${number} (${number % 9} ms)\n`),
};

export interface Admitted {
	output: Output;
	text: string;
	tokens: number;
}

/** Runs each command once and returns what the next request says of it. */
export async function playOutputs(folder: string, program?: string): Promise<Admitted[]> {
	const tokens = new TokenCounter();
	const recorder = await Recorder.start(tokens);
	const place = new Place({ folder, program, recorder, files });
	const bash = ({ command }: Output): Reply => ({ call: { name: "bash", arguments: [JSON.stringify({ command })] } });
	try {
		const agent = place.agent("--set", "compaction.enabled=false");
		recorder.begin({ step: "outputs", replies: [...outputs.map(bash), { text: ["Seen."] }] });
		await prompt(agent, "Look at the files.");
		recorder.end();
	} finally {
		await place.close();
		await recorder.stop();
	}
	if (recorder.problems.length > 0) throw new Error(recorder.problems.join("; "));
	return outputs.map((output, index) => {
		const text = lastResult((recorder.recorded[index + 1] as (typeof recorder.recorded)[number]).request);
		return { output, text, tokens: tokens.count(text) };
	});
}

/** Returns how many of the failed tests the model can see. */
export const failuresIn = (text: string) => failing.filter((number) => text.includes(`FAIL parses a file of kind ${number} `)).length;
export const failures = failing.length;
