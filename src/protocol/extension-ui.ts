/** The conversation in which extensions ask the host's user. */
import Type, { type Static, type TProperties } from "typebox";
import { flag, integer, list, optional, shape, text, words } from "./define.ts";

const timeout = optional(integer({ description: "Milliseconds, enforced by the agent." }));

function request<const M extends string, P extends TProperties>(method: M, description: string, fields: P) {
	return shape(`ui_${method}`, description, {
		type: Type.Literal("extension_ui_request"),
		id: text({ description: "A UUID." }),
		method: Type.Literal(method),
		...fields,
	});
}

export const ExtensionUiRequest = Type.Union(
	[
		request("select", "Choose one option. Answer: `value`; default: nothing chosen.", { title: text(), options: list(text()), timeout }),
		request("confirm", "Yes or no. Answer: `confirmed`; default: false.", { title: text(), message: text(), timeout }),
		request("input", "A line of text. Answer: `value`; default: nothing.", { title: text(), placeholder: optional(text()), timeout }),
		request("editor", "A longer text. Answer: `value`; default: nothing; never times out.", {
			title: text(),
			prefill: optional(text()),
			promptStyle: optional(flag()),
		}),
		request("notify", "Tell the user something. No answer.", {
			message: text(),
			notifyType: optional(words("info", "warning", "error")),
		}),
		request("setStatus", "Show or clear a status text. No answer.", { statusKey: text(), statusText: optional(text()) }),
		request("setWidget", "Show or remove lines of text. No answer.", {
			widgetKey: text(),
			widgetLines: optional(list(text())),
			widgetPlacement: optional(words("aboveEditor", "belowEditor")),
		}),
		request("setTitle", "Set the window title; only sent when `PI_RPC_EMIT_TITLE` is set, or in dialect `pi`. No answer.", { title: text() }),
		request("set_editor_text", "Put text into the host's editor. No answer.", { text: text() }),
		request("cancel", "Withdraw the open dialog `targetId`. No answer.", { targetId: text() }),
	],
	{ title: "ExtensionUiRequest", description: "An extension asks the user or shows something." },
);
export type ExtensionUiRequest = Static<typeof ExtensionUiRequest>;

export const ExtensionUiResponse = shape(
	"ExtensionUiResponse",
	"The answer to a dialog. `cancelled` wins over other members; unknown ids are ignored.",
	{
		type: Type.Literal("extension_ui_response"),
		id: text(),
		value: optional(text()),
		confirmed: optional(flag()),
		cancelled: optional(flag()),
		timedOut: optional(flag()),
	},
);
export type ExtensionUiResponse = Static<typeof ExtensionUiResponse>;
