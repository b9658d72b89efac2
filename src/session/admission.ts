/** From what was said to the messages a run begins with: hooks are asked, skills and templates expanded, asides put beside. */
import type { PromptSource, Setup } from "../agent/contracts.ts";
import type { Image, Text } from "../protocol/content.ts";
import type { AgentMessage, CustomMessage, UserMessage } from "../protocol/messages.ts";
import type { SessionParts } from "./dependencies.ts";
import { haltText } from "./halt.ts";
import { textOf } from "./inbox.ts";
import type { BusyPeriod, Said } from "./phase.ts";

type Parts = Pick<SessionParts, "hooks" | "expand">;

/** What becomes of it; nothing is left when an extension took it. */
export async function admitted({ messages, source }: Said, parts: Parts, signal: AbortSignal): Promise<AgentMessage[]> {
	if (source === undefined) return messages;
	const kept: AgentMessage[] = [];
	for (const message of messages) {
		const heard = message.role === "user" ? await answered(message, source, parts, signal) : message;
		// What code says is meant as it stands.
		if (heard) kept.push(source === "rpc" ? await expanded(heard, parts) : heard);
	}
	return kept;
}

/** The message with what its text stands for. */
export async function expanded<Message extends AgentMessage>(message: Message, { expand }: Parts): Promise<Message> {
	const [first, ...rest] = message.role === "user" && typeof message.content !== "string" ? (message.content as [Text]) : [];
	if (!first?.text?.startsWith("/")) return message;
	const text = await expand(first.text);
	return text === first.text ? message : { ...message, content: [{ ...first, text }, ...rest] };
}

export interface Doing {
	/** What extensions want to be said beside the next prompt. */
	asides: CustomMessage[];
	/** Why the model cannot be asked, if so. */
	unready: () => Promise<string | undefined>;
	setup: () => Promise<Setup>;
}

/** Why a prompt cannot run now; nothing when it can, and the policies have made room for it. */
export async function refusalOf(
	period: BusyPeriod,
	parts: SessionParts,
	{ asides, unready, setup }: Doing,
	aborted: string,
): Promise<string | undefined> {
	const { prompt, controller } = period;
	const { signal } = controller;
	period.systemPrompt = undefined;
	if (!prompt) return undefined;
	const refusal = haltText(parts.policies);
	if (refusal) return refusal;
	prompt.messages = await admitted(prompt, parts, signal);
	// An extension took it.
	if (prompt.messages.length === 0) return undefined;
	const problem = await unready();
	if (problem) return problem;
	for (const policy of parts.policies) await policy.prepare?.(prompt.messages, signal);
	const user = prompt.messages.find((message): message is UserMessage => message.role === "user");
	const beforeRun = signal.aborted ? undefined : parts.hooks?.beforeRun;
	const beside = user && beforeRun && (await beforeRun({ ...partsOf(user), systemPrompt: (await setup()).systemPrompt }, signal));
	if (signal.aborted) return aborted;
	// Making room may have cost what was left.
	const halted = haltText(parts.policies);
	if (halted) return halted;
	const wishes = parts.policies.flatMap((policy) => policy.beside?.() ?? []);
	prompt.toolChoice = wishes.find(({ tool }) => tool !== undefined)?.tool;
	prompt.messages.push(...wishes.flatMap(({ messages }) => messages), ...asides.splice(0), ...(beside?.messages ?? []));
	period.systemPrompt = beside?.systemPrompt;
	return undefined;
}

async function answered(message: UserMessage, source: PromptSource, { hooks }: Parts, signal: AbortSignal): Promise<UserMessage | undefined> {
	if (!hooks?.input) return message;
	const answer = await hooks.input({ ...partsOf(message), source }, signal);
	return answer === "handled" ? undefined : { ...message, content: [{ type: "text", text: answer.text }, ...answer.images] };
}

function partsOf(message: UserMessage): { text: string; images: Image[] } {
	const images = typeof message.content === "string" ? [] : message.content.filter((block) => block.type === "image");
	return { text: textOf(message), images };
}
