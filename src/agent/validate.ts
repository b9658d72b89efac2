/** Checks tool arguments against any JSON Schema, ours or a host's. Loaded with the first tool call: the schema compiler is not small. */
import { Compile } from "typebox/compile";
import { TimeLimit } from "../lib/in-time.ts";
import { coerce } from "./coerce.ts";
import type { Tool, ToolDefinition, ValidateArguments } from "./contracts.ts";

type Validator = ReturnType<typeof Compile>;
interface Known {
	validator: Validator;
	/** Contains regular expressions, which may never finish. */
	hasPatterns: boolean;
}

const known = new WeakMap<object, Known>();
/** Far more than any honest pattern takes. */
const limitMs = 1000;

export const validateArguments: ValidateArguments = async (tool: ToolDefinition, args) => {
	const known = compiled(tool);
	if (!known) return { args: structuredClone(args) };
	const { validator, hasPatterns } = known;
	if (!hasPatterns) return checked(validator, tool, args);
	const message = `could not be checked: a pattern of the schema of ${tool.name} took longer than ${limitMs} ms`;
	let outcome: Awaited<ReturnType<ValidateArguments>> = { problems: [{ path: "arguments", message }] };
	new TimeLimit(limitMs).run(() => {
		outcome = checked(validator, tool, args);
	});
	return outcome;
};

/** Nothing where the schema cannot be compiled and the tool checks its arguments. */
function compiled(tool: ToolDefinition & Pick<Tool, "checksArguments">): Known | undefined {
	const { name, parameters } = tool;
	const before = known.get(parameters);
	if (before) return before;
	try {
		const validator = Compile(parameters as Parameters<typeof Compile>[0]);
		const found = { validator, hasPatterns: /"pattern":"|"patternProperties":/.test(JSON.stringify(parameters)) };
		known.set(parameters, found);
		return found;
	} catch (error) {
		if (tool.checksArguments) return undefined;
		// The model can do nothing about it; who made the tool can.
		throw new Error(`The tool ${name} cannot be called: its parameters are no JSON Schema that can be used (${(error as Error).message}).`);
	}
}

function checked(validator: Validator, tool: ToolDefinition, args: Record<string, unknown>): Awaited<ReturnType<ValidateArguments>> {
	// Tools get a copy: the message in the context must stay as the model sent it.
	if (validator.Check(args)) return { args: structuredClone(args) };
	const coerced = coerce(args, tool.parameters) as Record<string, unknown>;
	if (validator.Check(coerced)) return { args: coerced };
	return { problems: problemsOf(validator.Errors(coerced)) };
}

/** Each problem with its place. Where a value must be one of a few, the message lists them. */
function problemsOf(errors: ReturnType<Validator["Errors"]>): { path: string; message: string }[] {
	const placeOf = (path: string) => path.slice(1).replaceAll("/", ".") || "arguments";
	const allowed = new Map<string, unknown[]>();
	for (const error of errors) {
		const values = error.keyword === "enum" ? error.params.allowedValues : error.keyword === "const" ? [error.params.allowedValue] : [];
		if (values.length) allowed.set(error.instancePath, [...(allowed.get(error.instancePath) ?? []), ...values]);
	}
	const listed = [...allowed].map(([path, values]) => ({
		path: placeOf(path),
		message: `must be ${values.map((value) => JSON.stringify(value)).join(" or ")}`,
	}));
	// The union of these values says nothing more.
	const isSaid = ({ keyword, instancePath }: { keyword: string; instancePath: string }) =>
		allowed.has(instancePath) && ["enum", "const", "anyOf", "oneOf"].includes(keyword);
	const others = errors.filter((error) => !isSaid(error)).map(({ instancePath, message }) => ({ path: placeOf(instancePath), message }));
	return [...listed, ...others];
}
