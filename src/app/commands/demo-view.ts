/** Shows frames to the user: one line each, coloured on a terminal. */
import type { AgentEvent, Response } from "../../protocol/events.ts";
import type { ToolResult } from "../../protocol/messages.ts";

export interface Tally {
	turns: number;
	toolCalls: number;
	sessionFile: string | undefined;
	/** Updates of the block that is streaming. */
	deltas: number;
	/** What the subagent was last seen doing. */
	atWork: string | undefined;
}

const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code: number) => (text: string) => (isColoured ? `\x1b[${code}m${text}\x1b[0m` : text);
const [dim, red, green, yellow, blue, cyan] = [2, 31, 32, 33, 34, 36].map(paint) as [Paint, Paint, Paint, Paint, Paint, Paint];
type Paint = (text: string) => string;

const width = () => Math.max(60, process.stdout.columns ?? 120);

/** Shows a frame that passes (`out`: to the agent) and counts. */
export function showFrame(direction: "in" | "out", line: string, tally: Tally): void {
	const frame = JSON.parse(line) as AgentEvent | Response;
	if (direction === "out") return print(cyan("host  →"), line);
	switch (frame.type) {
		case "turn_start":
			tally.turns += 1;
			break;
		case "tool_execution_start":
			tally.toolCalls += 1;
			break;
		case "agent_end":
			tally.sessionFile = frame.sessionFile;
			break;
	}
	const text = describe(frame, tally);
	if (text !== undefined) print(blue("agent ←"), text);
}

/** What is worth seeing of a frame; nothing for the ones that only repeat. */
function describe(frame: AgentEvent | Response, tally: Tally): string | undefined {
	switch (frame.type) {
		case "message_start":
			return undefined;
		case "tool_execution_update":
			return progress(frame.partialResult, tally);
		case "subagent_start":
			return `${dim("subagent_start")} ${yellow(frame.id)} ${frame.isolated ? "in a copy of the repository" : ""}`;
		case "subagent_verification_start":
			return `${dim("subagent_verification_start")} attempt ${frame.attempt}`;
		case "subagent_verification_command_start":
			return `${dim("subagent_verification_command_start")} ${yellow(frame.commandName)}`;
		case "subagent_verification_command_end":
			return `${dim("subagent_verification_command_end")} ${yellow(frame.commandName)} ${passed(frame.exitCode === 0, `exit ${frame.exitCode}`)}`;
		case "subagent_verification_end":
			return `${dim("subagent_verification_end")} attempt ${frame.attempt} ${passed(frame.status === "passed", frame.status)}`;
		case "subagent_end":
			return `${dim("subagent_end")} ${yellow(frame.id)} ${passed(frame.exitCode === 0, `exit ${frame.exitCode}`)}`;
		case "message_update": {
			const step = frame.assistantMessageEvent;
			if ("delta" in step) tally.deltas += 1;
			if (!step.type.endsWith("_end")) return undefined;
			const head = dim(`message_update ×${tally.deltas}`);
			tally.deltas = 0;
			if (step.type === "text_end") return `${head} ${green(step.content)}`;
			if (step.type === "thinking_end") return `${head} ${dim(step.content)}`;
			return `${head} ${step.type === "toolcall_end" ? `calls ${step.toolCall.name}` : ""}`;
		}
		case "message_end":
			return `${dim("message_end")} ${frame.message.role}`;
		case "tool_execution_start":
			return `${dim("tool_execution_start")} ${yellow(frame.toolName)} ${JSON.stringify(frame.args)}`;
		case "tool_execution_end":
			return `${dim("tool_execution_end")} ${yellow(frame.toolName)} ${frame.isError ? red("error") : green("ok")} ${lastLine(frame.result)}`;
		case "agent_end":
			return `${dim("agent_end")} ${frame.messages.length} messages`;
		case "turn_end":
			return `${dim("turn_end")} ${frame.toolResults.length} tool results`;
		default:
			return dim(JSON.stringify(frame));
	}
}

const passed = (isGood: boolean, text: string) => (isGood ? green : red)(text);

/** The tool that a subagent has begun to use. */
function progress({ details }: ToolResult, tally: Tally): string | undefined {
	const [task] = (details as { progress?: { id: string; currentTool?: string; currentToolArgs?: string }[] } | undefined)?.progress ?? [];
	const doing = task?.currentTool && `${task.id} ${task.currentTool} ${task.currentToolArgs ?? ""}`;
	if (!doing || doing === tally.atWork) return undefined;
	tally.atWork = doing;
	return `${dim("tool_execution_update")} ${yellow(task?.id ?? "")} uses ${task?.currentTool} ${task?.currentToolArgs}`;
}

function lastLine({ content }: ToolResult): string {
	const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
	return text.trimEnd().split("\n").at(-1) ?? "";
}

function print(head: string, text: string): void {
	console.log(`${head} ${clipped(text.replace(/\s*\n\s*/g, " ⏎ "), width() - 9)}`);
}

/** At most this many visible characters; colour codes take no room. */
function clipped(text: string, room: number): string {
	let visible = 0;
	for (let index = 0; index < text.length; index++) {
		if (text[index] === "\x1b") index = text.indexOf("m", index);
		else if (++visible > room - 1) return `${text.slice(0, index)}${isColoured ? "\x1b[0m" : ""}…`;
	}
	return text;
}
