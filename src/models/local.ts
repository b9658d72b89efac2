/** Model servers on the user's own machine, found by asking their usual ports. */
import { getText } from "../lib/http/get.ts";
import type { Model } from "../protocol/model.ts";
import { assumedModel } from "./catalogue.ts";
import { list, object, text } from "./json.ts";
import { authHeaders, baseUrlOf, type Environment, type Route, routes } from "./routes.ts";

const patienceMs = 500;

/** The models of every local server that answers now. */
export async function localModels(env: Environment): Promise<Model[]> {
	const local = [...routes].filter(([, route]) => route.isLocal);
	const found = await Promise.all(local.map(([provider, route]) => modelsAt(provider, route, env)));
	return found.flat();
}

async function modelsAt(provider: string, route: Route, env: Environment): Promise<Model[]> {
	const place = baseUrlOf(route, undefined, env);
	if (!("url" in place) || !place.url.startsWith("http:")) return [];
	const key = route.keys.map((name) => env[name]).find(Boolean);
	const answer = await getText(`${place.url}/models`, patienceMs, key ? authHeaders(key, route.api) : {});
	return idsIn(answer ?? "").map((id) => assumedModel(provider, id, route.api, place.url));
}

function idsIn(answer: string): string[] {
	try {
		const { data } = object(JSON.parse(answer)) ?? {};
		return list(data).flatMap((entry) => text(object(entry)?.id) || []);
	} catch {
		return []; // Another program has that port.
	}
}
