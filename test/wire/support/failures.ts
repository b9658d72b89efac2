/** What holds for the failures of every transcript: a code that the dialect has, and texts that a person can be shown. */
import { type ErrorRow, errors } from "../../../src/protocol/errors.ts";
import { flawsIn } from "../../error-texts.ts";
import type { Frame } from "./match.ts";

/** Members of frames that say why something failed. */
const reasons = ["error", "hint", "errorMessage", "finalError"] as const;

/** Throws for the first frame that breaks a rule. */
export function checkFailures(frames: readonly Frame[], dialect: string): void {
	for (const frame of frames) {
		const problem = problemWith(frame, dialect);
		if (problem) throw new Error(`${problem}: ${JSON.stringify(frame)}`);
	}
}

function problemWith(frame: Frame, dialect: string): string | undefined {
	for (const name of reasons) {
		const text = frame[name];
		const [flaw] = typeof text === "string" ? flawsIn(text) : [];
		if (flaw) return `${flaw} in ${name}`;
	}
	if (frame.type !== "response") return undefined;
	const { code, success } = frame;
	if (success) return code === undefined ? undefined : "a success has a code";
	const row = errors[code as keyof typeof errors] as ErrorRow | undefined;
	if (code === "internal") return "a fault that no transcript provokes on purpose";
	if (dialect === "classic") return row ? undefined : "a failure has no code of the table";
	if (code === undefined) return undefined;
	return dialect !== "strict" && row?.inDialects ? undefined : `dialect ${dialect} has a code that its hosts do not know`;
}
