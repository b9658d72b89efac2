/** The Python client's shapes and methods, made from the same JSON Schema that hosts read. */
import { commands } from "../../src/protocol/commands/index.ts";
import type { Schema } from "./schemas.ts";

type Json = Record<string, unknown>;

const head = "# Generated from schema/protocol.json by `npm run generate`. Do not edit.\n";
const scalars: Record<string, string> = { string: "str", number: "float", integer: "int", boolean: "bool", null: "None", void: "None" };

const pascal = (name: string) =>
	name
		.split(/[_\W]/)
		.map((part) => part.charAt(0).toUpperCase() + part.slice(1))
		.join("");
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const className = (title: string) => (title.startsWith("event:") ? `${pascal(title.slice(6))}Event` : pascal(title));
/** Words of the protocol that are keywords of Python get an underscore. */
const keywords = new Set([
	"and",
	"as",
	"class",
	"def",
	"del",
	"else",
	"except",
	"for",
	"from",
	"global",
	"if",
	"import",
	"in",
	"is",
	"lambda",
	"not",
	"or",
	"pass",
	"return",
	"try",
	"with",
]);
const parameterName = (wire: string) => (keywords.has(wire) ? `${wire}_` : snake(wire));
const literal = (value: unknown) => JSON.stringify(value);
const referred = ({ $ref = "" }: Schema) => className($ref.replace("#/$defs/", ""));

/** Collects classes in the order in which they are needed. */
class Shapes {
	readonly texts = new Map<string, string>();

	/** The type of a value; an object without a name of its own gets `name`. */
	type(schema: Schema, name: string): string {
		if (schema.$ref) return referred(schema);
		if ("const" in schema) return `Literal[${literal(schema.const)}]`;
		if (schema.enum) return `Literal[${schema.enum.map(literal).join(", ")}]`;
		if (schema.anyOf) return this.union(schema.anyOf, name);
		if (schema.type === "array") return `List[${this.type(schema.items ?? {}, `${name}Item`)}]`;
		if (schema.type === "object") {
			const [value = {}] = Object.values(schema.patternProperties ?? {});
			return schema.properties ? this.shape(name, schema) : `Dict[str, ${this.type(value, `${name}Value`)}]`;
		}
		return scalars[schema.type ?? ""] ?? "Any";
	}

	/** Makes the definition known under its name. */
	define(title: string, schema: Schema): void {
		const name = className(title);
		if (schema.properties) this.shape(name, schema);
		else this.texts.set(name, `${name} = ${quoted(this.type(schema, name))}\n${doc(schema, "")}`);
	}

	private union(members: Schema[], name: string): string {
		const isAlone = members.filter((member) => member.properties).length === 1;
		const types = members.map((member, index) => this.type(member, isAlone ? name : `${name}${index + 1}`));
		return types.length === 1 ? (types[0] as string) : `Union[${[...new Set(types)].join(", ")}]`;
	}

	private shape(name: string, schema: Schema): string {
		const { properties = {}, required = [] } = schema;
		const names = Object.keys(properties);
		// A class cannot have members that are called like a keyword.
		if (names.some((key) => keywords.has(key)) && names.every((key) => required.includes(key))) {
			const rows = Object.entries(properties).map(([key, value]) => `        "${key}": ${quoted(this.type(value, name + pascal(key)))},\n`);
			this.texts.set(name, `${name} = TypedDict(\n    "${name}",\n    {\n${rows.join("")}    },\n)\n${doc(schema, "")}`);
			return name;
		}
		const rows = Object.entries(properties).map(([key, value]) => {
			const note = value.description ? `    # ${value.description}\n` : "";
			return { isRequired: required.includes(key), text: `${note}    ${key}: ${this.type(value, name + pascal(key))}\n` };
		});
		const needed = rows.filter(({ isRequired }) => isRequired).map(({ text }) => text);
		const free = rows.filter(({ isRequired }) => !isRequired).map(({ text }) => text);
		// NotRequired came with Python 3.11: before it, what may be absent needs a class of its own.
		const isSplit = needed.length > 0 && free.length > 0;
		const base = isSplit ? `class _${name}(TypedDict):\n${needed.join("")}\n\n` : "";
		const heading = isSplit ? `class ${name}(_${name}, total=False):\n` : `class ${name}(TypedDict${needed.length ? "" : ", total=False"}):\n`;
		const body = (isSplit ? free : rows.map(({ text }) => text)).join("");
		const words = doc(schema, "    ");
		this.texts.set(name, `${base}${heading}${words}${words && body ? "\n" : ""}${body || (words ? "" : "    pass\n")}`);
		return name;
	}
}

function doc({ description }: Schema, indent: string): string {
	return description ? `${indent}"""${description.replaceAll("\\", "\\\\")}"""\n` : "";
}

/** Names inside an alias are looked up later, so that the order of definitions does not matter. */
const quoted = (type: string) =>
	type.replace(/"[^"]*"|\b[A-Z]\w*\b/g, (word) => (/^(Union|List|Dict|Literal|Any|None)$|^"/.test(word) ? word : `"${word}"`));

export function pythonProtocol(schema: Json): string {
	const shapes = new Shapes();
	const defs = schema.$defs as Record<string, Schema>;
	for (const [title, definition] of Object.entries(defs)) if (!title.startsWith("command:")) shapes.define(title, definition);
	for (const [name, result] of Object.entries(schema.results as Record<string, Schema>)) shapes.type(result, `${pascal(name)}Result`);
	const events = Object.keys(defs).filter((title) => title.startsWith("event:"));
	const names = events.map((title) => literal(title.slice(6)));
	const alias = `EventName = Literal[\n${names.map((name) => `    ${name},\n`).join("")}]\nEvent = Union[\n${events.map((title) => `    ${literal(className(title))},\n`).join("")}]\n`;
	const all = [...shapes.texts.keys(), "Event", "EventName"].map((name) => `    "${name}",\n`).join("");
	return `${head}"""Every shape that crosses the wire."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

__all__ = [
${all}]


${[...shapes.texts.values(), alias].join("\n\n")}`;
}

interface Parameter {
	wire: string;
	name: string;
	type: string;
	isRequired: boolean;
}

export function pythonCommands(schema: Json): string {
	const defs = schema.$defs as Record<string, Schema>;
	const results = schema.results as Record<string, Schema>;
	const methods = Object.entries(commands)
		.filter(([, row]) => !("unsupported" in row && row.unsupported))
		.map(([name]) => method(name, defs[`command:${name}`] as Schema, results[name] as Schema));
	const lanes = schema.lanes as Record<string, string>;
	const unhurried = Object.keys(lanes).filter((name) => lanes[name] === "background" || lanes[name] === "interrupt");
	const reading = Object.entries(commands).flatMap(([name, { access }]) => (access === "read" ? [name] : []));
	const group = (isAsync: boolean) => methods.map((write) => write(isAsync)).join("\n");
	return `${head}"""Every command as a method."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from . import protocol
from ._defaults import DEFAULT, Timeout

# They end when they end: work in the background, and aborts, which wait for what they abort.
UNHURRIED = frozenset((${unhurried.map(literal).join(", ")}))
# They change nothing: to send one again does no harm.
READING = frozenset((${reading.map(literal).join(", ")}))


def _given(needed: Dict[str, Any], **free: Any) -> Dict[str, Any]:
    return {**needed, **{name: value for name, value in free.items() if value is not None}}


class AsyncCommands:
    """The commands, for asyncio."""

    async def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        raise NotImplementedError

${group(true)}

class Commands:
    """The commands, each of which waits for its answer."""

    def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        raise NotImplementedError

${group(false)}`;
}

function method(name: string, schema: Schema, result: Schema): (isAsync: boolean) => string {
	const types = new Shapes();
	const outside = (type: string) =>
		type.replace(/"[^"]*"|\b[A-Z]\w*\b/g, (word) => (/^(Union|List|Dict|Literal|Any|None)$|^"/.test(word) ? word : `protocol.${word}`));
	const { type: _, id: __, ...properties } = schema.properties ?? {};
	const parameters: Parameter[] = Object.entries(properties).map(([wire, value]) => ({
		wire,
		name: parameterName(wire),
		type: outside(types.type(value, "")),
		isRequired: schema.required?.includes(wire) ?? false,
	}));
	const isVoid = !result.$ref && !result.type && !result.anyOf;
	const gives = isVoid ? "None" : outside(types.type(result, `${pascal(name)}Result`));
	const needed = parameters.filter(({ isRequired }) => isRequired).map((each) => `${each.name}: ${each.type}`);
	const free = parameters.filter(({ isRequired }) => !isRequired).map((each) => `${each.name}: Optional[${each.type}] = None`);
	const list = ["self", ...needed, "*", ...free, "timeout: Timeout = DEFAULT"];
	const pairs = parameters.filter(({ isRequired }) => isRequired).map((each) => `"${each.wire}": ${each.name}`);
	const rest = parameters
		.filter(({ isRequired }) => !isRequired)
		.map((each) => (keywords.has(each.wire) ? `, **{"${each.wire}": ${each.name}}` : `, ${each.wire}=${each.name}`));
	const fields = `{${pairs.join(", ")}}`;
	const params = rest.length ? `_given(${fields}${rest.join("")})` : fields;
	return (isAsync) => {
		const line = `    ${isAsync ? "async " : ""}def ${name}(${list.join(", ")}) -> ${gives}:`;
		const call = `${isAsync ? "await " : ""}self._call("${name}", ${params}, timeout)`;
		return `${folded(line, list, gives)}\n${doc(schema, "        ")}        ${isVoid ? "" : "return "}${call}\n`;
	};
}

/** A long signature, one parameter per line. */
function folded(line: string, list: string[], gives: string): string {
	if (line.length <= 120) return line;
	return `${line.slice(0, line.indexOf("(") + 1)}\n${list.map((each) => `        ${each},\n`).join("")}    ) -> ${gives}:`;
}
