/** From what arrived as a prompt to the messages a run begins with: policies are asked, skills and templates expanded, room is made. */
import type { Next } from "../agent/loop.ts";
import type { Admission, IncomingPrompt, PromptText } from "../agent/policy.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { Text } from "../protocol/content.ts";
import type { AgentMessage, AssistantMessage, UserMessage } from "../protocol/messages.ts";
import type { BusyPeriod } from "./activity.ts";
import { problemWith } from "./conversation.ts";
import type { SessionParts } from "./dependencies.ts";
import { textOf } from "./inbox.ts";
import { aborted, halted, type Refusal } from "./refusal.ts";
import { contractMessage } from "./required-answer.ts";

type AdmitParts = Pick<SessionParts, "doors" | "expand">;

/** Decides the outcome of a prompt. No messages are left when a policy handled it. */
export async function admit(prompt: IncomingPrompt, { doors, expand }: AdmitParts, signal: AbortSignal): Promise<Admission> {
	const admission = (await doors.admit?.(prompt, signal)) ?? { messages: prompt.messages };
	// Text from code is literal; only a host's text may name a skill or a template.
	if ("refused" in admission || prompt.source !== "rpc") return admission;
	try {
		return { messages: await Promise.all(admission.messages.map((message) => expandMessage(message, expand, signal))) };
	} catch (error) {
		if (isCommandError(error)) return { refused: error.message, code: error.code };
		throw error;
	}
}

/** The message with its slash command expanded. */
export async function expandMessage<Message extends AgentMessage>(
	message: Message,
	expand: SessionParts["expand"],
	signal?: AbortSignal,
): Promise<Message> {
	const [first, ...rest] = message.role === "user" && typeof message.content !== "string" ? (message.content as [Text]) : [];
	if (!first?.text?.startsWith("/")) return message;
	const expanded = await expand(first.text, signal);
	if (expanded === first.text) return message;
	return { ...message, content: [...(typeof expanded === "string" ? [{ ...first, text: expanded }] : expanded), ...rest] };
}

/** Prepares the prompt of a period, and reports its outcome to the host. Returns nothing when no run starts. */
export async function prepareRun(period: BusyPeriod, parts: SessionParts): Promise<Next | undefined> {
	const { prompt } = period;
	if (!prompt) return undefined;
	const refusal = await getReady(period, parts);
	period.prompt = undefined;
	const { messages, toolChoice } = prompt;
	if (refusal) {
		prompt.refuse(refusal);
		return undefined;
	}
	const next: Next | undefined = messages.length > 0 ? { from: "prompt", messages, toolChoice } : prompt.resumes ? resumption(parts) : undefined;
	prompt.decide(next ? "started" : "handled");
	return next;
}

/** Where a run begins that goes on from the conversation. A reply that failed or was cut off is asked for again. */
function resumption({ conversation }: SessionParts): Next {
	const last = conversation.messages.at(-1);
	if (last?.role !== "assistant") return { from: "context" };
	if (isFinished(last)) return { from: "queues" };
	conversation.dropLastReply();
	return { from: "context" };
}

/** Whether nothing is owed after a reply. */
export function isFinished({ stopReason }: Pick<AssistantMessage, "stopReason">): boolean {
	return stopReason !== "error" && stopReason !== "aborted";
}

/** Why the prompt cannot run; nothing when it can, and policies have made room for it. */
async function getReady({ prompt, controller: { signal } }: BusyPeriod, parts: SessionParts): Promise<Refusal | undefined> {
	const { doors, briefing } = parts;
	briefing.override = undefined;
	briefing.answer = prompt?.answer;
	if (!prompt) return undefined;
	if (prompt.resumes && doors.halted) return halted(doors.halted);
	if (!prompt.resumes) {
		const admission = await admit(prompt, parts, signal);
		if ("refused" in admission) return { text: admission.refused, code: admission.code };
		prompt.messages = admission.messages;
		if (prompt.messages.length === 0) return undefined;
	}
	const problem = await ensureReady(parts, signal);
	if (problem) return problem;
	await doors.prepare?.(prompt.messages, signal);
	if (signal.aborted) return aborted;
	const user = prompt.messages.find((message): message is UserMessage => message.role === "user");
	const systemPrompt = async () => (await briefing.setup()).systemPrompt;
	const preface = await doors.preface?.({ user: user && promptText(user), systemPrompt }, signal);
	if (signal.aborted) return aborted;
	// Making room may have used up the budget.
	if (doors.halted) return halted(doors.halted);
	prompt.toolChoice = preface?.tool;
	if (prompt.answer) prompt.messages.push(contractMessage(prompt.answer, parts.edges.now()));
	prompt.messages.push(...(preface?.messages ?? []));
	briefing.override = preface?.systemPrompt;
	return undefined;
}

/** Makes sure that the model can be asked and that the conversation is one it accepts. Otherwise returns the reason. */
export async function ensureReady(
	{ briefing, conversation }: Pick<SessionParts, "briefing" | "conversation">,
	signal: AbortSignal,
): Promise<Refusal | undefined> {
	const refusal = await briefing.ensureModelReady(signal);
	if (refusal) return refusal;
	if (signal.aborted) return aborted;
	const problem = problemWith(() => {
		conversation.answerOpenCalls();
		conversation.addDeferred();
	});
	return problem === undefined ? undefined : { text: problem, code: "not_stored" };
}

/** The text and the images of a message. */
export function promptText(message: UserMessage): PromptText {
	const images = typeof message.content === "string" ? [] : message.content.filter((block) => block.type === "image");
	return { text: textOf(message), images };
}
