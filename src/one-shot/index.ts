/** `-p` and `--mode json`: prompts from the command line, the answer or the events on stdout, an exit code. Nothing waits for a person. */
import type { Hooks } from "../agent/contracts.ts";
import { exitCodes } from "../lib/exit-codes.ts";
import { toLine } from "../lib/jsonl.ts";
import { redactor, secretsAgeMs } from "../lib/redact.ts";
import { guardStderr } from "../lib/stderr.ts";
import { UsageError } from "../lib/usage-error.ts";
import { type Arguments, type Options, refuseUnknown, type UnknownFlag } from "../live/arguments.ts";
import { assemble } from "../live/assemble.ts";
import { loadBudget } from "../live/budget.ts";
import { mayHaveExtensions, type PlacesInput } from "../live/extension-places.ts";
import type { Extensions } from "../live/extensions.ts";
import { warnOfUnknownTools } from "../live/tool-names.ts";
import { surroundings } from "../live/workspace.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { classic, loadDialect } from "../rpc/dialects/classic.ts";
import { EventWriter, type UpdateMode } from "../rpc/event-writer.ts";
import { FrameWriter, type OutputStream } from "../rpc/stdio.ts";
import { ask } from "./ask.ts";
import { Ending } from "./ending.ts";
import { extend } from "./extend.ts";
import { Outcome, type Result } from "./outcome.ts";
import { type OneShotPrompt, promptsOf } from "./prompts.ts";

type Warn = (text: string) => void;

export async function runOneShot({ options, words, unknown }: Arguments, stdout: OutputStream, warn: Warn): Promise<void> {
	const ending = new Ending();
	ending.prepare();
	process.on("uncaughtException", (error) => console.error("bowline: unexpected error:", error));
	process.on("unhandledRejection", (error) => console.error("bowline: unexpected rejection:", error));

	const places = { options, ...(await surroundings(options, false)) };
	places.settings.warnings.forEach(warn);
	warnOfUnknownTools(options, warn);
	const extensions = mayHaveExtensions(places) ? await (await import("../live/extensions.ts")).Extensions.load(places, warn) : undefined;
	// Without somebody to notice, nothing is done without what was asked for: it may be what guards the rest.
	if (extensions?.hasThoseNamed === false) throw new UsageError("Nothing was asked: an extension that --extension names could not be loaded.");
	const flags = extensions?.setFlags(unknown) ?? { unknown, strays: [] };
	refuseUnknown(flags.unknown, warn);
	// A word behind a switch of an extension is none of its business.
	for (const { at, following } of flags.strays.reverse()) words.splice(at, 0, following as string);
	const prompts = await promptsOf({ words, cwd: places.cwd, mayResize: places.settings.get("images.autoResize"), warn });
	// Subagents get the flags of extensions without the words that are none of theirs.
	const own = unknown.map((flag) => (flags.strays.includes(flag) ? { ...flag, following: undefined } : flag));
	await converse({ options, unknown: own, places, extensions, prompts, stdout, ending, warn });
}

interface Conversation {
	options: Options;
	unknown: UnknownFlag[];
	places: PlacesInput;
	extensions: Extensions | undefined;
	prompts: OneShotPrompt[];
	stdout: OutputStream;
	ending: Ending;
	warn: Warn;
}

/** From the session's header to the end of the process. */
async function converse({ options, unknown, places, extensions, prompts, stdout, ending, warn }: Conversation): Promise<void> {
	const isJson = options.mode === "json";
	const redactStderr = guardStderr();
	const writer = new FrameWriter(stdout, (error) => void ending.cut(unwritten(error)));
	const voice = { writer, tell: (frame: OutboundFrame) => events.tell(frame) };
	const dialect = isJson && options.dialect !== undefined ? await loadDialect(options.dialect, voice) : { ...classic, updates: "delta" as const };
	const updates = (options.updates as UpdateMode | undefined) ?? dialect.updates;
	const events: EventWriter = new EventWriter(writer, updates, () => performance.now(), dialect.frames);
	const hooks: Hooks = {};
	const budget = await loadBudget(places.settings, warn);
	const atExit = (then: () => void) => void process.once("exit", then);
	const assembly = assemble({
		...places,
		unknown,
		environment: process.env,
		flow: writer,
		hostTools: () => [],
		hooks,
		budget,
		dialect,
		warn,
		atExit,
	});
	const { session } = assembly;
	const exits = redactor(assembly.models.knownSecrets, secretsAgeMs);
	writer.redact = isJson ? exits.line : exits.text;
	events.filterDeltas = exits.pieces;
	redactStderr(exits.text);
	// However it ends, save by a kill: nobody finds a lock of ours.
	atExit(() => session.transcript.close());
	ending.waits = () => extensions?.waits ?? [];
	ending.finish = async () => {
		hooks.abort?.();
		await Promise.all([assembly.close(), session.abort()]);
		await extensions?.shutdown();
		await session.close();
		events.flush();
		await writer.drained();
	};

	const outcome = new Outcome();
	if (isJson) writer.write(toLine(session.transcript.header));
	if (extensions) session.observe((event) => extensions.hear(event));
	session.observe(outcome.hear);
	session.observe(isJson ? events.write : (event) => tell(event, warn));
	/** What is refused stands among the events as it does for hosts. */
	const refuse = (command: string, error: string) => {
		if (isJson) events.send({ type: "response", command, success: false, error });
	};
	let isLeaving = false;
	const shutdown = () => {
		isLeaving = true;
	};

	let result: Result = { code: exitCodes.done };
	try {
		if (extensions) await extend(extensions, { ...assembly, ...places, hooks, warn, refuse, shutdown });
		else await assembly.chooseModel();
		for (const [index, prompt] of prompts.entries()) {
			if (isLeaving || ending.hasBegun) break;
			if (prompt.images.length > 0 && session.choice.model?.input.includes("image") === false)
				warn(`${session.choice.model.id} cannot look at images; it is told that there are some.`);
			outcome.begin();
			const refusal = await ask(prompt, { session, hooks, prompting: assembly.prompting });
			if (refusal !== undefined) refuse("prompt", refusal);
			result = outcome.result(refusal);
			if (result.code === exitCodes.done) continue;
			const left = prompts.length - index - 1;
			if (left > 0) warn(`${left === 1 ? "One more prompt was" : `${left} more prompts were`} not sent.`);
			break;
		}
	} catch (error) {
		console.error("bowline: unexpected error:", error);
		result = { code: exitCodes.failed };
	}
	// Whoever interrupted ends the process, and needs no explanation.
	if (ending.hasBegun) return;
	if (!isJson && result.answer) writer.write(result.answer);
	if (result.problem !== undefined) console.error(`Error: ${result.problem}`);
	await ending.regular(result.code);
}

/** Nobody reads any more: that is no reason for words. Everything else is, a full disk for example. */
function unwritten(error: NodeJS.ErrnoException): number {
	if (error.code === "EPIPE") return exitCodes.brokenPipe;
	console.error(`Error: stdout could not be written: ${error.code ?? error.message}`);
	return exitCodes.failed;
}

/** What someone who reads the log should know before the end. */
function tell(event: AgentEvent, warn: Warn): void {
	if (event.type === "auto_retry_start")
		warn(`${event.errorMessage} Attempt ${event.attempt} of ${event.maxAttempts} follows in ${event.delayMs / 1000} s.`);
	else if (event.type === "budget_warning") warn(`The budget is nearly used up (${event.snapshot.reason}).`);
}
