/** A commit message in the model's own words. Without a usable answer the task's description serves. */
import { open } from "node:fs/promises";
import type { Budget, Flow, StreamFunction } from "../agent/contracts.ts";
import type { Model } from "../protocol/model.ts";
import type { CapturedWork } from "./contracts.ts";

export interface MessageWriter {
	stream: StreamFunction;
	model: Model;
	budget: Budget | undefined;
	redact: (text: string) => string;
	now: () => number;
}

const patienceMs = 60_000;
const mostPatchBytes = 20_000;
const mostTokens = 400;
const mostCharacters = 2000;
const openFlow: Flow = { isOpen: true, whenOpen: async () => undefined };

const systemPrompt =
	"You write commit messages. Answer with the message alone: one line of at most 72 characters that says what the change does, and, only if it needs more, an empty line and a few short lines.";

export async function writeMessage(work: CapturedWork, writer: MessageWriter, signal: AbortSignal): Promise<string> {
	const { stream, model, budget, redact, now } = writer;
	const patch = work.delta.patchPath === undefined ? "" : await beginningOf(work.delta.patchPath);
	if (patch === "" || budget?.exceeded) return work.description;
	const prompt = `The task was: ${work.description}\n\nThe change:\n\n${redact(patch)}`;
	let text = "";
	await stream(
		{
			model,
			thinkingLevel: "off",
			systemPrompt,
			messages: [{ role: "user", content: [{ type: "text", text: prompt }], timestamp: now() }],
			tools: [],
			maxTokens: mostTokens,
			sessionId: `${work.id}-commit`,
		},
		{
			signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
			flow: openFlow,
			onEvent(event) {
				if (event.type === "error") budget?.spend({ usage: event.error.usage });
				if (event.type !== "done") return;
				budget?.spend({ usage: event.message.usage });
				text = event.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
			},
		},
	);
	const message = text.trim();
	return message === "" || message.length > mostCharacters ? work.description : message;
}

/** A patch may be larger than memory; its beginning is enough. Empty when it cannot be read. */
async function beginningOf(path: string): Promise<string> {
	const [file] = await Promise.allSettled([open(path, "r")]);
	if (file.status === "rejected") return "";
	try {
		const { buffer, bytesRead } = await file.value.read(Buffer.alloc(mostPatchBytes), 0, mostPatchBytes, 0);
		return buffer.toString("utf8", 0, bytesRead);
	} finally {
		await file.value.close();
	}
}
