/** How a model hands in a value instead of a text: the tool, the instructions for it, and the reminder when it forgets. */
import type { Policy } from "../agent/policy.ts";
import type { Tool, ValidateArguments } from "../agent/tool.ts";
import type { DeveloperMessage, ToolResult } from "../protocol/messages.ts";
import type { JsonSchema } from "./answer-schema.ts";

export const submitToolName = "submit_result";

/** `details` of a call that was accepted. */
export type Submitted = { status: "success"; data: unknown; schemaOverridden?: true } | { status: "error"; error: string };

export interface Submission {
	tool: Tool;
	policy: Policy;
	/** Says to the model what is asked for. */
	contract: string;
	/** What was handed in; nothing yet otherwise. */
	submitted(): Submitted | undefined;
}

export interface SubmissionLimits {
	/** How often a value of the wrong shape is sent back with the reasons. */
	refusals: number;
	/** Whether a wrong value after those is accepted and marked; otherwise it counts as a failure. */
	mayOverride: boolean;
	/** How often a model that stops without a value is reminded. */
	reminders: number;
}

export interface SubmissionParts {
	/** The required shape of the value; any when absent. */
	shape: JsonSchema | undefined;
	limits: SubmissionLimits;
	validate: ValidateArguments;
	now: () => number;
}

export function submission({ shape, limits, validate, now }: SubmissionParts): Submission {
	let submitted: Submitted | undefined;
	const tool = submitTool(shape, limits, validate, () => submitted !== undefined);
	const execute: Tool["execute"] = async (call) => {
		const result = await tool.execute(call);
		submitted = result.details as Submitted;
		return result;
	};
	return {
		tool: { ...tool, execute },
		policy: reminderPolicy(() => submitted !== undefined, limits.reminders, now),
		contract: contractOf(shape),
		submitted: () => submitted,
	};
}

/** What checks a value: the same schema as the tool's, which holds it as a member. */
export function valueChecker(shape: JsonSchema): JsonSchema {
	const { own, shared } = split(shape);
	return { type: "object", properties: { data: own }, required: ["data"], ...shared };
}

/** References begin at the root, so definitions must be there. */
function split({ $defs, definitions, $schema: _, ...own }: JsonSchema) {
	return { own, shared: { ...($defs ? { $defs } : {}), ...(definitions ? { definitions } : {}) } };
}

const error = { type: "string", description: "Why the assignment cannot be done. Only when it cannot." };

const parametersFor = (data: JsonSchema): JsonSchema => ({
	type: "object",
	properties: { result: { type: "object", properties: { data, error }, description: "Either data or error." } },
	required: ["result"],
});

/** The tool as sessions declare it that ask for values: the same for each schema, and while no value is asked for. Another one would cost the cache. */
export const declared: Pick<Tool, "description" | "parameters"> = {
	description: "Hand in the value that a message asks for with a JSON Schema. Call it only then, exactly once, as your last act.",
	parameters: parametersFor({ description: "The value." }),
};

/** Returns the tool that stays after a value was asked for. It refuses every call. */
export function idleSubmitTool(): Tool {
	const tool = submitTool(
		undefined,
		{ refusals: 0, mayOverride: false, reminders: 0 },
		async (_, args) => ({ args }),
		() => false,
	);
	return {
		...tool,
		...declared,
		async execute() {
			throw new Error("No value is asked for now. Answer in words.");
		},
	};
}

function submitTool(shape: JsonSchema | undefined, limits: SubmissionLimits, validate: ValidateArguments, isSubmitted: () => boolean): Tool {
	const { own, shared } = split(shape ?? {});
	const checked = valueChecker(shape ?? {});
	let mismatches = 0;
	return {
		name: submitToolName,
		label: "Submit result",
		effect: { kind: "none" },
		offered: "on request",
		view: { kind: "other", glyph: "⚑", answer: true },
		description: "Hand in the result of the assignment. Call it exactly once, as your last act: nothing you do afterwards counts.",
		hint: "Hand in the result, exactly once, at the end",
		parameters: { ...parametersFor({ description: "The result.", ...own }), ...shared },
		// A wrong shape is answered here and not by the general check, because it is refused only so often.
		accepted: parametersFor({}),
		concurrency: "exclusive",
		endsRun: true,
		adapt: unwrapped,
		async execute({ args }) {
			if (isSubmitted()) throw new Error("The result has been submitted already. There is nothing more to do.");
			const { data, error: problem } = args.result as { data?: unknown; error?: string };
			if (problem !== undefined && data === undefined) return answered({ status: "error", error: problem }, "The failure has been noted.");
			if (data === undefined || problem !== undefined) throw new Error("Give either result.data or result.error.");
			if (!shape) return answered({ status: "success", data }, "The result has been submitted.");
			const found = await problemsWith(data, checked, validate);
			if (!("problems" in found)) return answered({ status: "success", data: found.data }, "The result has been submitted.");
			mismatches += 1;
			const problems = found.problems.join("\n");
			if (mismatches <= limits.refusals) throw new Error(`The result does not have the required shape. Correct it and submit it again:\n${problems}`);
			const text = "The result has been submitted, though it does not have the required shape.";
			if (limits.mayOverride) return answered({ status: "success", data, schemaOverridden: true }, text);
			const failure = `The value does not have the required shape, after ${mismatches} attempts:\n${problems}`;
			return answered({ status: "error", error: failure }, failure);
		},
	};
}

function answered(details: Submitted, text: string): ToolResult {
	return { content: [{ type: "text", text }], details };
}

/** Models leave out the wrapper, or send it as text. */
function unwrapped(args: Record<string, unknown>): Record<string, unknown> {
	if (args.result === undefined) return "data" in args || "error" in args ? { result: args } : args;
	const result = typeof args.result === "string" ? parsed(args.result) : args.result;
	const isWrapper = typeof result === "object" && result !== null && ("data" in result || "error" in result);
	return { result: isWrapper ? result : { data: result } };
}

function parsed(text: string): unknown {
	if (!/^\s*\{/.test(text)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text; // It is not JSON, so it is the answer itself.
	}
}

/** A schema that cannot be used must not cost the answer: then anything fits. */
async function problemsWith(data: unknown, parameters: JsonSchema, validate: ValidateArguments): Promise<{ data: unknown } | { problems: string[] }> {
	try {
		const checked = await validate({ name: submitToolName, description: "", parameters }, { data });
		if ("args" in checked) return { data: checked.args.data };
		return { problems: checked.problems.map(({ path, message }) => `  - ${path}: ${message}`) };
	} catch {
		return { data };
	}
}

function contractOf(shape: JsonSchema | undefined): string {
	return [
		`When you are done, call ${submitToolName} with your result. Call it exactly once, as the last thing you do: text outside of it is not delivered.`,
		`If the assignment cannot be done, call it with an error that says why.`,
		...(shape ? [`The data of your result must fit this JSON Schema:\n${JSON.stringify(shape, null, 2)}`] : []),
	].join("\n");
}

/** A model that stops without a result is asked for it a few times. */
function reminderPolicy(isSubmitted: () => boolean, maxReminders: number, now: () => number): Policy {
	let count = 0;
	const isDue = ({ failure }: { failure: unknown }) => !failure && !isSubmitted() && count < maxReminders;
	return {
		name: "submit-reminder",
		foresee: isDue,
		async settle(outcome, gap) {
			if (gap.aborted || !isDue(outcome)) return undefined;
			count += 1;
			const content = `You stopped without calling ${submitToolName} (reminder ${count} of ${maxReminders}). Call it now with the result of your assignment, or with an error that says why there is none.`;
			const reminder: DeveloperMessage = { role: "developer", content, timestamp: now() };
			return { dropFailedReply: false, due: Promise.resolve(true), messages: [reminder], tool: submitToolName };
		},
	};
}
