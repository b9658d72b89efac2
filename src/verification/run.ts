/** Makes one attempt: every check, one after another, in the isolated workspace. */

import { gitPlaceVariables } from "../lib/git-variables.ts";
import type { Shell, ShellResult } from "../lib/shell/index.ts";
import { truncateTail } from "../lib/truncate.ts";
import type { VerificationAttempt, VerificationCommand, VerificationCommandResult } from "../protocol/subagents.ts";
import type { BeforeCommand, VerificationSubject, Verify } from "./contracts.ts";
import { failedChecks } from "./failures.ts";
import { checkLog } from "./log.ts";

export interface VerifyInput {
	/** Its environment holds no credentials, and it takes them out of what is printed. */
	shell: () => Promise<Pick<Shell, "run">>;
	/** Absent when all commands may run. */
	beforeCommand?: BeforeCommand;
	now: () => number;
}

/** As `timeout` and shells say it. */
const timedOutCode = 124;
const abortedCode = 143;
const notStartedCode = 126;

export function verification({ shell, beforeCommand, now }: VerifyInput): Verify {
	return async (plan, attempt, subject) => {
		const startedAt = now();
		const facts = { id: subject.id, taskId: subject.taskId, attempt };
		subject.emit({ type: "subagent_verification_start", ...facts, ...(plan.profile === undefined ? {} : { profile: plan.profile }) });
		const commandResults: VerificationCommandResult[] = [];
		let isAborted = subject.signal.aborted;
		for (const command of isAborted ? [] : plan.commands) {
			subject.emit({ type: "subagent_verification_command_start", ...facts, commandName: command.name });
			const check = await runCheck(command, `a${attempt}-${commandResults.length + 1}`, subject);
			const { exitCode, durationMs, artifactPath } = check.result;
			commandResults.push(check.result);
			const artifact = artifactPath === undefined ? {} : { artifactId: artifactPath };
			subject.emit({ type: "subagent_verification_command_end", ...facts, commandName: command.name, exitCode, durationMs, ...artifact });
			isAborted = check.isAborted || subject.signal.aborted;
			if (isAborted) break;
		}
		const outcome = verdict(commandResults, isAborted);
		subject.emit({ type: "subagent_verification_end", ...facts, status: outcome.status });
		return { attempt, startedAt, endedAt: now(), commandResults, ...outcome };
	};

	async function runCheck(
		{ name, command, timeoutMs, optional }: VerificationCommand,
		place: string,
		subject: VerificationSubject,
	): Promise<{ result: VerificationCommandResult; isAborted: boolean }> {
		const began = now();
		const log = checkLog(subject.artifact(`${subject.id}.verify.${place}-${slug(name)}.log`));
		const end = (exitCode: number, output: string, timedOut: boolean): VerificationCommandResult => ({
			name,
			command,
			exitCode,
			durationMs: now() - began,
			...(optional === undefined ? {} : { optional }),
			...(timedOut ? { timedOut } : {}),
			...(log.path === undefined ? {} : { artifactPath: log.path }),
			...(output.trim() === "" ? {} : { outputPreview: preview(output) }),
		});
		let ended: ShellResult;
		try {
			const { cwd, signal } = subject;
			const permit = (await beforeCommand?.(command, signal)) ?? { command };
			if (signal.aborted) return { result: end(abortedCode, "", false), isAborted: true };
			if ("reason" in permit) return { result: end(notStartedCode, permit.reason, false), isAborted: false };
			const request = {
				command: permit.command,
				timeoutMs,
				cwd,
				login: true,
				sweep: true,
				stripControls: true,
				log,
				signal,
				unset: gitPlaceVariables,
			};
			ended = await (await shell()).run(request);
		} catch (error) {
			return { result: end(notStartedCode, (error as Error).message, false), isAborted: false };
		} finally {
			log.close();
		}
		const code = ended.exitCode ?? (ended.timedOut ? timedOutCode : abortedCode);
		return { result: end(code, ended.output, ended.timedOut), isAborted: ended.aborted };
	}
}

function verdict(results: VerificationCommandResult[], isAborted: boolean): Pick<VerificationAttempt, "status" | "error"> {
	if (isAborted) return { status: "skipped", error: "Verification was aborted." };
	if (failedChecks({ commandResults: results }).length === 0) return { status: "passed" };
	return { status: "failed", error: "One or more verification commands failed." };
}

const previewLimits = { maxLines: 20, maxBytes: 50 * 1024 };
const previewCharacters = 4000;

function preview(output: string): string {
	const lines = truncateTail(output.trimEnd(), previewLimits).text;
	const from = Math.max(0, lines.length - previewCharacters);
	// Not in the middle of a character.
	const isTorn = (lines.charCodeAt(from) & 0xfc00) === 0xdc00;
	return lines.slice(isTorn ? from + 1 : from);
}

function slug(name: string): string {
	const words = name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-+|-+$/g, "");
	return words.slice(0, 40) || "check";
}
