import { CommandError } from "../../protocol/command-error.ts";
import type { Image, ImageInput } from "../../protocol/content.ts";
import { AcceptedPrompt } from "../../session/accepted-prompt.ts";
import { aborted, halted } from "../../session/refusal.ts";
import type { RequiredAnswer } from "../../session/required-answer.ts";
import type { Session } from "../../session/session.ts";
import type { Call, Handlers } from "./contract.ts";

/** Makes the answer that a schema asks for. Loaded when a prompt brings one. */
export type RequireAnswer = (schema: Record<string, unknown>) => Promise<RequiredAnswer>;

type Names = "prompt" | "steer" | "follow_up" | "abort" | "abort_and_prompt";

/** A slash command that an extension registered. */
export interface ExtensionCommand {
	run: () => Promise<void>;
	queueRefusal: string;
}

export interface PromptingParts {
	session: Session;
	/** The extension command that a text invokes. */
	findCommand: (text: string) => ExtensionCommand | undefined;
	/** Whether the prompt that names a command of an extension is answered when the command has ended. */
	awaitsCommands: boolean;
	/** Resolves when the program ends and no longer waits for extensions. */
	leaving: Promise<void>;
	requireAnswer: RequireAnswer;
}

export function promptingHandlers({ session, findCommand, awaitsCommands, leaving, requireAnswer }: PromptingParts): Pick<Handlers, Names> {
	/** A command of an extension is refused whenever a prompt is. */
	const commandPrompt = ({ run }: ExtensionCommand) =>
		new AcceptedPrompt({ messages: [] }, "handled", (prompt) => {
			const { halted: halt } = session.doors;
			if (halt) return prompt.refuse(halted(halt));
			const handled = () => prompt.decide("handled");
			if (awaitsCommands) return void Promise.race([run(), leaving]).then(handled, handled);
			handled();
			void run();
		});
	/** An abort that was read later came first. */
	const lostPrompt = (answer?: RequiredAnswer) =>
		new AcceptedPrompt({ messages: [], answer }, "started", (prompt) => {
			prompt.refuse(aborted);
			// After the failure has been written.
			setImmediate(() => session.reportAborted(prompt));
		});
	/** Goes on with a prompt, once it is acknowledged. A prompt that comes while the agent works, and may not be queued, is refused instead. */
	const goOn = (prompt: AcceptedPrompt, call: Call) => {
		if (prompt.known?.code === "busy") throw new CommandError("busy", prompt.known.text);
		call.continueAfterAck(prompt);
	};
	const queue = (name: "steering" | "followUp") => (params: { message: string; images?: ImageInput[] }, call: Call) => {
		const command = findCommand(params.message);
		if (command) throw new CommandError("bad_field", command.queueRefusal);
		const queued = session.queue(name, params.message, flatImages(params.images));
		call.afterResponse(() => session.announceQueues());
		const answer = { disposition: "queued" as const };
		return queued ? queued.then(() => answer) : answer;
	};
	return {
		prompt({ message, images, streamingBehavior, outputSchema }, call) {
			const accept = (answer?: RequiredAnswer) => {
				if (call.isAborted()) return lostPrompt(answer);
				const command = findCommand(message);
				if (command && answer)
					throw new CommandError("bad_field", `outputSchema: ${message.split(/\s/, 1)[0]} is a command of an extension, which gives no value`);
				return command ? commandPrompt(command) : session.prompt({ text: message, images: flatImages(images), streamingBehavior, answer });
			};
			const finish = (prompt: AcceptedPrompt) => {
				goOn(prompt, call);
				return prompt.expected && { disposition: prompt.expected };
			};
			return outputSchema ? requireAnswer(outputSchema).then((answer) => finish(accept(answer))) : finish(accept());
		},
		steer: queue("steering"),
		follow_up: queue("followUp"),
		abort() {
			session.doors.abort();
			return session.isBusy ? session.abort() : undefined;
		},
		async abort_and_prompt({ message, images }, call) {
			const input = { text: message, images: flatImages(images) };
			session.doors.abort();
			const idle = session.abort();
			await call.inSerialLane(async () => {
				await idle;
				const command = findCommand(message);
				if (call.isAborted()) call.continueAfterAck(lostPrompt());
				else goOn(command ? commandPrompt(command) : session.prompt(input), call);
			});
		},
	};
}

/** The one spelling that is used inside and emitted. */
export function flatImages(images: readonly ImageInput[] = []): Image[] {
	return images.map((image: unknown, index) => {
		const { type, data, mimeType, source } = asObject(image);
		const from = asObject(source);
		const bytes = data ?? from.data;
		const kind = mimeType ?? from.mediaType ?? from.media_type;
		const plain = typeof bytes === "string" ? bytes.replace(/^data:[^,]*,/, "") : "";
		const isRight = type === "image" && plain !== "" && typeof kind === "string" && kind.startsWith("image/");
		if (!isRight) throw new CommandError("bad_field", `images[${index}]: unsupported image`);
		return { type: "image", data: plain, mimeType: kind };
	});
}

function asObject(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
