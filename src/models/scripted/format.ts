/** What a model script looks like. */
import type { Static } from "typebox";
import Type from "../../protocol/plain-schema.ts";

const text = Type.String;
const optional = Type.Optional;
const pieces = optional(
	Type.Integer({ minimum: 1, description: "In how many deltas it arrives. Default: one per word (text, thinking), two (arguments)." }),
);

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description ? { description } : {}) });
const breaks = (description: string) => optional(Type.Union([Type.Boolean(), Type.Literal("mid-block")], { description }));

const When = Type.Object(
	{
		text: optional(text({ description: "The message contains this text." })),
		matches: optional(text({ description: "The message matches this regular expression." })),
		tool: optional(text({ description: "The message is a result of this tool." })),
		isError: optional(Type.Boolean({ description: "The message is a tool result that is (not) an error." })),
		agent: optional(text({ description: "The name of the agent that asks; `main` for the session itself." })),
		depth: optional(count("How deep the asking subagent is nested; 0 for the session itself.")),
	},
	{
		title: "When",
		description:
			"All given conditions must hold. Those about a message hold when one and the same message since the model's last reply (a prompt, a tool result) meets them all.",
		additionalProperties: false,
	},
);

const Block = Type.Union(
	[
		Type.Object({ text: text(), pieces }, { additionalProperties: false }),
		Type.Object({ thinking: text(), pieces, signature: optional(text()) }, { additionalProperties: false }),
		Type.Object(
			{
				tool: text({ description: "Name of the tool to call." }),
				arguments: optional(
					Type.Union([Type.Record(text(), Type.Unknown()), text()], {
						description: "The arguments, an object; a string is sent as raw JSON text, also broken JSON.",
					}),
				),
				id: optional(text({ description: "Id of the call. Default: call_<n>." })),
				pieces,
			},
			{ additionalProperties: false },
		),
	],
	{ title: "Block", description: "A block of a reply: text, thinking or a tool call." },
);

const Fail = Type.Object(
	{
		status: optional(Type.Integer({ minimum: 100, maximum: 599, description: "HTTP status, such as 529." })),
		body: optional(text({ description: "Body of the answer." })),
		retryAfterMs: optional(count("The provider asks for at least this wait.")),
	},
	{ title: "Fail", description: "After the blocks: the provider answers with an error.", additionalProperties: false },
);

const Reply = Type.Object(
	{
		when: optional(When),
		times: optional(
			Type.Union([Type.Integer({ minimum: 1 }), Type.Literal("always")], { description: "How often the reply may be used. Default: once." }),
		),
		delayMs: optional(count("Silence before the first word.")),
		pieceDelayMs: optional(count("Silence between deltas.")),
		thinking: optional(text({ description: "Shorthand for a thinking block at the front." })),
		text: optional(text({ description: "Shorthand for a text block, before `blocks`." })),
		blocks: optional(Type.Array(Block)),
		repeat: optional(
			Type.Object(
				{ text: text({ minLength: 1 }), count: Type.Integer({ minimum: 1, maximum: 1_000_000 }) },
				{ additionalProperties: false, description: "A text block of `count` deltas, each `text`: for load tests." },
			),
		),
		usage: optional(
			Type.Object(
				{
					input: optional(count()),
					output: optional(count()),
					cacheRead: optional(count()),
					cacheWrite: optional(count()),
				},
				{ additionalProperties: false, description: "Input and output default to an estimate: a token per four characters." },
			),
		),
		stop: optional(Type.Enum(["stop", "length", "toolUse"], { description: "Default: toolUse with tool calls, else stop." })),
		fail: optional(Fail),
		stall: breaks("After the blocks: silence until the request is aborted. `mid-block`: before the last block has ended."),
		cut: breaks("After the blocks: the connection breaks. `mid-block`: before the last block has ended."),
	},
	{ title: "Reply", description: "One answer of the model.", additionalProperties: false },
);

export const Script = Type.Object(
	{
		$schema: optional(text()),
		name: optional(text({ description: "Shown as the model's name." })),
		model: optional(
			Type.Object(
				{
					reasoning: optional(Type.Boolean()),
					input: optional(Type.Array(Type.Enum(["text", "image"]))),
					contextWindow: optional(Type.Integer({ minimum: 1 })),
					maxTokens: optional(Type.Integer({ minimum: 1 })),
					cost: optional(
						Type.Object(
							{ input: Type.Number(), output: Type.Number(), cacheRead: Type.Number(), cacheWrite: Type.Number() },
							{ additionalProperties: false },
						),
					),
				},
				{ additionalProperties: false, description: "Properties of the model that the script pretends to be." },
			),
		),
		replies: Type.Array(Reply, { description: "Each request takes the first unused reply whose `when` holds." }),
	},
	{ title: "Script", description: "Replies of a model, played from the start by each process.", additionalProperties: false },
);

export type Script = Static<typeof Script>;
export type Reply = Static<typeof Reply>;
export type When = Static<typeof When>;
export type Block = Static<typeof Block>;
