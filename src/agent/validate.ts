/** Checks tool arguments against any JSON Schema, ours or a host's. Loaded with the first tool call: the schema compiler is not small. */
import { Compile } from "typebox/compile";
import { coerce } from "./coerce.ts";
import type { ToolDefinition, ValidateArguments } from "./contracts.ts";

const compiled = new WeakMap<object, ReturnType<typeof Compile>>();

export const validateArguments: ValidateArguments = async (tool: ToolDefinition, args) => {
	const validator = validatorOf(tool);
	// Tools get a copy: the message in the context must stay as the model sent it.
	if (validator.Check(args)) return { args: structuredClone(args) };
	const coerced = coerce(args, tool.parameters) as Record<string, unknown>;
	if (validator.Check(coerced)) return { args: coerced };
	const problems = [...validator.Errors(coerced)].map((error) => ({
		path: error.instancePath.slice(1).replaceAll("/", ".") || "arguments",
		message: error.message,
	}));
	return { problems };
};

function validatorOf({ name, parameters }: ToolDefinition): ReturnType<typeof Compile> {
	const known = compiled.get(parameters);
	if (known) return known;
	try {
		const validator = Compile(parameters as Parameters<typeof Compile>[0]);
		compiled.set(parameters, validator);
		return validator;
	} catch (error) {
		// The model can do nothing about it; who made the tool can.
		throw new Error(`The tool ${name} cannot be called: its parameters are no JSON Schema that can be used (${(error as Error).message}).`);
	}
}
