/** Dialogs of extensions as questions of the protocol: forms where the client has them, else requests for permission. */

import { randomBytes } from "node:crypto";
import type { CreateElicitationResponse, ElicitationSchema, PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { DialogOptions, Elicit, Ui } from "../agent/contracts.ts";
import { onAbort } from "../lib/abort.ts";
import type { Asking } from "./approvals.ts";
import type { Client } from "./capabilities.ts";
import { codes, isRpcError } from "./errors.ts";
import type { Peer } from "./peer.ts";
import type { Projection } from "./projection.ts";
import { textBlock } from "./tool-view.ts";

export interface DialogsParts {
	peer: Peer;
	client: Client;
	sessionId: () => string;
	/** Absent while the session is being opened. */
	projection: () => Projection | undefined;
	asking: Asking;
	/** Resolves when the client knows the session. */
	known: Promise<void>;
}

const permissionMethod = "session/request_permission";
const reject: PermissionOption = { optionId: "reject_once", name: "Reject", kind: "reject_once" };
const allow: PermissionOption = { optionId: "allow_once", name: "Allow", kind: "allow_once" };

type Value = string | boolean;

export class Dialogs implements Ui {
	#parts: DialogsParts;
	/** Fires when the turn is cancelled or the session ends. */
	#open = new AbortController();

	constructor(parts: DialogsParts) {
		this.#parts = parts;
	}

	/** Every open question ends with its default. */
	withdraw(): void {
		this.#open.abort();
		this.#open = new AbortController();
	}

	async confirm(title: string, message: string, options: DialogOptions = {}): Promise<boolean> {
		const { toolCallId, isBeforeCall } = options;
		const call = isBeforeCall && toolCallId !== undefined ? this.#parts.projection()?.shown(toolCallId) : undefined;
		if (call) {
			const reason = [title, message].filter(Boolean).join("\n\n");
			const toolCall = { toolCallId: call.id, title: call.title, kind: call.kind, status: "pending" as const, rawInput: call.args };
			return (await this.#permission({ ...toolCall, content: [textBlock(reason)] }, [reject, allow], options)) === allow.optionId;
		}
		if (this.#parts.client.hasForms) {
			const schema: ElicitationSchema = { type: "object", properties: { confirmed: { type: "boolean", title } }, required: ["confirmed"] };
			return (await this.#form(message === "" ? title : `${title}\n\n${message}`, schema, "confirmed", options)) === true;
		}
		const chosen = await this.#question(
			title,
			message,
			[
				{ ...reject, name: "No" },
				{ ...allow, name: "Yes" },
			],
			options,
		);
		return chosen === allow.optionId;
	}

	async select(title: string, choices: string[], options: DialogOptions = {}): Promise<string | undefined> {
		if (choices.length === 0) return undefined;
		if (this.#parts.client.hasForms) {
			const schema: ElicitationSchema = { type: "object", properties: { choice: { type: "string", title, enum: choices } }, required: ["choice"] };
			const chosen = await this.#form(title, schema, "choice", options);
			return typeof chosen === "string" && choices.includes(chosen) ? chosen : undefined;
		}
		const listed = choices.map((name, index): PermissionOption => ({ optionId: `choice_${index}`, name, kind: "allow_once" }));
		const chosen = await this.#question(title, "", [{ ...reject, name: "None of these" }, ...listed], options);
		const index = listed.findIndex(({ optionId }) => optionId === chosen);
		return index < 0 ? undefined : choices[index];
	}

	async input(title: string, placeholder?: string, options: DialogOptions = {}): Promise<string | undefined> {
		return this.#text(title, { ...(placeholder && { description: placeholder }) }, options);
	}

	async editor(title: string, prefill?: string, options: DialogOptions = {}): Promise<string | undefined> {
		return this.#text(title, { ...(prefill && { default: prefill }) }, options);
	}

	notify(message: string, type: "info" | "warning" | "error" = "info"): void {
		this.#parts.projection()?.notice(type, message);
	}

	/** What an MCP server asks: a form in one go, or an address to visit. */
	elicit: Elicit = async ({ message, toolCallId, form, url }, signal) => {
		const { client, projection } = this.#parts;
		if (url === undefined ? !client.hasForms : !client.hasUrls) return { action: "decline" };
		const call = toolCallId === undefined ? undefined : projection()?.shown(toolCallId);
		const where = { message, ...(call && { toolCallId: call.id }) };
		const asked =
			url === undefined
				? { mode: "form", ...where, requestedSchema: { ...form, type: "object" } }
				: { mode: "url", ...where, elicitationId: randomBytes(8).toString("hex"), url };
		const answer = await this.#ask<CreateElicitationResponse>("elicitation/create", asked, { signal });
		if (answer?.action === "accept") return { action: "accept", content: (answer.content ?? {}) as Record<string, unknown> };
		return { action: answer?.action === "decline" ? "decline" : "cancel" };
	};

	setStatus(): void {
		// Editors have no place for it.
	}

	setWidget(): void {
		// Editors have no place for it.
	}

	setTitle(): void {
		// The title of a session is its name.
	}

	setEditorText(): void {
		// The prompt belongs to the editor.
	}

	async #text(title: string, more: { description?: string; default?: string }, options: DialogOptions): Promise<string | undefined> {
		if (!this.#parts.client.hasForms) return undefined;
		const schema: ElicitationSchema = { type: "object", properties: { text: { type: "string", title, ...more } }, required: ["text"] };
		const text = await this.#form(title, schema, "text", options);
		return typeof text === "string" ? text : undefined;
	}

	async #form(message: string, requestedSchema: ElicitationSchema, member: string, options: DialogOptions): Promise<Value | undefined> {
		const { projection } = this.#parts;
		const call = options.toolCallId === undefined ? undefined : projection()?.shown(options.toolCallId);
		const params = { mode: "form", message, requestedSchema, ...(call && { toolCallId: call.id }) };
		const answer = await this.#ask<CreateElicitationResponse>("elicitation/create", params, options);
		const content = answer?.action === "accept" ? (answer.content as Record<string, Value> | undefined) : undefined;
		return content?.[member];
	}

	/** Asks with a call of its own, which a client shows next to the question. Outside a turn nothing may be announced. */
	async #question(title: string, message: string, choices: PermissionOption[], options: DialogOptions): Promise<string | undefined> {
		const projection = this.#parts.projection();
		if (!projection?.isInTurn || this.#parts.asking.isRefused) return undefined;
		const { id, end } = projection.question(title, message);
		const content = message === "" ? {} : { content: [textBlock(message)] };
		const chosen = await this.#permission({ toolCallId: id, title, kind: "other", status: "pending", ...content }, choices, options);
		if (!projection.isMuted) end(chosen !== undefined && chosen !== reject.optionId);
		return chosen;
	}

	/** The id of the option that was chosen. Anything else than a plain choice chooses nothing. */
	async #permission(toolCall: object, choices: PermissionOption[], options: DialogOptions): Promise<string | undefined> {
		if (this.#parts.asking.isRefused) return undefined;
		const answer = await this.#ask<RequestPermissionResponse>(permissionMethod, { toolCall, options: choices }, options);
		const { outcome } = answer ?? {};
		const chosen = outcome?.outcome === "selected" ? outcome.optionId : undefined;
		return choices.some(({ optionId }) => optionId === chosen) ? chosen : undefined;
	}

	/** Nothing when it was withdrawn, ran out of time, or failed. */
	async #ask<Result>(method: string, params: object, { signal, timeout }: DialogOptions): Promise<Result | undefined> {
		const controller = new AbortController();
		const releases = [this.#open.signal, ...(signal ? [signal] : [])].map((each) => onAbort(each, () => controller.abort()));
		const { peer, sessionId, known, asking } = this.#parts;
		const timeoutMs = typeof timeout === "number" && timeout < 2 ** 31 ? Math.max(0, timeout) : undefined;
		try {
			await new Promise<void>((resolve) => {
				void known.then(resolve);
				releases.push(onAbort(controller.signal, resolve));
			});
			return await peer.request<Result>(method, { sessionId: sessionId(), ...params }, { signal: controller.signal, timeoutMs });
		} catch (error) {
			if (!isRpcError(error)) throw error;
			if (error.code === codes.methodNotFound && method === permissionMethod) asking.refuse();
			return undefined;
		} finally {
			for (const release of releases) release();
		}
	}
}
