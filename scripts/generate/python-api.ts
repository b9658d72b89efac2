/** docs/python-api.md: the public names of the Python client, from its sources. Python need not be installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../clients/python/bowline");
const cell = (text: string) => text.replaceAll("|", "\\|");

interface Method {
	name: string;
	/** Without `self`, in one line. */
	signature: string;
	doc: string;
	isProperty: boolean;
}

const paragraph = (text: string) =>
	text
		.replace(/``([^`]*)``/g, "`$1`")
		.replace(/\s+/g, " ")
		.trim();

/** The text of a class: its lines up to the next one that is not indented. */
function classText(source: string, name: string): string {
	const found = new RegExp(`^class ${name}\\b.*:\\n((?:(?: {4}.*)?\\n)*)`, "m").exec(source);
	if (!found) throw new Error(`There is no class ${name}`);
	return found[1] as string;
}

const docOf = (body: string, indent: string) => paragraph(new RegExp(`^${indent}"""([^]*?)"""`).exec(body)?.[1] ?? "");

/** Signatures can span lines; they end with a colon at the end of a line. */
function methodsOf(body: string): Method[] {
	const pattern = /^((?: {4}@.*\n)*) {4}(?:async )?def (\w+)\(((?:.|\n)*?)\)(?: -> (.+?))?:\n((?: {8}.*\n|\n)*)/gm;
	return [...body.matchAll(pattern)].map(([, decorators = "", name = "", parameters = "", gives = "None", rest = ""]) => {
		const isProperty = decorators.includes("@property");
		const list = parameters
			.replace(/\s+/g, " ")
			.trim()
			.replace(/^(?:self|cls)(, )?/, "")
			.replace(/,$/, "")
			.replace(/, timeout: Timeout = DEFAULT$/, "")
			.replace(/^\*$|, \*$/, "");
		const type = gives.replace(/"/g, "");
		return { name, isProperty, doc: docOf(rest, " {8}"), signature: isProperty ? `${name}: ${type}` : `${name}(${list}) -> ${type}` };
	});
}

function fieldsOf(body: string): Method[] {
	const fields = body.matchAll(/^ {4}([a-z]\w*): (.+?)(?: = (.+))?\n((?: {4}""".*"""\n)?)/gm);
	return [...fields].map(([, name = "", type = "", value, doc = ""]) => ({
		name,
		isProperty: true,
		doc: docOf(doc, " {4}"),
		signature: `${name}: ${type}${value === undefined || value.startsWith("field(") ? "" : ` = ${value}`}`,
	}));
}

/** Of errors: what the constructor keeps. Its parameters have the types. */
function attributesOf(body: string): Method[] {
	return [...body.matchAll(/^ {8}self\.([a-z]\w*) = (?:list\()?(\w+)/gm)].flatMap(([, name = "", from = ""]) => {
		const type = new RegExp(`\\b${from}: ((?:[^=,)[\\]]|\\[(?:[^[\\]]|\\[[^\\]]*\\])*\\])+?)(?: = |,|\\))`).exec(body)?.[1];
		return type ? [{ name, isProperty: true, doc: "", signature: `${name}: ${type.replace("Sequence", "List")}` }] : [];
	});
}

const isPublic = ({ name }: Method) => !name.startsWith("_");

function table(methods: Method[]): string {
	if (methods.length === 0) return "";
	return `| member | |\n|---|---|\n${methods.map(({ signature, doc }) => `| \`${cell(signature)}\` | ${cell(doc)} |`).join("\n")}\n`;
}

/** `commandsText` is given, because that file is generated in the same run. */
export function pythonApiPage(commandsText: string): string {
	const read = (name: string) => readFileSync(join(folder, name), "utf8");
	const sync = classText(read("client.py"), "Client");
	const connecting = methodsOf(classText(read("_connect.py"), "Connects").replaceAll("-> Connected:", "-> Client:"));
	const [made] = methodsOf(sync).filter(({ name }) => name === "__init__");
	const parameters = (made?.signature ?? "").replace(/^__init__\((.*)\) -> None$/, "$1").split(/, (?=\w+:|\*)/);
	const described = (name: string) => {
		const source = {
			AgentError: "errors.py",
			RequestError: "errors.py",
			RequestTimeout: "errors.py",
			ExitError: "errors.py",
			ServerError: "errors.py",
			RunResult: "run.py",
			HostTool: "tools.py",
			ToolCall: "tools.py",
			ServerClient: "server_client.py",
		}[name];
		const body = classText(read(source as string), name);
		const members = [...fieldsOf(body), ...attributesOf(body), ...methodsOf(body)];
		return `## ${name}\n\n${docOf(body, " {4}")}\n\n${table(members.filter((member) => isPublic(member) && (member.isProperty || member.doc)))}`;
	};
	const commands = methodsOf(classText(commandsText, "Commands")).filter(isPublic);
	const commandRows = commands.map(
		({ name, signature, doc }) =>
			`| [\`${cell(signature.replaceAll("protocol.", ""))}\`](protocol.md#${name}) | ${cell(doc.split(/(?<=\.) /)[0] as string)} |`,
	);
	const parts = [
		`# Python API

This page is generated from the sources. For a guide with examples read [the Python client](../clients/python/README.md).

| import from \`bowline\` | |
|---|---|
| [\`Client\`](#client) | for programs without an event loop |
| [\`AsyncClient\`](#asyncclient) | for asyncio |
| [\`HostTool\`](#hosttool), [\`ToolCall\`](#toolcall) | tools that run in your program |
| [\`RunResult\`](#runresult) | the outcome of a prompt |
| [\`AgentError\`](#agenterror), [\`RequestError\`](#requesterror), [\`RequestTimeout\`](#requesttimeout), [\`ExitError\`](#exiterror), [\`ServerError\`](#servererror) | errors |
| [\`ServerClient\`](#serverclient), [\`AsyncServerClient\`](#asyncserverclient) | the endpoints of a server as methods, and as coroutines |
| \`protocol\` | a \`TypedDict\` for every shape of [the protocol](protocol.md#shapes), with the same name |

## Client
`,
		`${docOf(sync, " {4}")}\n`,
		`\`\`\`\nClient(${parameters.map((each) => `\n    ${each},`).join("")}\n)\n\`\`\`\n`,
		table([...connecting, ...methodsOf(sync)].filter(isPublic)),
		`## AsyncClient

${docOf(classText(read("aio.py"), "AsyncClient"), " {4}")} It takes the parameters of \`Client\` and has the same members. Methods that wait are coroutines, \`events()\` is an
asynchronous iterator, and it is used with \`async with\`.

## Commands as methods

Both clients have a method for each command. It returns the data of the answer, and takes \`timeout=\`: seconds, or \`None\` for no limit. The links lead to the
members' types.

| method | |
|---|---|
${commandRows.join("\n")}
`,
		described("ServerClient"),
		`## AsyncServerClient\n\n${docOf(classText(read("server_client.py"), "AsyncServerClient"), " {4}")}\n`,
		...["HostTool", "ToolCall", "RunResult", "AgentError", "RequestError", "RequestTimeout", "ExitError", "ServerError"].map(described),
	];
	return parts
		.join("\n")
		.replace(/\n{3,}/g, "\n\n")
		.replace(/\n+$/, "\n");
}
