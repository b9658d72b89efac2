import { expect, test } from "vitest";
import { suspectImages } from "../../src/models/images.ts";
import { loadApi } from "../../src/models/routes.ts";
import { call, models } from "./support.ts";

const text = { type: "text" as const, text: "look" };
const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
const [one, two] = [image("T05FT05FT05F"), image("VFdPVFdPVFdP")];
const messages = [one, two].map((shown, at) => ({ role: "user" as const, content: [text, shown], timestamp: at }));

test.each([
	["anthropic", "messages.0.content.1: Could not process image", [one]],
	["anthropic", "messages.1.content.1.image.source.base64: invalid image", [two]],
	["anthropic", "messages.9.content.1: Could not process image", [one, two]],
	["anthropic", "messages.1.content.1: text is empty", []],
	// After the system prompt, counted by a gateway and by the host itself.
	["chat", "messages.0.content.1: Could not process image", [one]],
	["chat", "Invalid image in messages[2].content[1]", [two]],
	["responses", "Invalid 'input[1].content[1].image_url'. Expected an image", [one]],
	["google", "Unable to process input image", [one, two]],
] as const)("%s: %s", async (name, error, expected) => {
	const asked = models[name];
	const sent = (await loadApi(asked.api))?.api.request(call(asked, messages));
	expect(sent && suspectImages(error, sent.body, messages)).toEqual(expected);
});
