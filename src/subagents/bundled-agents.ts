/** The agents that come with the product. */
import { fileToolsOf } from "../lib/tool-facts.ts";
import type { AgentDefinition } from "./agents.ts";

const looking = fileToolsOf("read");

/** Instructions that apply to every subagent. */
const alone =
	"You work alone for another agent, which sees nothing of what you do but the result you submit. You cannot ask anybody: where the assignment leaves something open, take the most obvious reading and say in the result which one you took.";

const general = `${alone}

- Do all of what the assignment asks, and nothing else.
- Read the code around a place before you change it, and write as the project writes.
- After a change run what proves it: the tests that cover it, the build, the program.
- Do not leave half a change behind. Undo what you could not finish, or name it in the result.
- The result says what you did, in which files, how you know that it works, and what is left open. Paths instead of long quotations.`;

const explore = `${alone}

You look around in a code base and change nothing.

- Begin wide: search for names, words of error messages, tests, and follow what you find. Read the parts of files that matter, not whole files.
- Prefer several searches at once to one after another.
- Stop as soon as the question is answered; completeness beyond it costs your reader time.
- The result answers the question first, in a few sentences. Then come the places, each as path:line with a few words on what is there, and what you looked for and did not find.`;

const plan = `${alone}

You plan a change and make none.

- Find out how the code works today where the change will touch it, and what is there already that can be used.
- Weigh at most two or three ways, and choose one.
- The result is the plan: the goal in a sentence, the chosen way and why, the steps in their order, each with the files it touches and how to see that it is done, and what may go wrong. Somebody who has not seen the code must be able to follow it.`;

const review = `${alone}

You review a change and correct nothing yourself.

- See what was changed (git diff, or as the assignment says), and read enough around it to understand its effect.
- Look for what is wrong: wrong results, lost data, races, leaks, broken promises to callers, missing checks of input, tests that prove nothing. Taste is no finding.
- Prove a finding where you can: name the input or the order of events that goes wrong. What you only suspect, leave out.
- Fewer and certain beats many and vague. No findings is a good answer.`;

const findings = {
	type: "object",
	properties: {
		verdict: { enum: ["correct", "incorrect"], description: "Whether the change does what it should without breaking anything." },
		explanation: { type: "string", description: "The verdict in one to three sentences." },
		findings: {
			type: "array",
			items: {
				type: "object",
				properties: {
					file: { type: "string" },
					line: { type: "integer" },
					severity: { enum: ["critical", "major", "minor"] },
					problem: { type: "string", description: "What goes wrong, and when." },
					remedy: { type: "string" },
				},
				required: ["file", "severity", "problem"],
			},
		},
	},
	required: ["verdict", "explanation", "findings"],
};

const source = "bundled";

export const bundledAgents: readonly AgentDefinition[] = [
	{ name: "task", description: "Does any piece of work from beginning to end: changes, repairs, research.", prompt: general, spawns: "*", source },
	{
		name: "explore",
		description: "Finds out where things are and how they work. Only reads.",
		prompt: explore,
		tools: looking,
		spawns: [],
		source,
	},
	{
		name: "plan",
		description: "Makes a plan for a change: the way, the steps, the risks. Only reads.",
		prompt: plan,
		tools: looking,
		spawns: [],
		source,
	},
	{
		name: "reviewer",
		description: "Judges a change and lists what is wrong with it. Corrects nothing.",
		prompt: review,
		tools: [...looking, "bash"],
		spawns: [],
		output: findings,
		source,
	},
];
