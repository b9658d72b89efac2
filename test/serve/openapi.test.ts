import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveOpenApi } from "../../scripts/generate/openapi.ts";
import { type Route, routes } from "../../src/protocol/routes.ts";

const folder = join(import.meta.dirname, "../../schema");
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));

test("schema/serve.json is what the routes say", () => {
	expect(read("serve.json")).toEqual(JSON.parse(JSON.stringify(serveOpenApi())));
});

test("every route is an operation, with its path parameters, and only the open ones need no token", () => {
	const { paths } = read("serve.json");
	for (const [name, route] of Object.entries(routes) as [string, Route][]) {
		const operation = paths[route.path][route.method.toLowerCase()];
		expect(operation.operationId).toBe(name);
		expect(Object.keys(operation.responses)).toContain(String(route.answer.status));
		expect(operation.security).toEqual(route.scope === "none" ? [] : undefined);
		const inPath = (operation.parameters ?? [])
			.filter((each: { in: string }) => each.in === "path")
			.map((each: { name: string }) => `{${each.name}}`);
		expect(inPath).toEqual(route.path.match(/\{\w+\}/g) ?? []);
	}
});

test("every reference leads to a schema", () => {
	const files = { "": read("serve.json"), "protocol.json": read("protocol.json") };
	const references = [...JSON.stringify(files[""]).matchAll(/"\$ref":"([^"#]*)#\/([^"]*)"/g)];
	expect(references.length).toBeGreaterThan(20);
	for (const [, file, path] of references) {
		const found = (path as string).split("/").reduce((at, key) => at?.[key], files[file as keyof typeof files]);
		expect(found, `${file}#/${path}`).toBeDefined();
	}
});
