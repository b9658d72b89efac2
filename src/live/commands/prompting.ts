import type { Hooks } from "../../agent/contracts.ts";
import { CommandError } from "../../lib/command-error.ts";
import type { Image, ImageInput } from "../../protocol/content.ts";
import { abortedText } from "../../protocol/texts.ts";
import type { Session } from "../../session/session.ts";
import type { Call, Handlers } from "./contract.ts";

type Names = "prompt" | "steer" | "follow_up" | "abort" | "abort_and_prompt";

export function promptingHandlers(session: Session, hooks: Hooks): Pick<Handlers, Names> {
	/** A command of an extension is refused when a prompt is. */
	const runCommand = (run: () => void, call: Call) =>
		call.goOn(async (begun) => {
			const { refusal } = session;
			if (refusal) return refusal;
			begun?.("handled", []);
			run();
			return undefined;
		});
	const queue = (name: "steering" | "followUp") => (params: { message: string; images?: ImageInput[] }, call: Call) => {
		const command = hooks.command?.(params.message);
		if (command) throw new CommandError(command.queueRefusal);
		const queued = session.queue(name, params.message, flatImages(params.images));
		call.afterResponse(() => session.announceQueues());
		const answer = { disposition: "queued" as const };
		return queued ? queued.then(() => answer) : answer;
	};
	return {
		prompt({ message, images, streamingBehavior }, call) {
			if (call.isAborted()) {
				call.goOn(aborted);
				return { disposition: "started" };
			}
			const command = hooks.command?.(message);
			if (command) {
				runCommand(command.run, call);
				return { disposition: "handled" };
			}
			const accepted = session.prompt({ text: message, images: flatImages(images), streamingBehavior });
			call.goOn(accepted.begin);
			return accepted.disposition && { disposition: accepted.disposition };
		},
		steer: queue("steering"),
		follow_up: queue("followUp"),
		abort() {
			hooks.abort?.();
			return session.isBusy ? session.abort() : undefined;
		},
		async abort_and_prompt({ message, images }, call) {
			const input = { text: message, images: flatImages(images) };
			hooks.abort?.();
			const idle = session.abort();
			await call.inSerialLane(async () => {
				await idle;
				const command = hooks.command?.(message);
				if (call.isAborted()) call.goOn(aborted);
				else if (command) runCommand(command.run, call);
				else call.goOn(session.prompt(input).begin);
			});
		},
	};
}

const aborted = async () => abortedText;

/** The one spelling that is used inside and emitted. */
export function flatImages(images: readonly ImageInput[] = []): Image[] {
	return images.map((image: unknown, index) => {
		const { type, data, mimeType, source } = asObject(image);
		const from = asObject(source);
		const bytes = data ?? from.data;
		const kind = mimeType ?? from.mediaType ?? from.media_type;
		const plain = typeof bytes === "string" ? bytes.replace(/^data:[^,]*,/, "") : "";
		const isRight = type === "image" && plain !== "" && typeof kind === "string" && kind.startsWith("image/");
		if (!isRight) throw new CommandError(`images[${index}]: unsupported image`);
		return { type: "image", data: plain, mimeType: kind };
	});
}

function asObject(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
