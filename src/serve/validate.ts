/** Bodies by their shapes. Loaded with the first body, because the schema library is large. */
import { Compile } from "typebox/compile";
import { didYouMean } from "../lib/nearest.ts";
import { serveShapes } from "../protocol/serve.ts";
import { requestedSettings } from "../protocol/setting-names.ts";
import { settings as rows } from "../protocol/settings.ts";
import { Refusal } from "./refusal.ts";

/** Throws a Refusal that names the first member that does not fit. */
export function checkBody(shapeName: string, body: Record<string, unknown>): void {
	const schema = serveShapes[shapeName as keyof typeof serveShapes];
	if (!schema) return;
	const unknown = Object.keys(body).find((name) => !Object.hasOwn(schema.properties, name));
	if (unknown !== undefined) {
		const known = Object.keys(schema.properties).join(", ");
		throw new Refusal("bad_field", `There is no member ${JSON.stringify(unknown)} here. There are: ${known}.`);
	}
	for (const [name, value] of Object.entries(body)) if (value === null) delete body[name];
	const validator = Compile(schema);
	if (validator.Check(body)) return;
	const [problem] = validator.Errors(body);
	const path = problem?.instancePath.replace(/^\//, "").replaceAll("/", ".");
	throw new Refusal("bad_field", `${path || "The body"} ${problem?.message ?? "does not fit"}.`);
}

/** Returns the settings of a request with dotted names, without those that are null. Throws a Refusal for those that only the owner of the server sets. */
export function checkSettings(settings: Record<string, unknown>): Record<string, unknown> {
	const read = requestedSettings(settings);
	if ("flat" in read) return Object.fromEntries(Object.entries(read.flat).filter(([, value]) => value !== null));
	if ("refused" in read) throw new Refusal("not_settable", `A request may not set ${shortened(read.refused)}. Set it where the server is started.`);
	const { unknown } = read;
	throw new Refusal("bad_field", `There is no setting ${JSON.stringify(shortened(unknown))}.${didYouMean(unknown, Object.keys(rows))}`, {
		status: 422,
	});
}

const shortened = (name: string) => (name.length > 100 ? `${name.slice(0, 100)}…` : name);
