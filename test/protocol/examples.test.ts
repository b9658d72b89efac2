/** Every row of the protocol has an example on the page, and each example is what its row says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import { answerExample, commandExample, eventExample, isVoid, protocolSchema, type Schema } from "../../scripts/generate/schemas.ts";
import { commands } from "../../src/protocol/commands/index.ts";
import { ompEvents, piEvents } from "../../src/protocol/dialect-events.ts";
import { events, Response } from "../../src/protocol/events.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/protocol.md"), "utf8");

/** The same schema without room for members that it does not name: a misspelt optional member is found too. */
function closed(schema: unknown): TSchema {
	if (Array.isArray(schema)) return schema.map(closed) as unknown as TSchema;
	if (typeof schema !== "object" || schema === null) return schema as unknown as TSchema;
	const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, key === "examples" ? value : closed(value)]));
	return ("properties" in schema ? { ...inner, additionalProperties: false } : inner) as unknown as TSchema;
}

function problems(schema: TSchema, value: unknown): string[] {
	const validator = Compile(closed(schema));
	return validator.Check(value) ? [] : validator.Errors(value).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe("commands", () => {
	test.each(Object.entries(commands))("%s: what is sent and what comes back are as described", (name, row) => {
		const sent = commandExample(name, row);
		const id = Type.Optional(Type.String());
		expect(problems(Type.Object({ id, type: Type.Literal(name), ...row.params }), sent)).toEqual([]);
		const answer = answerExample(name, row);
		expect(problems(Response, answer)).toEqual([]);
		if (isVoid(row.result)) expect(answer.data).toBeUndefined();
		else expect(problems(row.result, answer.data)).toEqual([]);
		expect(page).toContain(`${JSON.stringify(sent)}\n${JSON.stringify(answer)}\n`);
	});
});

describe("events", () => {
	test.each(Object.entries({ ...events, ...piEvents, ...ompEvents }))("%s is as described", (name, row) => {
		const example = eventExample(name, row);
		expect(problems(Type.Object({ type: Type.Literal(name), ...row.fields }), example)).toEqual([]);
		expect(page).toContain(`${JSON.stringify(example)}\n`);
	});
});

describe("conversations", () => {
	const { $defs, inbound, outbound } = protocolSchema() as { $defs: Record<string, Schema>; inbound: Schema; outbound: Schema };
	const titles = [...(inbound.anyOf ?? []), ...(outbound.anyOf ?? [])].map(({ $ref = "" }) => $ref.replace("#/$defs/", ""));
	const frames = titles
		.filter((title) => !title.includes(":"))
		.flatMap((title) => ($defs[title]?.properties ? [title] : ($defs[title]?.anyOf ?? []).map(({ $ref = "" }) => $ref.replace("#/$defs/", ""))));

	test("there are the frames of tools, dialogs and answers", () => {
		expect(frames).toEqual(expect.arrayContaining(["Response", "HostToolCall", "HostToolUpdate", "ui_select", "ui_cancel", "ExtensionUiResponse"]));
	});

	test.each(frames)("%s is as described", (title) => {
		const schema = $defs[title] as Schema;
		expect(schema.examples?.length ?? 0).toBeGreaterThan(0);
		// Its heading is its name on the wire: that of a dialog its method.
		const { type, method } = schema.properties as Record<string, Schema>;
		expect(page).toMatch(new RegExp(`^###+ ${method?.const ?? type?.const}$`, "m"));
		for (const example of schema.examples ?? []) {
			expect(problems({ ...schema, $defs } as unknown as TSchema, example)).toEqual([]);
			expect(page).toContain(`${JSON.stringify(example)}\n`);
		}
	});
});

test("every heading of the page is a link target of its own, and every link inside the page has one", () => {
	const targets = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, "")
			.replaceAll(" ", "-"),
	);
	expect(targets.filter((target, index) => targets.indexOf(target) !== index)).toEqual([]);
	const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, target = ""]) => target);
	expect(links.filter((target) => !targets.includes(target))).toEqual([]);
});
