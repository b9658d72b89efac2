/** The clients that came with omp, xcsh and pisces. */
import { Client } from "./client.ts";
import { type Frame, within } from "./process.ts";

const coreEvents = new Set([
	...["agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end"],
	...["tool_execution_start", "tool_execution_update", "tool_execution_end"],
]);

/** TypeScript, at the age of the documents: nothing is sent before `ready`, responses are checked, ten events are passed on, tools are served. */
export class FamilyClient extends Client {
	readonly calls: Frame[] = [];
	#ready: (frame: Frame) => void = () => undefined;
	protected readonly ready = new Promise<Frame>((resolve) => {
		this.#ready = resolve;
	});

	override async start(): Promise<void> {
		await within(this.ready, "ready");
		const tool = { name: "pick", label: "Pick", description: "Pick something", parameters: { type: "object", properties: {} } };
		await this.request("set_host_tools", { tools: [tool] });
	}

	protected read(frame: Frame): void {
		if (frame.type === "ready") return this.#ready(frame);
		if (isResponse(frame)) {
			this.settle(frame);
			return;
		}
		if (frame.type === "host_tool_call") return this.serve(frame);
		if (coreEvents.has(frame.type)) this.tell(frame);
	}

	protected serve(call: Frame): void {
		this.calls.push(call);
		const text = (words: string) => ({ content: [{ type: "text", text: words }] });
		this.agent.write({ type: "host_tool_update", id: call.id, partialResult: text("half") });
		this.agent.write({ type: "host_tool_result", id: call.id, result: text("picked") });
	}

	protected isEnd(frame: Frame): boolean {
		return frame.type === "agent_end";
	}
}

function isResponse(frame: Frame): boolean {
	if (frame.type !== "response") return false;
	if (typeof frame.command !== "string" || typeof frame.success !== "boolean") throw new Error("not a response");
	if (!frame.success && typeof frame.error !== "string") throw new Error("a failure without a text");
	return true;
}

interface Part {
	chunkId: string;
	index: number;
	count: number;
	byteLength: number;
	data: string;
}

/** omp 18: negotiates when `ready` names versions, puts parts together, and waits for the result of a prompt. */
export class Omp18Client extends FamilyClient {
	protocolVersion = 1;
	#parts = new Map<string, Buffer[]>();
	chunkedFrames = 0;

	override async start(): Promise<void> {
		const { supportedProtocolVersions = [], maxReassembledFrameBytes } = (await within(this.ready, "ready")) as {
			supportedProtocolVersions?: number[];
			maxReassembledFrameBytes?: number;
		};
		if (supportedProtocolVersions.includes(2)) {
			if (typeof maxReassembledFrameBytes !== "number") throw new Error("ready names versions without limits");
			const agreed = (await this.request("negotiate_protocol", { protocolVersion: 2 })) as { protocolVersion: number };
			this.protocolVersion = agreed.protocolVersion;
		}
		await super.start();
	}

	protected override measure(line: string): void {
		if (this.protocolVersion === 2 && Buffer.byteLength(line) > 1024 * 1024) throw new Error("a line over 1 MiB");
	}

	protected override read(frame: Frame): void {
		if (frame.type === "rpc_chunk") return this.#assemble(frame as unknown as Part);
		if (frame.type === "prompt_result" || frame.type === "session_settled") return this.tell(frame);
		super.read(frame);
	}

	#assemble({ chunkId, index, count, byteLength, data }: Part): void {
		const parts = this.#parts.get(chunkId) ?? [];
		this.#parts.set(chunkId, parts);
		if (parts.length !== index) throw new Error("a part out of its order");
		parts.push(Buffer.from(data, "base64"));
		if (parts.length < count) return;
		this.#parts.delete(chunkId);
		const whole = Buffer.concat(parts);
		if (whole.length !== byteLength) throw new Error("parts of another length");
		this.chunkedFrames += 1;
		this.read(JSON.parse(whole.toString()) as Frame);
	}

	/** Its own end only: the id of the prompt distinguishes results. */
	override async promptAndWait(message: string): Promise<void> {
		if (this.protocolVersion === 1) return super.promptAndWait(message);
		const sent = this.send("prompt", { message });
		const id = this.lastId;
		const result = this.next(`the result of ${message}`, (frame) => frame.type === "prompt_result" && frame.id === id);
		const response = await sent;
		if (response.success !== true) throw new Error(String(response.error));
		const { status, error } = await result;
		if (status === "error") throw new Error((error as { message: string }).message);
		if (status !== "completed" && status !== "aborted") throw new Error(`an odd status: ${status}`);
	}
}
