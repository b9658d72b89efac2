/** Tools that live in the host: runs them when the model calls, and reports the result. */
import type { HostToolCall, HostToolDefinition, ToolResult } from "../protocol/types.generated.ts";

/** The result of a tool: a text, or blocks for the model and details for observers. */
export type CustomToolResult = string | ToolResult;

export interface CustomToolCall {
	toolCallId: string;
	/** Fires when the result is no longer wanted: the run was aborted, or the agent is gone. */
	signal: AbortSignal;
	/** Progress so far; each update replaces the previous one. */
	onUpdate(partial: CustomToolResult): void;
}

/** A tool of the host. If `execute` throws, the model receives a failure. */
export interface CustomTool<Args extends object = Record<string, unknown>> extends Omit<HostToolDefinition, "parameters"> {
	/** JSON Schema of the arguments. Arguments that do not fit never reach `execute`. */
	parameters: object;
	execute(args: Args, call: CustomToolCall): CustomToolResult | Promise<CustomToolResult>;
}

export class ToolCalls {
	#find: (name: string) => CustomTool | undefined;
	#send: (frame: object) => void;
	#open = new Map<string, AbortController>();

	constructor(find: (name: string) => CustomTool | undefined, send: (frame: object) => void) {
		this.#find = find;
		this.#send = send;
	}

	/** Runs the tool and answers, unless the call was cancelled meanwhile. Never rejects. */
	async run({ id, toolCallId, toolName, arguments: args = {} }: HostToolCall): Promise<void> {
		const controller = new AbortController();
		const { signal } = controller;
		this.#open.set(id, controller);
		const isOpen = () => this.#open.get(id) === controller;
		const onUpdate = (partial: CustomToolResult) => {
			if (isOpen()) this.#send({ type: "host_tool_update", id, partialResult: asResult(partial) });
		};
		let answer: { result: ToolResult; isError?: true };
		try {
			const tool = this.#find(toolName);
			if (!tool) throw new Error(`The host has no tool ${toolName}`);
			answer = { result: asResult(await tool.execute(args, { toolCallId, signal, onUpdate })) };
		} catch (error) {
			answer = failure(error);
		}
		if (!isOpen()) return;
		this.#open.delete(id);
		try {
			this.#send({ type: "host_tool_result", id, ...answer });
		} catch (error) {
			// A result that is not JSON, such as one that contains itself.
			this.#send({ type: "host_tool_result", id, ...failure(error) });
		}
	}

	cancel(id: string): void {
		const controller = this.#open.get(id);
		this.#open.delete(id);
		controller?.abort();
	}

	cancelAll(): void {
		for (const id of [...this.#open.keys()]) this.cancel(id);
	}
}

function asResult(given: CustomToolResult): ToolResult {
	if (typeof given === "string") return { content: [{ type: "text", text: given }] };
	if (!Array.isArray(given?.content)) throw new TypeError("a tool must return a text, or an object with a content array");
	return given;
}

function failure(error: unknown): { result: ToolResult; isError: true } {
	return { result: asResult(error instanceof Error ? error.message : String(error)), isError: true };
}

export function definitionOf({ name, label, description, parameters, hidden, effect }: CustomTool): object {
	return { name, label, description, parameters, hidden, effect };
}
