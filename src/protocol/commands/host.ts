import Type from "typebox";
import { command, list, optional, orNull, shape, text, words } from "../define.ts";
import { samples } from "../examples.ts";
import { HostToolDefinition } from "../host-tools.ts";
import { TodoPhase, TodoPhaseInput } from "../todos.ts";

const SourceInfo = shape("SourceInfo", "Where a slash command comes from.", {
	path: text(),
	source: text(),
	scope: words("user", "project", "temporary"),
	origin: words("top-level", "package"),
	baseDir: optional(text()),
});

export const SlashCommands = list(
	shape("SlashCommand", "A name that may follow `/` in a prompt.", {
		name: text(),
		description: optional(text()),
		source: words("extension", "prompt", "skill", "builtin"),
		input: optional(Type.Object({ hint: text() }, { description: "Dialect `omp`, of built-in commands: what may follow the name." })),
		path: optional(text({ description: "Of the file it comes from, as in `sourceInfo`." })),
		location: optional(words("user", "project", "path")),
		sourceInfo: optional(SourceInfo),
	}),
);
const Commands = Type.Object({ commands: SlashCommands });

const slashExample = {
	send: {},
	data: { commands: [{ name: "review", description: "Review the last commit", source: "prompt" as const }] },
};

export const hostCommands = {
	set_todos: command({
		doc: "Replace the todo list. Answers with the normalised list.",
		lane: "serial",
		access: "seat",
		params: { phases: list(TodoPhaseInput) },
		result: Type.Object({ todoPhases: list(TodoPhase) }),
		example: {
			send: { phases: [{ name: "Repair", tasks: [{ content: "Find the cause", status: "in_progress" }] }] },
			data: { todoPhases: samples.todoPhases },
		},
	}),
	set_host_tools: command({
		doc: "Replace the tools that live in the host. All or nothing: on failure the old set stays.",
		lane: "serial",
		access: "seat",
		params: { tools: list(HostToolDefinition) },
		result: Type.Object({ toolNames: list(text()) }),
		example: {
			send: {
				tools: [
					{
						name: "ask_stock",
						description: "How many of an article are in stock.",
						parameters: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
					},
				],
			},
			data: { toolNames: ["ask_stock"] },
		},
	}),
	get_commands: command({
		doc: "The slash commands of this session.",
		lane: "serial",
		access: "read",
		params: {},
		result: Commands,
		example: slashExample,
	}),
	get_available_commands: command({
		doc: "Another name for `get_commands`.",
		lane: "serial",
		access: "read",
		params: {},
		result: Commands,
		example: slashExample,
	}),
	set_event_filter: command({
		doc: "Send only the named events; `null` sends all again. Responses, dialogs and host tool calls always pass.",
		lane: "serial",
		access: "read",
		params: { events: orNull(list(text())) },
		result: Type.Object({
			events: orNull(list(text())),
			hint: optional(text({ description: "For a person: names that no event has, and the ones that were probably meant." })),
		}),
		example: { send: { events: ["message_end", "agent_settled"] }, data: { events: ["message_end", "agent_settled"] } },
	}),
};
