/** Tools that live in the host: the model calls them, the host answers over the wire. */
import type { Tool, ToolEffect, ToolExecution } from "../agent/tool.ts";
import { uuid } from "../lib/ids.ts";
import { toolProblem } from "../lib/tool-definition.ts";
import { effectProblem, pathsNamed } from "../lib/tool-effect.ts";
import { ToolFailure } from "../lib/tool-failure.ts";
import type { ToolSource } from "../live/tool-sources.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { HostToolCall, HostToolCancel, HostToolDefinition, HostToolEffect, HostToolResult, HostToolUpdate } from "../protocol/host-tools.ts";
import type { ToolResult } from "../protocol/messages.ts";
import { Calls } from "./calls.ts";

type Reply = { result: ToolResult; isError: boolean };

export interface HostToolsParts {
	send: (frame: HostToolCall | HostToolCancel) => void;
	now: () => number;
}

const closedText = "RPC client disconnected before host tool execution completed";

export class HostTools implements ToolSource {
	readonly name = "host";
	#parts: HostToolsParts;
	#calls: Calls<Reply>;
	#updates = new Map<string, ToolExecution["onUpdate"]>();
	#tools: Tool[] = [];
	#isClosed = false;

	constructor(parts: HostToolsParts) {
		this.#parts = parts;
		this.#calls = new Calls(() => uuid(parts.now()));
	}

	/** In the order in which the host named them. */
	tools(): readonly Tool[] {
		return this.#tools;
	}

	isOffered({ offered }: Tool): boolean {
		return offered === "default";
	}

	/** Replaces the whole set, or refuses it and keeps the old one. Returns the names. `taken`: names of tools that are not the host's. */
	set(definitions: readonly unknown[], taken: ReadonlySet<string>): string[] {
		const checked = definitions.map(checkDefinition);
		const names = checked.map(({ name }) => name);
		if (new Set(names).size !== names.length) throw new CommandError("bad_field", "RPC host tool names must be unique");
		const conflict = names.find((name) => taken.has(name));
		if (conflict !== undefined) throw new CommandError("bad_field", `RPC host tool "${conflict}" conflicts with an existing tool`);
		this.#tools = checked.map((definition) => this.#tool(definition));
		return names;
	}

	receive(frame: HostToolUpdate | HostToolResult): void {
		if (frame.type === "host_tool_update") {
			this.#updates.get(frame.id)?.(frame.partialResult);
			return;
		}
		// Progress that comes after the result is late, also when both are read at once.
		this.#updates.delete(frame.id);
		const { content, details } = frame.result;
		const isError = frame.isError === true;
		this.#calls.reply(frame.id, { result: { content: isError ? spoken(content) : content, details: details ?? {} }, isError });
	}

	/** The host is gone: every pending call fails. */
	close(): void {
		this.#isClosed = true;
		this.#calls.settleAll(failure(closedText));
	}

	#tool({ name, label, description, parameters, hidden = false, effect }: HostToolDefinition): Tool {
		return {
			name,
			label: label ?? name,
			description,
			parameters,
			concurrency: "shared",
			effect: effectOf(effect, parameters),
			offered: hidden ? "on request" : "default",
			execute: (call) => this.#execute(name, call),
		};
	}

	async #execute(toolName: string, { toolCallId, args, signal, onUpdate }: ToolExecution): Promise<ToolResult> {
		if (this.#isClosed) throw new Error(closedText);
		const abortedText = `Host tool "${toolName}" was aborted`;
		if (signal.aborted) throw new Error(abortedText);
		let id = "";
		const reply = await this.#calls.ask(
			(fresh) => {
				id = fresh;
				this.#updates.set(id, onUpdate);
				this.#parts.send({ type: "host_tool_call", id, toolCallId, toolName, arguments: args });
			},
			{
				signal,
				onAbort: () => {
					this.#parts.send({ type: "host_tool_cancel", id: uuid(this.#parts.now()), targetId: id });
					return failure(abortedText);
				},
			},
		);
		this.#updates.delete(id);
		if (reply.isError) throw new ToolFailure(reply.result);
		return reply.result;
	}
}

function failure(text: string): Reply {
	return { result: { content: [{ type: "text", text }], details: {} }, isError: true };
}

/** A failed call keeps what the host said; one that said nothing gets a stock sentence. */
function spoken(content: ToolResult["content"]): ToolResult["content"] {
	const hasWords = content.some((block) => block.type === "image" || (block.type === "text" && block.text.trim() !== ""));
	return hasWords ? content : [{ type: "text", text: "Host tool execution failed" }];
}

function checkDefinition(given: unknown, index: number): HostToolDefinition {
	const { name, label, description, parameters, hidden, effect } = (isObject(given) ? given : {}) as Record<string, unknown>;
	const trimmed = typeof name === "string" ? name.trim() : "";
	if (trimmed === "") throw new CommandError("bad_field", `Host tool at index ${index} must provide a non-empty name`);
	const text = typeof description === "string" ? description.trim() : "";
	if (text === "") throw new CommandError("bad_field", `Host tool "${trimmed}" must provide a non-empty description`);
	if (!isObject(parameters)) throw new CommandError("bad_field", `Host tool "${trimmed}" must provide a JSON Schema object`);
	const problem = toolProblem(trimmed, parameters) ?? (effect === undefined ? undefined : effectProblem(effect, parameters));
	if (problem) throw new CommandError("bad_field", `Host tool "${trimmed}" ${problem}`);
	return {
		name: trimmed,
		description: text,
		parameters,
		...(typeof label === "string" && label !== "" ? { label } : {}),
		...(hidden === true ? { hidden } : {}),
		...(effect === undefined ? {} : { effect: effect as HostToolEffect }),
	};
}

/** A tool that says nothing may do anything. */
function effectOf({ kind, paths }: HostToolEffect = { kind: "run" }, parameters: Record<string, unknown>): ToolEffect {
	return kind === "read" || kind === "write" ? { kind, ...(paths && { paths: pathsNamed(paths, parameters) }) } : { kind };
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
