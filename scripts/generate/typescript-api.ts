/** docs/typescript-api.md: the exports of the package, from their sources. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "../../src/protocol/commands/index.ts";
import { type Declaration, declarationOf } from "./declarations.ts";

const root = join(import.meta.dirname, "..");
const cell = (text: string) => text.replaceAll("|", "\\|");
const code = (text: string) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);
const methodName = (command: string) => command.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const read = (path: string) => readFileSync(join(root, "src", path), "utf8");
const at = (path: string, name: string) => declarationOf(read(path), name);

function table({ members }: Declaration): string {
	if (members.length === 0) return "";
	const rows = members.map(({ signature, doc }) => `| ${code(cell(signature))} | ${cell(doc)} |`);
	return `| member | |\n|---|---|\n${rows.join("\n")}\n`;
}

function section(path: string, name: string, { level = "###", isTable = true } = {}): string {
	const declaration = at(path, name);
	return `${level} ${name}\n\n\`\`\`typescript\n${declaration.signature}\n\`\`\`\n\n${declaration.doc}\n\n${isTable ? table(declaration) : ""}`;
}

function commandTable(): string {
	const rows = Object.entries(commands)
		.filter(([, row]) => !("unsupported" in row && row.unsupported))
		.map(([name, row]) => {
			const params = Object.entries(row.params as Record<string, { "~optional"?: boolean }>);
			const members = params.map(([param, schema]) => `${param}${schema["~optional"] ? "?" : ""}`);
			const needed = params.some(([, schema]) => !schema["~optional"]);
			const given = members.length ? `{ ${members.join(", ")} }${needed ? "" : "?"}` : "";
			return `| [\`${methodName(name)}(${given})\`](protocol.md#${name}) | ${cell(row.doc.split(/(?<=\.) /)[0] as string)} |`;
		});
	return `| method | |\n|---|---|\n${rows.join("\n")}\n`;
}

/** Names that have their own place on the page. */
const described = new Set([
	"ExitError",
	"RequestError",
	"TimeoutError",
	"Client",
	"CustomTool",
	"CustomToolCall",
	"CustomToolResult",
	"Dialog",
	"DialogAnswer",
	"DialogHandler",
	"Exit",
	"ListenerTypes",
	"PromptOptions",
	"PromptOutcome",
	"RequestOptions",
	"WaitOptions",
]);

/** All other names that the index of the client passes on. */
function otherNames(): string[] {
	const lists = read("client/index.ts").matchAll(/^export (?:type )?\{ ([^}]*?) \} from "\.\/([^"]*)";$/gms);
	return [...lists].flatMap(([, names = "", file = ""]) =>
		names
			.split(/,\s*/)
			.map((name) => name.replace(/^type /, ""))
			.filter((name) => name && !described.has(name))
			.map((name) => section(`client/${file}`, name)),
	);
}

const extensionTypes = [
	"Extension",
	"ExtensionApi",
	"ExtensionContext",
	"ToolRegistration",
	"CommandRegistration",
	"FlagRegistration",
	"ProviderRegistration",
];

export function typescriptApiPage(): string {
	const client = "client/client.ts";
	const parts = [
		`# TypeScript API

This page is generated from the sources. For a guide with examples read [Embedding](embedding.md).

| import from | you get |
|---|---|
| \`bowline/client\` | \`startClient\`: an agent in a child process |
| \`bowline\` | \`createSession\`: an agent inside your process; types and helpers for [extensions](extensions.md) |
| \`bowline/protocol\` | the types of every command, event and shape in the [protocol](protocol.md), and lists of their names |

The entry points are ECMAScript modules. \`require()\` loads them too, and TypeScript finds types for both.

## bowline/client
`,
		section("client/index.ts", "startClient"),
		section("client/index.ts", "ClientOptions"),
		"`ClientOptions` also has the members of `ConversationOptions`:\n",
		table(at(client, "ConversationOptions")),
		"### Client\n\nAn agent as an object. It has the members below and a method for each command.\n",
		table({ ...at(client, "Conversation"), members: at(client, "Conversation").members.filter(({ name }) => name !== "start") }),
		`### Commands as methods

Each method takes the members of its command and resolves to the data of the answer. A second argument, [\`RequestOptions\`](#requestoptions), limits how long it
waits. The links lead to the members' types.
`,
		commandTable(),
		section("client/requests.ts", "RequestOptions"),
		section("client/runs.ts", "PromptOptions", { isTable: false }),
		section("client/runs.ts", "WaitOptions"),
		section("client/runs.ts", "PromptOutcome"),
		`### Events

\`client.on(name, listener)\` takes the name of any [event](protocol.md#events) and four other names:

| name | the listener receives |
|---|---|
| \`event\` | every event, also types that only other agents have |
| \`extension_ui_request\` | dialogs and notices of extensions |
| \`response\` | an answer that no request waits for, such as a prompt that failed after it was accepted |
| \`exit\` | an \`Exit\`: the agent has ended |
`,
		section("client/custom-tools.ts", "CustomTool"),
		section("client/custom-tools.ts", "CustomToolCall"),
		section("client/custom-tools.ts", "CustomToolResult"),
		section("client/dialogs.ts", "DialogHandler"),
		section("client/dialogs.ts", "Dialog"),
		section("client/dialogs.ts", "DialogAnswer"),
		section("client/channel.ts", "Exit"),
		section("client/errors.ts", "RequestError"),
		`### ErrorCode

\`\`\`typescript
export type ErrorCode
\`\`\`

The type of \`code\` in \`RequestError\` and \`ServerError\`: the words that [the list of codes](errors.md) explains, so that a misspelled \`case\` of a \`switch\` does
not compile. Agents of other kinds, and newer versions, may give others: keep a \`default\`. \`bowline/protocol\` exports it too.
`,
		section("client/errors.ts", "TimeoutError"),
		section("client/errors.ts", "ExitError"),
		...otherNames(),
		"## bowline\n",
		section("index.ts", "createSession"),
		"### SessionOptions\n\n`SessionOptions` has the members of `ConversationOptions` above, and:\n",
		table(at("embed/index.ts", "EmbedOptions")),
		"It also has a member for each flag:\n",
		table(at("embed/session-flags.generated.ts", "SessionFlags")),
		section("extensions/helpers.ts", "defineExtension"),
		section("extensions/helpers.ts", "defineTool"),
		"### Extensions\n\nThe events that an extension can handle are in [the guide](extensions.md).\n",
		...extensionTypes.map((name) => section("extensions/api.ts", name, { level: "####" })),
		`## bowline/protocol

| value | |
|---|---|
| \`commandLanes\` | every command and its lane |
| \`eventNames\` | the names of all events |
| \`thinkingLevels\` | the thinking levels, from \`off\` up |

Types for generic code: \`Command\`, \`CommandName\`, \`CommandParams<Name>\`, \`CommandResult<Name>\`, \`AgentEvent\`, \`EventName\`, \`EventOf<Name>\`, \`Response\`,
\`ErrorCode\`.
Each shape in [the protocol](protocol.md#shapes) is a type with the same name.
`,
	];
	return parts.join("\n").replace(/\n{3,}/g, "\n\n");
}
