/** The object that a factory gets: it records registrations, and passes everything else to the session once there is one. */
import { effectProblem } from "../lib/tool-effect.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { Change, ExtensionActions } from "./actions.ts";
import { contentOf, jsonIn, ownMessage, textsIn } from "./answers.ts";
import type { CommandInfo, ExtensionApi, RegisteredMcpServer } from "./api.ts";
import { eventKinds } from "./events.ts";
import { type Link, textOf } from "./link.ts";
import type { Registrations } from "./registrations.ts";

const toolName = /^[A-Za-z0-9_-]{1,64}$/;
const serverName = /^[A-Za-z0-9_-]{1,64}$/;
const flagName = /^[A-Za-z][A-Za-z0-9-]*$/;
const commandName = /^[^\s/]\S*$/;

/** What all extensions have registered. */
export interface Others {
	commands: () => CommandInfo[];
	mcpServers: () => RegisteredMcpServer[];
}

export function extensionApi(own: Registrations, link: Link, others: Others): ExtensionApi {
	const act = (what: string): ExtensionActions => {
		requireLoaded(what);
		return link.actionsFor(what);
	};
	const requireLoaded = (what: string) => {
		if (own.isDropped) throw new Error(`${what} is not possible: the extension failed to load.`);
		if (link.ended.aborted) throw new Error(`${what} is not possible any more: the extension was unloaded.`);
	};
	const changed = (what: Change) => {
		if (link.isBound) link.actionsFor(what).changed?.(what);
	};
	const send = async (command: "extension_send" | "extension_send_user", actions: ExtensionActions, work: () => void | Promise<void>) => {
		try {
			await work();
		} catch (error) {
			actions.sendFailed(command, textOf(error), isCommandError(error) ? error.code : "failed");
		}
	};

	return {
		on(event, handler) {
			requireLoaded("on");
			requireThat(typeof handler === "function", `The handler of ${event} must be a function`);
			if (!Object.hasOwn(eventKinds, event)) link.warn(`Extension ${own.path} listens to ${String(event)}, which never happens here.`);
			// A new list each time, so that an iteration over the old one is not disturbed.
			own.handlers.set(event, [...(own.handlers.get(event) ?? []), handler]);
			changed("handlers");
		},
		registerTool(tool) {
			requireLoaded("registerTool");
			requireThat(toolName.test(tool?.name), `The name of a tool must have 1 to 64 letters, digits, _ or -: ${JSON.stringify(tool?.name)}`);
			requireThat(typeof tool.description === "string", `Tool ${tool.name}: description must be a string`);
			requireThat(typeof tool.parameters === "object" && tool.parameters !== null, `Tool ${tool.name}: parameters must be a JSON Schema`);
			jsonIn({ parameters: tool.parameters }, "parameters", `Tool ${tool.name}: parameters`);
			requireThat(typeof tool.execute === "function", `Tool ${tool.name}: execute must be a function`);
			const wrong = tool.effect === undefined ? undefined : effectProblem(tool.effect, tool.parameters as Record<string, unknown>);
			requireThat(wrong === undefined, `Tool ${tool.name} ${wrong}`);
			own.tools.set(tool.name, tool as never);
			changed("tools");
		},
		registerCommand(name, command) {
			requireLoaded("registerCommand");
			requireThat(commandName.test(name), `The name of a command must be one word without a slash: ${JSON.stringify(name)}`);
			requireThat(typeof command?.handler === "function", `Command ${name}: handler must be a function`);
			own.commands.set(name, command);
			changed("commands");
		},
		registerFlag(name, flag) {
			requireLoaded("registerFlag");
			requireThat(flagName.test(name), `The name of a flag must be letters, digits and -: ${JSON.stringify(name)}`);
			requireThat(flag?.type === "boolean" || flag?.type === "string", `Flag ${name}: type must be "boolean" or "string"`);
			own.flags.set(name, flag);
		},
		getFlag(name) {
			const flag = own.flags.get(name);
			return flag && (link.flagValues.get(name) ?? flag.default);
		},
		registerShortcut: () => undefined,
		registerMessageRenderer: () => undefined,

		sendMessage(message, options = {}) {
			const actions = act("sendMessage");
			const whole = ownMessage({ ...message }, "sendMessage: ");
			requireWord(options.deliverAs, ["steer", "followUp", "nextTurn"], "sendMessage: deliverAs");
			void send("extension_send", actions, () => actions.sendMessage(whole, options));
		},
		sendUserMessage(content, options = {}) {
			const actions = act("sendUserMessage");
			const said = contentOf(content, "sendUserMessage: content");
			requireWord(options.deliverAs, ["steer", "followUp"], "sendUserMessage: deliverAs");
			void send("extension_send_user", actions, () => actions.sendUserMessage(said, options));
		},
		appendEntry(customType, data) {
			requireThat(typeof customType === "string", "appendEntry: customType must be a string");
			act("appendEntry").appendEntry(customType, jsonIn({ data }, "data", "appendEntry: data").data);
		},
		setSessionName: (name) => act("setSessionName").setSessionName(name),
		getSessionName: () => act("getSessionName").getSessionName(),
		setLabel: (entryId, label) => act("setLabel").setLabel(entryId, label),
		exec: async (file, args = [], options = {}) => act("exec").exec(file, args, options),

		getActiveTools: () => act("getActiveTools").getActiveTools(),
		setActiveTools: (names) => act("setActiveTools").setActiveTools(textsOf(names, "setActiveTools: names")),
		getAllTools: () => act("getAllTools").getAllTools(),
		getCommands: () => [...others.commands(), ...act("getCommands").getCommands()],

		async setModel(model) {
			const actions = act("setModel");
			const isModel = typeof model?.provider === "string" && typeof model.id === "string";
			requireThat(isModel, "setModel: the model must have a provider and an id, as those of modelRegistry have");
			return actions.setModel(model);
		},
		getThinkingLevel: () => act("getThinkingLevel").getThinkingLevel(),
		setThinkingLevel: (level) => act("setThinkingLevel").setThinkingLevel(level),
		getSettings: () => act("getSettings").settings(),
		registerProvider(name, provider) {
			requireLoaded("registerProvider");
			requireThat(typeof name === "string" && name !== "", "registerProvider: name must be a string");
			requireThat(typeof provider === "object" && provider !== null, `Provider ${name}: must be an object`);
			jsonIn({ provider }, "provider", `Provider ${name}`);
			own.providers.set(name, provider);
			changed("providers");
		},
		unregisterProvider(name) {
			requireLoaded("unregisterProvider");
			if (own.providers.delete(name)) changed("providers");
		},
		registerMcpServer(name, config) {
			requireLoaded("registerMcpServer");
			requireThat(serverName.test(name), `The name of an MCP server must have 1 to 64 letters, digits, _ or -: ${JSON.stringify(name)}`);
			requireThat(typeof config === "object" && config !== null && !Array.isArray(config), `MCP server ${name}: the entry must be an object`);
			own.mcpServers.set(name, jsonIn({ config }, "config", `MCP server ${name}`).config as object);
			changed("mcpServers");
		},
		unregisterMcpServer(name) {
			requireLoaded("unregisterMcpServer");
			if (own.mcpServers.delete(name)) changed("mcpServers");
		},
		getMcpServers: () => others.mcpServers(),
		events: link.busOf(own.path),
	};
}

function requireThat(isTrue: boolean, problem: string): void {
	if (!isTrue) throw new TypeError(problem);
}

function textsOf(value: unknown, what: string): string[] {
	requireThat(value !== undefined && value !== null, `${what} must be a list of strings`);
	return textsIn({ [what]: value }, what);
}

function requireWord(value: string | undefined, words: string[], what: string): void {
	requireThat(value === undefined || words.includes(value), `${what} must be one of ${words.join(", ")}`);
}
