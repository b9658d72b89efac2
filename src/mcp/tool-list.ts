/** The tools that a server names, as far as a model can be offered them. */

import { fitsStars } from "../lib/stars.ts";
import type { ServerConfig } from "./config.ts";
import { isObject } from "./config.ts";
import type { Json } from "./peer.ts";

export interface ServerTool {
	/** The server's own name. */
	name: string;
	label: string;
	description: string;
	inputSchema: Json;
	isReadOnly: boolean;
	/** Arguments that are repeated in headers, by the names of the headers. */
	headers: readonly ParameterHeader[];
}

export interface ParameterHeader {
	header: string;
	/** The way through `properties`. */
	path: readonly string[];
}

export interface ToolList {
	/** Sorted by name. */
	tools: ServerTool[];
	/** Why some are left out. */
	problems: string[];
}

const longestDescription = 2000;
const largestSchema = 64 * 1024;
const deepest = 32;

export function readTools(listed: readonly unknown[], config: Pick<ServerConfig, "name" | "tools" | "excludeTools">): ToolList {
	const tools = new Map<string, ServerTool>();
	const problems: string[] = [];
	for (const tool of listed) {
		if (!isObject(tool) || typeof tool.name !== "string" || tool.name === "") continue;
		const { name } = tool;
		if (config.tools && !config.tools.some((pattern) => fitsStars(pattern, name))) continue;
		if (config.excludeTools.some((pattern) => fitsStars(pattern, name))) continue;
		const read = readTool(tool, name);
		if (typeof read === "string") problems.push(`MCP server ${JSON.stringify(config.name)}: the tool ${name.slice(0, 100)} is left out: ${read}.`);
		else if (!tools.has(name)) tools.set(name, read);
	}
	return { tools: [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

/** The tool, or why it is left out. */
function readTool(tool: Json, name: string): ServerTool | string {
	const { inputSchema, description, title } = tool;
	const annotations = isObject(tool.annotations) ? tool.annotations : {};
	if (!isObject(inputSchema)) return "its inputSchema is not an object";
	if (inputSchema.type !== undefined && inputSchema.type !== "object") return `its inputSchema is of type ${JSON.stringify(inputSchema.type)}`;
	const problem = schemaProblem(inputSchema);
	if (problem !== undefined) return problem;
	const headers = parameterHeaders(inputSchema);
	if (typeof headers === "string") return headers;
	const label = [title, annotations.title].find((each) => typeof each === "string" && each !== "") as string | undefined;
	const text = typeof description === "string" ? description : "";
	return {
		name,
		label: (label ?? name).slice(0, 200),
		description: text.length > longestDescription ? `${text.slice(0, longestDescription)}…` : text || (label ?? name),
		inputSchema: inputSchema.type === undefined ? { type: "object", ...inputSchema } : inputSchema,
		isReadOnly: annotations.readOnlyHint === true,
		headers,
	};
}

/** Walks without recursion: a stranger's schema may be as deep as it likes. */
function schemaProblem(schema: Json): string | undefined {
	const waiting: [unknown, number][] = [[schema, 1]];
	for (let next = waiting.pop(); next; next = waiting.pop()) {
		const [value, depth] = next;
		if (typeof value !== "object" || value === null) continue;
		if (depth > deepest) return `its inputSchema is nested deeper than ${deepest}`;
		for (const [key, child] of Object.entries(value)) {
			if (key === "$ref" && typeof child === "string" && !child.startsWith("#"))
				return `its inputSchema refers to ${child.slice(0, 200)}, which is not fetched`;
			waiting.push([child, depth + 1]);
		}
	}
	return JSON.stringify(schema).length > largestSchema ? `its inputSchema is larger than ${largestSchema / 1024} KB` : undefined;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const headerTypes = ["string", "integer", "boolean"];

/** The arguments marked with `x-mcp-header`, or what is wrong with a mark. */
function parameterHeaders(schema: Json): ParameterHeader[] | string {
	const found: ParameterHeader[] = [];
	const names = new Set<string>();
	let problem: string | undefined;
	const visit = (value: unknown, path: readonly string[] | undefined, isSchema: boolean): void => {
		if (problem !== undefined || typeof value !== "object" || value === null) return;
		const facts = value as Json;
		if (isSchema && facts["x-mcp-header"] !== undefined) {
			const header = facts["x-mcp-header"];
			const shown = JSON.stringify(header) ?? "";
			if (typeof header !== "string" || header === "" || !token.test(header))
				problem = `x-mcp-header ${shown.slice(0, 100)} is not the name of a header`;
			else if (names.has(header.toLowerCase())) problem = `x-mcp-header ${header} occurs twice`;
			else if (!headerTypes.includes(facts.type as string))
				problem = `x-mcp-header ${header} is on an argument that is not a string, an integer or a boolean`;
			else if (!path?.length) problem = `x-mcp-header ${header} is not on a property`;
			else {
				names.add(header.toLowerCase());
				found.push({ header, path });
			}
		}
		for (const [key, child] of Object.entries(facts)) {
			if (isSchema && key === "properties" && isObject(child)) {
				for (const [name, property] of Object.entries(child)) visit(property, path && [...path, name], true);
			} else if (key !== "default" && key !== "enum" && key !== "const" && key !== "examples") visit(child, undefined, !Array.isArray(child));
		}
	};
	visit(schema, [], true);
	return problem ?? found;
}
