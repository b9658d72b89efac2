/** How a subagent hands in its answer: the tool, the instructions for it, and the reminder when it forgets. */
import type { Policy, Tool, ValidateArguments } from "../agent/contracts.ts";
import type { DeveloperMessage, ToolResult } from "../protocol/messages.ts";
import { answerSchema, type JsonSchema } from "./answer-schema.ts";

export const submitToolName = "submit_result";

/** `details` of a call that was accepted. */
export type Submitted = { status: "success"; data: unknown; schemaOverridden?: true } | { status: "error"; error: string };

export interface Submission {
	tool: Tool;
	policy: Policy;
	/** What the system prompt says about it. */
	contract: string;
}

const maxReminders = 3;

/** `schema` is the required shape of the answer as the sender or the agent's file gave it. */
export function submission({ schema, validate, now }: { schema: unknown; validate: ValidateArguments; now: () => number }): Submission {
	const shape = answerSchema(schema);
	let isSubmitted = false;
	const tool = submitTool(shape, validate, () => isSubmitted);
	const execute: Tool["execute"] = async (call) => {
		const result = await tool.execute(call);
		isSubmitted = true;
		return result;
	};
	return { tool: { ...tool, execute }, policy: reminderPolicy(() => isSubmitted, now), contract: contractOf(shape) };
}

function submitTool(shape: JsonSchema | undefined, validate: ValidateArguments, isSubmitted: () => boolean): Tool {
	const error = { type: "string", description: "Why the assignment cannot be done. Only when it cannot." };
	// References begin at the root, so definitions must be there.
	const { $defs, definitions, $schema: _, ...own } = shape ?? {};
	const shared = { ...($defs ? { $defs } : {}), ...(definitions ? { definitions } : {}) };
	const parameters = (data: JsonSchema) => ({
		type: "object",
		properties: { result: { type: "object", properties: { data, error }, description: "Either data or error." } },
		required: ["result"],
	});
	const checked = { type: "object", properties: { data: own }, required: ["data"], ...shared };
	let mismatches = 0;
	return {
		name: submitToolName,
		label: "Submit result",
		description: "Hand in the result of the assignment. Call it exactly once, as your last act: nothing you do afterwards counts.",
		hint: "Hand in the result, exactly once, at the end",
		parameters: { ...parameters({ description: "The result.", ...own }), ...shared },
		// A wrong shape is answered here, not by the general check: the second one is taken as it is.
		accepted: parameters({}),
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
			if (mismatches > 1)
				return answered(
					{ status: "success", data, schemaOverridden: true },
					"The result has been submitted, though it does not have the required shape.",
				);
			throw new Error(`The result does not have the required shape. Correct it and submit it again:\n${found.problems.join("\n")}`);
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
		`When you are done, call ${submitToolName} with your result. Call it exactly once, as the last thing you do: what you say outside of it reaches nobody.`,
		`If the assignment cannot be done, call it with an error that says why.`,
		...(shape ? [`The data of your result must fit this JSON Schema:\n${JSON.stringify(shape, null, 2)}`] : []),
	].join("\n");
}

/** A subagent that stops without a result is asked for it a few times. */
function reminderPolicy(isSubmitted: () => boolean, now: () => number): Policy {
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
