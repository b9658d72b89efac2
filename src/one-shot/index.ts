/** `-p` and `--mode json`: prompts from the command line, the answer or the events on stdout, an exit code. Nothing waits for a person. */
import { withoutError } from "../lib/as-sentence.ts";
import { exitCodes } from "../lib/exit-codes.ts";
import { toLine } from "../lib/jsonl.ts";
import { printable } from "../lib/printable.ts";
import { runsLaterInWords } from "../lib/runs-later.ts";
import { guardStderr } from "../lib/stderr.ts";
import { UsageError } from "../lib/usage-error.ts";
import { type Arguments, refuseUnknown } from "../live/arguments.ts";
import type { Refusal } from "../live/dispatch.ts";
import type { Extensions } from "../live/extensions.ts";
import type { Front } from "../live/front.ts";
import { checkMcpConfig, loadExtensions, type OpenSession, openSession } from "../live/open-session.ts";
import type { UnaskedCall } from "../live/permissions.ts";
import { unknownTools } from "../live/tool-names.ts";
import { openWorkspace, type Workspace } from "../live/workspace.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { classic, loadDialect } from "../rpc/dialects/index.ts";
import { EventWriter, type UpdateMode } from "../rpc/event-writer.ts";
import { redactExits } from "../rpc/redact-exits.ts";
import { FrameWriter, type OutputStream } from "../rpc/stdio.ts";
import { ask } from "./ask.ts";
import { Ending } from "./ending.ts";
import { Outcome, type Result } from "./outcome.ts";
import { type OneShotPrompt, promptsOf } from "./prompts.ts";
import { unattended } from "./unattended.ts";

type Warn = (text: string) => void;

export async function runOneShot({ options, words, unknown }: Arguments, stdout: OutputStream, warn: Warn): Promise<void> {
	const ending = new Ending();
	ending.prepare();
	const workspace = await openWorkspace({ options, isRpc: false, unknown });
	const extensions = await loadExtensions(workspace, warn);
	// No person notices that an extension is missing, and it may be the one that guards the rest.
	if (extensions?.hasThoseNamed === false) throw new UsageError("Nothing was asked: an extension that --extension names could not be loaded.");
	const wrong = unknownTools(options, extensions?.toolNames());
	if (wrong !== undefined) throw new UsageError(`Nothing was asked. ${wrong}`);
	const flags = extensions?.setFlags(unknown) ?? { unknown, strays: [] };
	refuseUnknown(flags.unknown, warn);
	await checkMcpConfig(workspace);
	// A word after a switch of an extension is a prompt, not the switch's value.
	for (const { at, following } of flags.strays.reverse()) words.splice(at, 0, following as string);
	const prompts = await promptsOf({ words, cwd: workspace.cwd, mayResize: workspace.settings.get("images.autoResize"), warn });
	// Earlier prompts lead up to the value.
	if (options["output-schema"] !== undefined) {
		const { readSchema } = await import("./output-schema.ts");
		(prompts.at(-1) as OneShotPrompt).outputSchema = await readSchema(workspace.cwd, options["output-schema"]);
	}
	// Subagents get the flags of extensions without the words that do not belong to them.
	const own = unknown.map((flag) => (flags.strays.includes(flag) ? { ...flag, following: undefined } : flag));
	await converse({ workspace: { ...workspace, unknown: own }, extensions, prompts, stdout, ending, warn });
}

interface Conversation {
	workspace: Workspace;
	extensions: Extensions | undefined;
	prompts: OneShotPrompt[];
	stdout: OutputStream;
	ending: Ending;
	warn: Warn;
}

/** From the session's header to the end of the process. */
async function converse({ workspace, extensions, prompts, stdout, ending, warn }: Conversation): Promise<void> {
	const { options } = workspace;
	const isJson = options.mode === "json";
	const redactStderr = guardStderr();
	const writer = new FrameWriter(stdout, (error) => void ending.cut(exitCodeOf(error)));
	const asked = options.updates as UpdateMode | undefined;
	const voice = { writer, updates: asked, tell: (frame: OutboundFrame) => events.tell(frame) };
	const dialect = isJson && options.dialect !== undefined ? await loadDialect(options.dialect, voice) : { ...classic, updates: "delta" as const };
	const updates = asked ?? dialect.updates;
	const events: EventWriter = new EventWriter(writer, updates, () => performance.now(), dialect.frames);
	/** Refusals are among the events, as they are for hosts. */
	const refuse = (command: string, { text: error, code }: Refusal) => {
		if (isJson) events.send({ type: "response", command, success: false, error, code });
	};
	const front: Front = {
		flow: writer,
		ui: unattended(warn),
		hasUI: false,
		warn,
		atExit: (then) => void process.once("exit", then),
		sendFailed(command, text, code) {
			warn(`A message of an extension could not be sent: ${text}`);
			refuse(command, { text, code });
		},
		shutdown: () => ending.leave(),
		variations: dialect,
	};
	const { live, ready } = await openSession(workspace, front, extensions && Promise.resolve(extensions), dialect.handlers);
	redactExits({ writer, events, redactStderr }, live.assembly.knownSecrets, !isJson);
	ending.waits = () => extensions?.waits ?? [];
	ending.finish = async () => {
		await live.close("finish");
		events.flush();
		await writer.drained();
	};

	const outcome = new Outcome(isJson && dialect.endsWellAfterFailedReplies);
	if (isJson) writer.write(toLine(live.session.transcript.header));
	live.observe(outcome.hear);
	live.observe(isJson ? (event) => events.write(outcome.explained(event)) : (event) => report(event, warn));
	const result = await askAll({ live, ready }, prompts, { outcome, ending, refuse, warn });
	// The interruption ends the process, and needs no explanation.
	if (ending.hasBegun) return;
	// A terminal obeys what a pipe passes on.
	const text = result.output ?? result.answer;
	if (!isJson && text) writer.write(process.stdout.isTTY ? printable(text) : text);
	const later = runsLaterInWords(live.checkpoints?.runsLater ?? []);
	if (later !== undefined)
		warn(`${later}. Look at them before they run. bowline chat --continue goes on here: /changes shows them, /undo puts them back.`);
	const { unasked } = live.assembly.permissions;
	for (const call of unasked) warn(unaskedText(call));
	if (result.problem !== undefined) console.error(`Error: ${printable(withoutError(result.problem))}`);
	await ending.regular(result.code === exitCodes.done && unasked.length > 0 ? exitCodes.unapproved : result.code);
}

/** The call, shortened, and what would have allowed it. */
function unaskedText({ tool, text, remedy }: UnaskedCall): string {
	const [line = ""] = text.split("\n", 1);
	const shown = line.length > 200 || line !== text ? `${line.slice(0, 200)}…` : line;
	return `Denied, because nobody can be asked here: ${tool} ${shown}. It would be allowed by ${remedy}.`;
}

interface Asking {
	outcome: Outcome;
	ending: Ending;
	refuse: (command: string, refusal: Refusal) => void;
	warn: Warn;
}

/** Sends one prompt after another, until one fails. */
async function askAll({ live, ready }: OpenSession, prompts: readonly OneShotPrompt[], { outcome, ending, refuse, warn }: Asking): Promise<Result> {
	let result: Result = { code: exitCodes.done };
	try {
		await ready;
		for (const [index, prompt] of prompts.entries()) {
			if (ending.isLeaving || ending.hasBegun) break;
			const { model } = live.session.choice;
			if (prompt.images.length > 0 && model?.input.includes("image") === false)
				warn(`${model.id} cannot look at images; the prompt says that there are some.`);
			outcome.begin(prompt.outputSchema !== undefined);
			const refusal = await ask(prompt, live);
			if (refusal !== undefined) refuse("prompt", refusal);
			result = outcome.result(refusal);
			if (result.code === exitCodes.done) continue;
			const left = prompts.length - index - 1;
			if (left > 0) warn(`${left === 1 ? "One more prompt was" : `${left} more prompts were`} not sent.`);
			break;
		}
	} catch (error) {
		live.assembly.log.error("unexpected error", error);
		result = { code: exitCodes.failed };
	}
	return result;
}

/** A closed pipe needs no message. Everything else does, a full disk for example. */
function exitCodeOf(error: NodeJS.ErrnoException): number {
	if (error.code === "EPIPE") return exitCodes.brokenPipe;
	console.error(`Error: stdout could not be written: ${error.code ?? error.message}`);
	return exitCodes.failed;
}

/** What a reader of the log should know before the end. */
function report(event: AgentEvent, warn: Warn): void {
	if (event.type === "auto_retry_start")
		warn(`${event.errorMessage} Attempt ${event.attempt} of ${event.maxAttempts} follows in ${event.delayMs / 1000} s.`);
	else if (event.type === "budget_warning") warn(`The budget is nearly used up (${event.snapshot.reason}).`);
}
