/** Makes records fit for a folder of tests: shorter, without waiting times, several in one. Pure. */
import type { ModelRecord, RecordedRequest, RecordedStep } from "./format.ts";

type Line = ModelRecord["lines"][number];

/** The first requests of each agent, with the results of the tools they called. Deltas of a block become one, and pauses go away. */
export function trimmed({ header, lines }: ModelRecord, requests = Number.POSITIVE_INFINITY): ModelRecord {
	const kept: Line[] = [];
	const calls = new Set<string>();
	for (const line of lines) {
		if (line.type === "tool") {
			if (calls.has(line.toolCallId)) kept.push(line);
		} else if (line.request <= requests) {
			if (line.type === "event" && line.event.type === "toolcall_end") calls.add(line.event.toolCall.id);
			const last = kept.at(-1);
			if (line.type !== "event") kept.push(line);
			else if (!last || !joinInto(last, line)) kept.push({ ...line, after: 0 });
		}
	}
	return { header, lines: kept };
}

/** Whether a delta was added to the one in front of it. */
function joinInto(last: Line, { request, agent, event }: RecordedStep): boolean {
	if (last.type !== "event" || last.request !== request || last.agent !== agent || !("delta" in event) || !("delta" in last.event)) return false;
	if (last.event.type !== event.type || last.event.contentIndex !== event.contentIndex) return false;
	last.event = { ...last.event, delta: last.event.delta + event.delta };
	return true;
}

/** One record after the other: the requests of each agent go on counting. */
export function merged(records: readonly [ModelRecord, ...ModelRecord[]]): ModelRecord {
	const lines: Line[] = [];
	const counts = new Map<string, number>();
	for (const record of records) {
		const before = new Map(counts);
		for (const line of record.lines) {
			if (line.type === "tool") {
				lines.push(line);
				continue;
			}
			const request = (before.get(line.agent) ?? 0) + line.request;
			counts.set(line.agent, Math.max(counts.get(line.agent) ?? 0, request));
			lines.push({ ...line, request });
		}
	}
	return { header: records[0].header, lines };
}

/** A summary for people: one line per request and per tool call. */
export function summaryOf({ header, lines }: ModelRecord): string[] {
	const shown = [`Recorded ${header.created} by Bowline ${header.bowline}`];
	for (const line of lines) {
		if (line.type === "request") shown.push(requestLine(line));
		else if (line.type === "tool") shown.push(`    ${line.toolName} ${short(JSON.stringify(line.args))} → ${short(textOf(line.result.content))}`);
		else if (line.event.type === "done") shown.push(`  ${line.event.message.stopReason}: ${short(textOf(line.event.message.content))}`);
		else if (line.event.type === "error") shown.push(`  ${line.event.error.stopReason}: ${short(line.event.error.errorMessage ?? "")}`);
	}
	return shown;
}

function requestLine({ request, agent, model, added }: RecordedRequest): string {
	const said = Object.values(added).findLast((text) => /^(user|result of )/.test(text)) ?? "";
	return `${agent} ${request}: ${model.provider}/${model.id} ← ${short(said)}`;
}

const textOf = (content: readonly { type: string }[]) =>
	content.map((block) => ("text" in block ? String(block.text) : "name" in block ? `[${String(block.name)}]` : `[${block.type}]`)).join(" ");

function short(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
