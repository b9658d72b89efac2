/** Blocks that messages are made of. */
import Type, { type Static } from "typebox";
import { jsonObject, optional, shape, text } from "./define.ts";

export const Text = shape("Text", "Plain text.", {
	type: Type.Literal("text"),
	text: text(),
	textSignature: optional(text({ description: "Opaque replay data of the provider." })),
});

export const Thinking = shape("Thinking", "What the model thought before it answered.", {
	type: Type.Literal("thinking"),
	thinking: text(),
	thinkingSignature: optional(text({ description: "Opaque replay data of the provider." })),
});

export const RedactedThinking = shape("RedactedThinking", "Thinking that the provider only hands out encrypted.", {
	type: Type.Literal("redactedThinking"),
	data: text(),
});

export const Image = shape("Image", "A picture.", {
	type: Type.Literal("image"),
	data: text({ description: "base64" }),
	mimeType: text(),
});

export const ToolCall = shape("ToolCall", "The model asks for a tool to be run.", {
	type: Type.Literal("toolCall"),
	id: text(),
	name: text(),
	arguments: jsonObject,
	thoughtSignature: optional(text()),
	intent: optional(text()),
});

/** What a host may send as an image: both spellings are accepted, the first is emitted. */
export const ImageInput = Type.Union(
	[
		Type.Object({ type: Type.Literal("image"), data: text(), mimeType: text() }),
		Type.Object({
			type: Type.Literal("image"),
			source: Type.Object({
				type: Type.Enum(["base64", "url"]),
				mediaType: optional(text()),
				media_type: optional(text()),
				data: optional(text()),
				url: optional(text()),
			}),
		}),
	],
	{
		title: "ImageInput",
		description: "An image as hosts send it, flat or with a `source`. A `data:` prefix in `data` is stripped.",
	},
);

export type Text = Static<typeof Text>;
export type Thinking = Static<typeof Thinking>;
export type RedactedThinking = Static<typeof RedactedThinking>;
export type Image = Static<typeof Image>;
export type ToolCall = Static<typeof ToolCall>;
export type ImageInput = Static<typeof ImageInput>;

/** What users, tools and hosts say. */
export const UserContent = Type.Array(Type.Union([Text, Image]));
export type UserContent = Static<typeof UserContent>;
