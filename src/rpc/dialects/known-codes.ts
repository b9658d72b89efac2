/** Hosts of other agents know few codes: dialects that stand for one leave out the rest. */
import { type ErrorRow, errors } from "../../protocol/errors.ts";
import type { EventOf, Response } from "../../protocol/events.ts";

type Coded = Response | EventOf<"run_result">;

/** Returns the frame without a code that the dialect does not have. */
export function withKnownCode<Frame extends Coded>(frame: Frame): Frame {
	if (frame.type === "run_result") {
		const { code: _, ...error } = frame.error ?? {};
		return frame.error ? { ...frame, error } : frame;
	}
	const { code, ...rest } = frame;
	if (code === undefined) return frame;
	const row = errors[code] as ErrorRow | undefined;
	// The refusals of a server, which may be a newer one, have their codes in every dialect.
	return row?.from === "agent" && !row.inDialects ? (rest as Frame) : frame;
}
