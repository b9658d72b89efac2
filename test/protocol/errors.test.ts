/** The table of error codes, and what follows from it. */
import { describe, expect, test } from "vitest";
import { CommandError } from "../../src/protocol/command-error.ts";
import { type ErrorCode, type ErrorRow, errorCodes, errors, exitCodeOf, httpStatusOf } from "../../src/protocol/errors.ts";
import type { Response } from "../../src/protocol/events.ts";
import type { OutboundFrame } from "../../src/protocol/frames.ts";
import { loadDialect } from "../../src/rpc/dialects/index.ts";
import { Refusal } from "../../src/serve/refusal.ts";
import { flawsIn } from "../error-texts.ts";

const rows = Object.entries(errors as Record<string, ErrorRow>) as [ErrorCode, ErrorRow][];

describe("rows", () => {
	test.each(rows)("%s: what it means and what to do, in sentences that a page can show", (code, { doc, http, from }) => {
		expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
		expect(doc).toMatch(/^[A-Z`][\s\S]*[.)]$/);
		expect(flawsIn(doc)).toEqual([]);
		for (const status of http === undefined ? [] : [http].flat()) expect(status >= 400 && status < 600).toBe(true);
		// What is refused over HTTP needs a status; what a client says has none.
		expect(http === undefined).toBe(from === "client");
	});

	test("only a budget and wrong use end a command line with another code than 1", () => {
		expect(Object.fromEntries(errorCodes.map((code) => [code, exitCodeOf(code)]).filter(([, exit]) => exit !== 1))).toEqual({
			bad_field: 2,
			budget_exceeded: 3,
		});
	});
});

describe("a refusal over HTTP", () => {
	test("has the status of its code, the first where there are several", () => {
		expect(new Refusal("seat_taken", "no").status).toBe(409);
		expect(new Refusal("bad_json", "no")).toMatchObject({ status: 400, body: { error: { code: "bad_json", message: "no" } } });
		expect(new Refusal("bad_json", "no", { status: 413 }).status).toBe(413);
		expect(httpStatusOf("session_deleted")).toBe(410);
	});

	test("with a status that its code does not have does not compile", () => {
		// @ts-expect-error 404 is no status of bad_json
		expect(new Refusal("bad_json", "no", { status: 404 }).status).toBe(404);
	});
});

test("a failure without a code, or with one that is not in the table, does not compile", () => {
	// @ts-expect-error the code comes first
	expect(() => Promise.reject(new CommandError("It failed"))).toBeDefined();
	// @ts-expect-error there is no such code
	expect(new CommandError("no_such_code", "It failed").message).toBe("It failed");
});

describe("what a host reads of a failure", () => {
	const failed = (code: ErrorCode): Response => ({ id: "1", type: "response", command: "compact", success: false, error: "no", code });
	const framesOf = async (name: string) => {
		const dialect = await loadDialect(name, { tell: () => undefined, writer: { split: undefined } });
		return (frame: OutboundFrame) => dialect.frames?.(frame) ?? [frame];
	};

	test.each(["pi", "omp"])("dialect %s: the codes of an agent that its hosts know, and those of a server", async (name) => {
		const send = await framesOf(name);
		for (const [code, { from, inDialects }] of rows) {
			const { code: _, ...without } = failed(code);
			expect(send(failed(code)), code).toEqual([from !== "agent" || inDialects ? failed(code) : without]);
		}
	});

	test("dialect strict: no codes", async () => {
		const send = await framesOf("strict");
		for (const code of errorCodes) expect(JSON.stringify(send(failed(code))), code).not.toContain('"code"');
	});

	test("dialects pi and omp: the result of a run that was refused is the same as before, too", async () => {
		const error = { kind: "refused", message: "No model.", retryable: false };
		const usage = {
			input: 0,
			output: 0,
			cacheRead: 0,
			cacheWrite: 0,
			totalTokens: 0,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		};
		const result = { type: "run_result" as const, runId: "r_1", status: "error" as const, usage };
		for (const name of ["pi", "omp"])
			expect((await framesOf(name))({ ...result, error: { ...error, code: "no_model" } })).toEqual([{ ...result, error }]);
	});

	test("a code of a newer server goes through", async () => {
		const newer = failed("newer_than_this" as ErrorCode);
		expect((await framesOf("pi"))(newer)).toEqual([newer]);
	});
});
