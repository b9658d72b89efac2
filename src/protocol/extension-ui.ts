/** The conversation in which extensions ask the host's user. */
import Type, { type Static, type TObject, type TProperties } from "typebox";
import { flag, frame, integer, list, optional, text, words } from "./define.ts";
import { samples } from "./examples.ts";

const timeout = optional(
	integer({ description: "Milliseconds, enforced by the agent. No frame says that they are over: the host takes the dialog away itself." }),
);

/** The name is the value of `method`; `example` has the members that only this method has. */
function request<const M extends string, P extends TProperties>(method: M, description: string, fields: P, example: Static<TObject<P>>) {
	const members = { type: Type.Literal("extension_ui_request"), id: text({ description: "A UUID." }), method: Type.Literal(method), ...fields };
	const examples = [{ type: "extension_ui_request", id: samples.dialogId, method, ...example }];
	return Type.Object(members, { title: `ui_${method}`, description, examples });
}

export const ExtensionUiRequest = Type.Union(
	[
		request(
			"select",
			"Choose one option. Answer: `value`, one of `options`; after `cancelled` or the timeout: nothing chosen.",
			{
				title: text(),
				options: list(text()),
				optionDetails: optional(
					list(Type.Object({ description: optional(text()) }), {
						description: "What the options mean, in their order; absent when none is described.",
					}),
				),
				timeout,
			},
			{ title: "Which database?", options: ["test", "staging"], timeout: 30000 },
		),
		request(
			"confirm",
			"Yes or no. Answer: `confirmed`; after `cancelled` or the timeout: no.",
			{ title: text(), message: text(), timeout },
			{ title: "Deploy?", message: "This changes the running shop." },
		),
		request(
			"input",
			"A line of text. Answer: `value`; after `cancelled` or the timeout: nothing.",
			{ title: text(), placeholder: optional(text()), timeout },
			{ title: "Name of the branch", placeholder: "feature/…" },
		),
		request(
			"editor",
			"A longer text. Answer: `value`; after `cancelled`: nothing. It never times out.",
			{ title: text(), prefill: optional(text()), promptStyle: optional(flag()) },
			{ title: "Release notes", prefill: "- Search is faster\n" },
		),
		request(
			"notify",
			"Tell the user something. No answer.",
			{ message: text(), notifyType: optional(words("info", "warning", "error")) },
			{ message: "The index is ready.", notifyType: "info" },
		),
		request(
			"setStatus",
			"Show a status text, or clear it (without `statusText`). No answer.",
			{ statusKey: text(), statusText: optional(text()) },
			{ statusKey: "indexer", statusText: "indexing 40 %" },
		),
		request(
			"setWidget",
			"Show lines of text, or remove them (without `widgetLines`). No answer.",
			{ widgetKey: text(), widgetLines: optional(list(text())), widgetPlacement: optional(words("aboveEditor", "belowEditor")) },
			{ widgetKey: "plan", widgetLines: ["1. find the cause", "2. repair it"], widgetPlacement: "aboveEditor" },
		),
		request(
			"setTitle",
			"Set the window title; only sent when `PI_RPC_EMIT_TITLE` is set, or in dialect `pi`. No answer.",
			{ title: text() },
			{ title: "shop: repairing the search" },
		),
		request(
			"open_url",
			"Open an address that the user agreed to. Dialect `omp` only. No answer.",
			{ url: text(), instructions: optional(text()) },
			{ url: "https://shop.example/connect", instructions: "shop: connect your account" },
		),
		request("set_editor_text", "Put text into the host's editor. No answer.", { text: text() }, { text: "Now run the tests." }),
		request("cancel", "Withdraw the open dialog `targetId`. No answer.", { targetId: text() }, { targetId: "0198c0de-7a11-7000-8000-0000000000d0" }),
	],
	{
		title: "ExtensionUiRequest",
		description:
			"An extension asks the user or shows something. Bowline itself asks with `select` before a tool call, if the permission mode says so and the host has not sent `hello` with `permissions: 1`; such a title has several lines.",
	},
);
export type ExtensionUiRequest = Static<typeof ExtensionUiRequest>;

export const ExtensionUiResponse = frame(
	"extension_ui_response",
	{
		title: "ExtensionUiResponse",
		description:
			"The answer to a dialog: the member that its method names, or `cancelled`, which wins over other members. Unknown ids are ignored. Without an answer the extension waits.",
	},
	{
		id: text({ description: "The `id` of the `extension_ui_request`." }),
		value: optional(text({ description: "To `select`, `input` and `editor`." })),
		confirmed: optional(flag({ description: "To `confirm`." })),
		cancelled: optional(flag({ description: "The user closed the dialog." })),
		timedOut: optional(flag({ description: "With `cancelled`: the host closed the dialog because its time was over." })),
	},
	{ id: samples.dialogId, value: "staging" },
	{ id: samples.dialogId, confirmed: true },
	{ id: samples.dialogId, cancelled: true },
);
export type ExtensionUiResponse = Static<typeof ExtensionUiResponse>;
