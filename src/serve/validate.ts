/** Bodies by their shapes. Loaded with the first body, because the schema library is large. */
import { Compile } from "typebox/compile";
import { serveShapes } from "../protocol/serve.ts";
import { Refusal } from "./refusal.ts";

/** Settings that name code, places or rights. A request may not set them; neither may it start programs through them. */
const notSettable =
	/^(shellPath|shellCommandPrefix|extensions|packages|skills|prompts|sessionDir|mcpServers|trust(\.|$)|sandbox(\.|$)|permissions(\.|$)|mcp(\.|$)|serve(\.|$)|bash\.env(\.|$))/;

/** Throws a Refusal that names the first member that does not fit. */
export function checkBody(shapeName: string, body: Record<string, unknown>): void {
	const schema = serveShapes[shapeName as keyof typeof serveShapes];
	if (!schema) return;
	const unknown = Object.keys(body).find((name) => !Object.hasOwn(schema.properties, name));
	if (unknown !== undefined) {
		const known = Object.keys(schema.properties).join(", ");
		throw new Refusal(400, "bad_field", `There is no member ${JSON.stringify(unknown)} here. There are: ${known}.`);
	}
	for (const [name, value] of Object.entries(body)) if (value === null) delete body[name];
	const validator = Compile(schema);
	if (validator.Check(body)) return;
	const [problem] = validator.Errors(body);
	const path = problem?.instancePath.replace(/^\//, "").replaceAll("/", ".");
	throw new Refusal(400, "bad_field", `${path || "The body"} ${problem?.message ?? "does not fit"}.`);
}

export function checkSettings(settings: Record<string, unknown>): void {
	for (const name of flatNames(settings))
		if (notSettable.test(name)) throw new Refusal(422, "not_settable", `A request may not set ${name}. Set it where the server is started.`);
}

function flatNames(value: Record<string, unknown>, prefix = ""): string[] {
	return Object.entries(value).flatMap(([name, member]) => [
		`${prefix}${name}`,
		...(typeof member === "object" && member !== null && !Array.isArray(member)
			? flatNames(member as Record<string, unknown>, `${prefix}${name}.`)
			: []),
	]);
}
