/** Plays bytes into the stream function: in process, cut where a test says, or through the real transport. */
import type { StreamEvent } from "../../src/agent/contracts.ts";
import { HttpClient, type Outcome, type Post } from "../../src/lib/http/client.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { routes } from "../../src/models/routes.ts";
import { streamFunction } from "../../src/models/stream.ts";
import type { Model } from "../../src/protocol/model.ts";
import { defaultSetting, open, request } from "./support.ts";

/** A client whose answer is these pieces. */
export function playing(pieces: readonly Uint8Array[]): Pick<HttpClient, "post"> {
	return {
		post: async (post: Post): Promise<Outcome> => {
			for (const piece of pieces) {
				try {
					if (post.onData(Buffer.from(piece)) === "enough") break;
				} catch (error) {
					return { type: "broken", error };
				}
			}
			return { type: "ended", status: 200, headers: {} };
		},
	};
}

export async function replay(model: Model, client: Pick<HttpClient, "post">, baseUrl = model.baseUrl): Promise<StreamEvent[]> {
	const events: StreamEvent[] = [];
	const stream = streamFunction({
		access: async () => ({ model, baseUrl, modelId: model.id, compat: mergeCompat(routes.get(model.provider)?.compat, model.compat), headers: {} }),
		client,
		setting: defaultSetting,
		env: {},
		now: () => 1000,
		clean: (text) => text,
	});
	await stream(request({ model }), { signal: new AbortController().signal, flow: open, onEvent: (event) => events.push(event) });
	return events;
}

export function overNetwork(model: Model, url: string, client = new HttpClient({ env: {} })): Promise<StreamEvent[]> {
	return replay(model, client, url);
}

/** With the deltas of a block that follow one another as one: how many there are depends on how the bytes arrive. */
export function joined(events: readonly StreamEvent[]): StreamEvent[] {
	const all: StreamEvent[] = [];
	for (const event of events) {
		const last = all.at(-1);
		const isSame = last && "delta" in last && "delta" in event && last.type === event.type && last.contentIndex === event.contentIndex;
		if (isSame) all[all.length - 1] = { ...event, delta: last.delta + event.delta };
		else all.push(event);
	}
	return all;
}
