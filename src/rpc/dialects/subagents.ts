/** Reports subagents to hosts of omp: when they start and end, what they do, what they have said. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Handlers } from "../../live/commands/contract.ts";
import type { SubagentListener } from "../../live/front.ts";
import { CommandError } from "../../protocol/command-error.ts";
import type { CommandResult } from "../../protocol/commands/index.ts";
import type { OmpEvent } from "../../protocol/dialect-events.ts";
import type { EventOf } from "../../protocol/events.ts";
import type { OutboundFrame } from "../../protocol/frames.ts";
import type { Session } from "../../session/session.ts";

type Names = "set_subagent_subscription" | "get_subagents" | "get_subagent_messages";
type Subagent = CommandResult<"get_subagents">["subagents"][number];
type Told = CommandResult<"get_subagent_messages">;
type Facts = Parameters<SubagentListener["begins"]>[0];

const levels = ["off", "progress", "events"] as const;
const levelText = "set_subagent_subscription: level must be one of off, progress, events";

export class Subagents implements SubagentListener {
	#tell: (frame: OmpEvent) => void;
	#level: (typeof levels)[number] = "off";
	#known = new Map<string, Subagent>();
	#facts = new Map<string, Facts>();
	#aborted = new Set<string>();
	/** How often each has asked its model. */
	#requests = new Map<string, number>();
	/** Where the session is stored: those of its subagents are in a directory of the same name. */
	#sessionFile: () => string | undefined = () => undefined;

	constructor(tell: (frame: OmpEvent) => void) {
		this.#tell = tell;
	}

	/** The events to send along with a frame, if the host has subscribed. */
	hear(frame: OutboundFrame): OmpEvent[] {
		const news = this.#news(frame);
		return this.#level === "off" ? [] : news;
	}

	begins(facts: Facts): void {
		this.#facts.set(facts.id, facts);
		this.#requests.set(facts.id, 0);
	}

	hears(id: string, event: { type: string }): void {
		if (event.type === "turn_end") this.#requests.set(id, (this.#requests.get(id) ?? 0) + 1);
		if (this.#level === "events") this.#tell({ type: "subagent_event", payload: { id, event: { ...event } } });
	}

	ends(id: string, isAborted: boolean): void {
		if (isAborted) this.#aborted.add(id);
	}

	wantsAll(): boolean {
		return this.#level === "events";
	}

	handlers(session: Session): Pick<Handlers, Names> {
		this.#sessionFile = () => session.transcript.file;
		return {
			set_subagent_subscription: ({ level }) => {
				const found = levels.find((each) => each === level);
				if (!found) throw new CommandError("bad_field", levelText);
				this.#level = found;
				return { level };
			},
			get_subagents: () => ({ subagents: [...this.#known.values()] }),
			get_subagent_messages: ({ subagentId, sessionFile, fromByte = 0 }) => {
				if (subagentId === undefined && sessionFile === undefined)
					throw new CommandError("bad_field", "get_subagent_messages: subagentId must be string");
				const all = [...this.#known.values()];
				const found = all.find((each) => (subagentId === undefined ? each.sessionFile === sessionFile : each.id === subagentId));
				if (!found) throw new CommandError("not_found", `Subagent not found: ${subagentId ?? sessionFile}. See get_subagents`);
				if (found.sessionFile === undefined)
					throw new CommandError("unsupported", `Nothing is stored of subagent ${found.id}, because nothing is of the session`);
				return toldIn(found.sessionFile, fromByte);
			},
		};
	}

	#news(frame: OutboundFrame): OmpEvent[] {
		switch (frame.type) {
			case "subagent_start": {
				const { id, taskId, agent, isolated } = frame;
				const file = this.#sessionFile();
				const sessionFile = file && join(file.replace(/(\.jsonl)?$/, file.endsWith(".jsonl") ? "" : ".artifacts"), `${id}.jsonl`);
				return this.#lifecycle({ id, taskId, agent, isolated, ...this.#facts.get(id), status: "running", sessionFile }, "started");
			}
			case "subagent_end": {
				const { id, exitCode } = frame;
				const before = this.#known.get(id);
				if (!before) return [];
				const status = exitCode === 0 ? "completed" : this.#aborted.delete(id) ? "aborted" : "failed";
				return this.#lifecycle({ ...before, status, exitCode }, status);
			}
			case "tool_execution_update":
				return frame.toolName === "task" ? this.#progress(frame) : [];
			default:
				return [];
		}
	}

	#lifecycle(subagent: Subagent, status: "started" | "completed" | "failed" | "aborted"): OmpEvent[] {
		this.#known.set(subagent.id, subagent);
		const { progress: _, ...payload } = subagent;
		return [{ type: "subagent_lifecycle", payload: { ...payload, status } }];
	}

	/** An update contains all tasks of a call; only those that have changed are forwarded. */
	#progress({ partialResult }: EventOf<"tool_execution_update">): OmpEvent[] {
		const { progress } = (partialResult.details ?? {}) as { progress?: { id: string }[] };
		return (progress ?? []).flatMap((told): OmpEvent[] => {
			const before = this.#known.get(told.id);
			if (!before) return [];
			const { index, agent, agentSource, assignment, parentToolCallId, sessionFile } = before;
			const now = { ...told, agentSource, task: assignment, requests: this.#requests.get(told.id) };
			if (JSON.stringify(before.progress) === JSON.stringify(now)) return [];
			this.#known.set(told.id, { ...before, progress: now });
			return [{ type: "subagent_progress", payload: { index, agent, agentSource, task: assignment, parentToolCallId, sessionFile, progress: now } }];
		});
	}
}

/** The complete lines of a session from a place on. From the start when the file is shorter than that. */
function toldIn(sessionFile: string, fromByte: number): Told {
	const bytes = bytesOf(sessionFile);
	const reset = fromByte > bytes.length;
	const from = reset ? 0 : Math.max(0, fromByte);
	if (from > 0 && bytes[from - 1] !== 0x0a)
		throw new CommandError("bad_field", "get_subagent_messages: fromByte must be nextByte of an earlier answer");
	const nextByte = Math.max(from, bytes.lastIndexOf(0x0a) + 1);
	const lines = bytes.toString("utf8", from, nextByte).split("\n");
	const entries = lines.flatMap((line): Told["entries"] => (line === "" ? [] : [JSON.parse(line)]));
	const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message as Told["messages"][number]] : []));
	return { sessionFile, fromByte: from, nextByte, reset, entries, messages };
}

/** A subagent that has said nothing yet has no file. */
function bytesOf(file: string): Buffer {
	try {
		return readFileSync(file);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
		throw new CommandError("io", `The subagent's session cannot be read: ${(error as Error).message}`);
	}
}
