/** Claude on Google Vertex: Anthropic Messages, with the model in the address and the version in the body. */
import type { Api, Call, WireRequest } from "../api.ts";
import { callId, api as messages, request as messagesRequest } from "./anthropic-messages.ts";

export function request(call: Call): WireRequest {
	const { headers, body } = messagesRequest(call, { anthropic_version: "vertex-2023-10-16" });
	const base = call.baseUrl.replace(/\?.*$/, "").replace(/\/+$/, "");
	const url = /:streamRawPredict$/.test(base) ? base : `${base.replace(/\/models$/, "")}/models/${call.modelId}:streamRawPredict`;
	const { "anthropic-version": _, "anthropic-beta": beta, ...others } = headers;
	// Models before the fourth generation refuse the request instead of ignoring the wish.
	const isOld = /claude-3/.test(call.model.id);
	return { url, headers: { ...others, ...(beta && !isOld ? { "anthropic-beta": beta } : {}) }, body };
}

export { callId };

export const api: Api = { ...messages, request };
