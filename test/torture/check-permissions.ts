/** Rules about questions: each is closed once, and nothing runs that the host did not allow. Pure. */
import { createHash } from "node:crypto";
import type { Frame, Life } from "./host.ts";

/** Calls of these tools are always asked about in mode `ask`. */
const asking = new Set(["bash", "write", "edit", "odd"]);

export function checkPermissions(life: Life, isWhole: boolean): string[] {
	const watch = new Watch();
	for (const { way, frame } of life.trace) {
		if (way === ">") watch.tell(frame);
		if (way === "<") watch.hear(frame);
	}
	return [...watch.problems, ...(isWhole ? watch.open() : [])];
}

class Watch {
	readonly problems: string[] = [];
	/** The host was told of questions at all: without this, another route applies. */
	#isAsking = false;
	#questions = new Map<string, { frame: Frame; resolved?: Frame }>();
	/** The answers that close a question, in their order. */
	#answers = new Map<string, Frame[]>();
	/** Tools with a call that was allowed for the session. */
	#granted = new Set<string>();
	#calls = new Map<string, Frame>();

	tell(frame: Frame): void {
		if (frame.type === "hello") this.#isAsking = true;
		if (frame.type !== "permission_response" || !isWellFormed(frame)) return;
		this.#answers.set(String(frame.id), [...(this.#answers.get(String(frame.id)) ?? []), frame]);
	}

	hear(frame: Frame): void {
		switch (frame.type) {
			case "permission_request":
				return this.#request(frame);
			case "permission_resolved":
				return this.#resolved(frame);
			case "tool_execution_start":
				return void this.#calls.set(String(frame.toolCallId), frame);
			case "tool_execution_end":
				return this.#ended(frame);
			case "host_tool_call":
				return this.#expect(!this.#isDenied(String(frame.toolCallId)), `the host tool ran in ${frame.toolCallId}, which was not allowed`);
		}
	}

	open(): string[] {
		return [...this.#questions].flatMap(([id, { resolved }]) => (resolved ? [] : [`the question ${id} was never closed`]));
	}

	#request(frame: Frame): void {
		const id = String(frame.id);
		this.#expect(!this.#questions.has(id), `the question ${id} was asked twice`);
		this.#expect(frame.digest === digestOf(frame.subject), `the digest of ${id} does not fit its subject`);
		this.#questions.set(id, { frame });
	}

	#resolved(frame: Frame): void {
		const question = this.#questions.get(String(frame.id));
		if (!question) return this.#expect(false, `${frame.id} was closed and never asked`);
		this.#expect(!question.resolved, `the question ${frame.id} was closed twice`);
		question.resolved = frame;
		this.#expect(frame.digest === question.frame.digest, `${frame.id} was closed with another digest`);
		if (frame.outcome !== "allowed") return;
		const tool = String((question.frame.subject as { tool: string }).tool);
		if (frame.by !== "host") return this.#expect(this.#granted.has(tool), `${frame.id} was allowed by ${frame.by}, and the host granted nothing`);
		const [first] = this.#answers.get(String(frame.id)) ?? [];
		const fits = first?.decision === "allow" && first.digest === frame.digest;
		this.#expect(fits, `${frame.id} was allowed, and the first answer was ${JSON.stringify(first)}`);
		if (first?.scope === "session") this.#granted.add(tool);
	}

	#ended(frame: Frame): void {
		const call = String(frame.toolCallId);
		const { toolName, args } = this.#calls.get(call) ?? frame;
		if (!this.#isAsking || !asking.has(String(toolName)) || frame.isError === true) return;
		const asked = this.#about(call);
		this.#expect(asked.length <= 1, `${call} was asked about ${asked.length} times`);
		const [question] = asked;
		if (!question) return this.#expect(this.#granted.has(String(toolName)), `${toolName} ran in ${call} without a question`);
		this.#expect(question.resolved?.outcome === "allowed", `${toolName} ran in ${call}, which was ${question.resolved?.outcome ?? "still open"}`);
		const judged = (question.frame.subject as { args: unknown }).args;
		this.#expect(canonical(judged) === canonical(args), `${call} ran with arguments that were not asked about`);
	}

	#isDenied(call: string): boolean {
		return this.#about(call).some(({ resolved }) => resolved?.outcome !== "allowed");
	}

	/** The questions about a call of this session; those of subagents have an origin. */
	#about(call: string): { frame: Frame; resolved?: Frame }[] {
		return [...this.#questions.values()].filter(({ frame }) => frame.toolCallId === call && (frame.origin as unknown[]).length === 0);
	}

	#expect(holds: boolean, problem: string): void {
		if (!holds) this.problems.push(problem);
	}
}

function isWellFormed({ decision, scope }: Frame): boolean {
	return (decision === "allow" || decision === "deny") && (scope === undefined || ["once", "session", "always"].includes(String(scope)));
}

const digestOf = (subject: unknown) => `sha256:${createHash("sha256").update(canonical(subject)).digest("hex")}`;

/** As the protocol describes it, written a second time. */
function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
	const members = Object.entries(value).filter(([, member]) => member !== undefined);
	return `{${members
		.toSorted(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
		.join(",")}}`;
}
