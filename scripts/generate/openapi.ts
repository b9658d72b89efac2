/** `schema/serve.json`: the routes of `bowline serve` as OpenAPI 3.1. Frames are those of `protocol.json`. */
import { version } from "../../src/lib/version.ts";
import { type Route, routes } from "../../src/protocol/routes.ts";
import { serveShapes } from "../../src/protocol/serve.ts";
import { Definitions } from "./schemas.ts";

type Json = Record<string, unknown>;

/** Shapes of the protocol itself, by the names that the rows use. */
const frames: Record<string, string> = { CommandFrame: "protocol.json#/inbound", Response: "protocol.json#/$defs/Response" };
/** What the checks before every route may answer, and those of a route. */
const refusals: Record<string, string> = {
	400: "The request is not understood.",
	401: "There is no token, or it is not valid.",
	403: "The token's scope does not suffice, or the request comes from a foreign page.",
	404: "There is no such path or session.",
	409: "Something is in the way, such as another client in the seat.",
	421: "The server does not answer under this host name.",
	429: "Too many requests or connections.",
	503: "The server is about to end, or has no room.",
};

export function serveOpenApi(): Json {
	const definitions = new Definitions();
	for (const shape of Object.values(serveShapes)) definitions.use(shape);
	const paths: Record<string, Json> = {};
	for (const [name, route] of Object.entries(routes) as [string, Route][]) {
		paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) };
	}
	return {
		openapi: "3.1.0",
		info: {
			title: "bowline serve",
			version,
			description: "Sessions over HTTP and WebSocket. The frames of sockets and streams are those of the protocol, one per message.",
		},
		servers: [{ url: "http://127.0.0.1:7717" }],
		security: [{ token: [] }],
		paths,
		components: {
			schemas: JSON.parse(JSON.stringify(definitions.defs).replaceAll("#/$defs/", "#/components/schemas/")) as Json,
			securitySchemes: { token: { type: "http", scheme: "bearer" } },
		},
	};
}

function operation(name: string, { path, doc, scope, query = {}, body, answer, kind, takesKey }: Route): Json {
	const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, each]) => ({ name: each, in: "path", required: true, schema: { type: "string" } }));
	const inQuery = Object.entries(query).map(([each, description]) => ({ name: each, in: "query", description, schema: { type: "string" } }));
	const key = {
		name: "Idempotency-Key",
		in: "header",
		description: "With the same key the same is done once.",
		schema: { type: "string", maxLength: 200 },
	};
	const parameters = [...inPath, ...inQuery, ...(takesKey ? [key] : [])];
	const needs = { none: "No token.", any: "Any token.", command: "The scope that the command needs." }[scope as string] ?? `Scope \`${scope}\`.`;
	return {
		operationId: name,
		summary: doc,
		description: `${needs}${kind === "socket" ? " Upgrades to WebSocket; the frames are those of the protocol." : ""}`,
		...(scope === "none" && { security: [] }),
		...(parameters.length && { parameters }),
		...(body !== undefined && { requestBody: { required: body !== "StopSession", content: { "application/json": { schema: reference(body) } } } }),
		responses: {
			[answer.status]: { description: "Done.", ...contentOf(answer, name) },
			...Object.fromEntries(Object.entries(refusals).map(([status, description]) => [status, { description, ...problem }])),
		},
	};
}

const problem = { content: { "application/json": { schema: { $ref: "#/components/schemas/ServeError" } } } };

function reference(name: string): Json {
	return { $ref: frames[name] ?? `#/components/schemas/${name}` };
}

function contentOf({ shape, type }: Route["answer"], name: string): Json {
	if (shape !== undefined) return { content: { "application/json": { schema: reference(shape) } } };
	if (type === undefined) return {};
	// The same frames, as the client prefers them.
	const lines = name === "events" ? { "application/jsonl": { schema: { type: "string" } } } : {};
	return { content: { [type]: { schema: { type: "string" } }, ...lines } };
}
