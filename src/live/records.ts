/** Records a session, or answers its tool calls from a record. Loaded where a flag asks for it. */
import { resolve } from "node:path";
import { UsageError } from "../lib/usage-error.ts";
import { Recorder } from "../models/records/recorder.ts";
import { replayedTools } from "../models/records/tools.ts";
import { loadScript } from "../models/scripted/index.ts";
import type { Assembly } from "./assemble.ts";
import type { Front } from "./front.ts";
import { identityOf } from "./identity.ts";
import { replayOptions } from "./models.ts";
import type { Workspace } from "./workspace.ts";

type Parts = Pick<Assembly, "session" | "models" | "sources">;

export async function useRecords(parts: Parts, workspace: Workspace, front: Pick<Front, "warn" | "atExit">): Promise<void> {
	const { record, "replay-tools": replaysTools } = workspace.options;
	if (record !== undefined) startRecording(parts, workspace, record, front);
	if (replaysTools) await replayTools(parts, workspace, front.warn);
}

function startRecording({ session, models }: Parts, workspace: Workspace, path: string, { warn, atExit }: Pick<Front, "warn" | "atExit">): void {
	const { cwd, subagent } = workspace;
	const { agent } = replayOptions(workspace, warn);
	const { redact, now } = session.edges;
	const file = resolve(cwd, path);
	try {
		const recorder = new Recorder({
			file,
			agent,
			isSubagent: subagent !== undefined,
			cwd,
			version: identityOf(workspace).version,
			redact,
			warn,
			now,
		});
		models.wrap((stream) => recorder.recording(stream));
		session.doors.put(recorder.policy);
		atExit(recorder.close);
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw new UsageError(code === "EEXIST" ? `--record ${path}: the file exists. Remove it, or name another.` : `--record ${path}: ${message}`);
	}
}

async function replayTools({ sources, models }: Parts, workspace: Workspace, warn: (text: string) => void): Promise<void> {
	const { options } = workspace;
	const name = models.startScript()?.model.id;
	const loaded = name === undefined ? undefined : await loadScript(name, models.scriptDirectory);
	if (!loaded || !("record" in loaded)) {
		const reason = loaded && "problem" in loaded ? ` ${loaded.problem}` : "";
		throw new UsageError(`--replay-tools needs a record to play: --provider scripted --model <record>.${reason}`);
	}
	const { agent, isStrict } = replayOptions(workspace, warn);
	sources.wrap = replayedTools(loaded.record, { agent, source: name ?? options.model ?? "", isStrict });
}
