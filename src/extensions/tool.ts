/** Makes a tool from an extension's registration. */
import type { Tool, ToolEffect } from "../agent/contracts.ts";
import { pathsNamed } from "../lib/tool-effect.ts";
import { ToolFailure } from "../lib/tool-failure.ts";
import type { ToolResult } from "../protocol/messages.ts";
import { contentIn, jsonIn, objectOf } from "./answers.ts";
import type { ToolRegistration } from "./api.ts";
import { untilEither } from "./chain.ts";
import { contextOf } from "./context.ts";
import type { Link } from "./link.ts";

export function toolOf(tool: ToolRegistration, path: string, link: Link): Tool {
	const { name, label = name, description, hint, parallel } = tool;
	// As JSON, the only form that models and our own check understand.
	const parameters = JSON.parse(JSON.stringify(tool.parameters));
	return {
		name,
		label,
		effect: effectOf(tool, parameters),
		offered: "default",
		description,
		parameters,
		concurrency: parallel === true ? "shared" : "exclusive",
		...(hint === undefined ? {} : { hint }),
		async execute({ toolCallId, args, signal: given, onUpdate }) {
			const { signal, release } = untilEither(given, link.ended);
			try {
				const update = (partial: ToolResult) => onUpdate(resultOf(partial, name));
				const outcome = await link.waitingFor(
					path,
					name,
					tool.execute(toolCallId, args, signal, update, contextOf(link, path, signal, { toolCallId })),
				);
				const result = resultOf(outcome, name);
				if ((outcome as { isError?: unknown }).isError === true) throw new ToolFailure(result);
				return result;
			} finally {
				release();
			}
		},
	};
}

/** A tool that says nothing may do anything. */
function effectOf({ effect: { kind, paths } = { kind: "run" } }: ToolRegistration, parameters: Record<string, unknown>): ToolEffect {
	return kind === "read" || kind === "write" ? { kind, ...(paths && { paths: pathsNamed(paths, parameters) }) } : { kind };
}

function resultOf(given: unknown, name: string): ToolResult {
	let result: Partial<ToolResult>;
	try {
		const answer = objectOf(given) ?? {};
		result = { content: contentIn(answer, "content"), details: jsonIn(answer, "details").details ?? {} };
	} catch (error) {
		throw new Error(`Tool ${name} of an extension: ${(error as Error).message}`);
	}
	const { content, details } = result;
	if (!content) throw new Error(`Tool ${name} of an extension returned no content. It must return { content: [{ type: "text", text }] }.`);
	return { content, details };
}
