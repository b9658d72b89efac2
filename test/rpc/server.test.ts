/** Lanes: which commands overtake which, and how a bug looks from outside. */
import { expect, test } from "vitest";
import { deferred } from "../../src/lib/deferred.ts";
import type { Handlers } from "../../src/live/commands/contract.ts";
import { Dispatch } from "../../src/live/dispatch.ts";
import { Lanes } from "../../src/live/lanes.ts";
import { classic } from "../../src/rpc/dialects/index.ts";
import { Server } from "../../src/rpc/server.ts";
import { FrameWriter } from "../../src/rpc/stdio.ts";
import { keptLog } from "../session/kernel.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A writer whose lines end up in a list. */
function collecting(lines: string[]): FrameWriter {
	const write = (text: string, done: () => void) => {
		lines.push(...text.trimEnd().split("\n"));
		done();
	};
	return new FrameWriter({ write, unsent: () => 0 }, () => undefined);
}

function serve(handlers: Partial<Handlers>) {
	const lines: string[] = [];
	const control: unknown[] = [];
	const writer = collecting(lines);
	const pauses: boolean[] = [];
	const lanes = new Lanes({ flow: writer, pauseInput: (paused) => pauses.push(paused) });
	const commands = new Dispatch(handlers as Handlers, lanes);
	const log = keptLog();
	const server = new Server({ commands, lanes, writer, dialect: classic, onControl: (frame) => control.push(frame), log });
	return {
		server,
		lines,
		log,
		control,
		pauses,
		send: (frame: object) => server.receive(JSON.stringify(frame)),
		answers: () => lines.map((line) => JSON.parse(line).id),
	};
}

test("serial commands finish in the order in which they came", async () => {
	const first = deferred();
	const { send, answers } = serve({
		new_session: async () => ((await first.promise) ?? { cancelled: false }) as { cancelled: boolean },
		get_last_assistant_text: () => ({ text: null }),
	});
	send({ id: 1, type: "new_session" });
	send({ id: 2, type: "get_last_assistant_text" });
	await tick();
	expect(answers()).toEqual([]);
	first.resolve();
	await tick();
	await tick();
	expect(answers()).toEqual([1, 2]);
});

test("an interrupt overtakes a serial command that is pending", async () => {
	const { send, answers } = serve({ new_session: () => new Promise(() => undefined), abort: async () => undefined });
	send({ id: 1, type: "new_session" });
	send({ id: 2, type: "abort" });
	await tick();
	await tick();
	expect(answers()).toEqual([2]);
});

test("a background command starts in its turn and holds nothing up", async () => {
	const gate = deferred();
	const started: string[] = [];
	const { send, answers } = serve({
		new_session: async () => {
			await gate.promise;
			return { cancelled: false };
		},
		export_html: () => {
			started.push("export");
			return new Promise(() => undefined);
		},
		get_last_assistant_text: () => ({ text: null }),
	});
	send({ id: 1, type: "new_session" });
	send({ id: 2, type: "export_html" });
	send({ id: 3, type: "get_last_assistant_text" });
	await tick();
	expect(started).toEqual([]);
	gate.resolve();
	await tick();
	await tick();
	expect(started).toEqual(["export"]);
	expect(answers()).toEqual([1, 3]);
});

test("answers to dialogs and host tool calls overtake everything", () => {
	const { send, control } = serve({ new_session: () => new Promise(() => undefined) });
	send({ id: 1, type: "new_session" });
	send({ type: "extension_ui_response", id: "u", value: "x" });
	expect(control).toEqual([{ type: "extension_ui_response", id: "u", value: "x" }]);
});

test("a bug in a handler is answered with the id of its command, and the next command works", async () => {
	const { server, lines, log } = serve({
		get_state: () => {
			throw new TypeError("undefined is not a function");
		},
		get_messages: async () => {
			throw new TypeError("later");
		},
		get_last_assistant_text: () => ({ text: "alive" }),
	});
	for (const type of ["get_state", "get_messages", "get_last_assistant_text"]) server.receive(JSON.stringify({ id: "1", type }));
	await tick();
	await tick();
	expect(lines.map((line) => JSON.parse(line))).toEqual([
		{ id: "1", type: "response", command: "get_state", success: false, error: "undefined is not a function", code: "internal" },
		{ id: "1", type: "response", command: "get_messages", success: false, error: "later", code: "internal" },
		{ id: "1", type: "response", command: "get_last_assistant_text", success: true, data: { text: "alive" } },
	]);
	expect(log.lines).toEqual(["get_state failed unexpectedly", "get_messages failed unexpectedly"]);
});

test("stdin is paused above 32 MiB of commands that have not started, and goes on afterwards", async () => {
	const gate = deferred();
	const { server, pauses } = serve({
		new_session: async () => {
			await gate.promise;
			return { cancelled: false };
		},
		set_session_name: () => undefined,
	});
	server.receive('{"type":"new_session"}');
	const large = JSON.stringify({ type: "set_session_name", name: "x".repeat(9 * 1024 * 1024) });
	for (let n = 0; n < 4; n++) server.receive(large);
	expect(pauses).toEqual([true]);
	gate.resolve();
	await tick();
	await tick();
	expect(pauses).toEqual([true, false]);
});

test("data that cannot change is answered under every id, and other data after it", async () => {
	const state = Object.freeze({ text: "one\u2028" });
	let current: { text: string } = state;
	const { send, lines } = serve({ get_last_assistant_text: () => current });
	send({ id: "a\u2028", type: "get_last_assistant_text" });
	send({ id: 2, type: "get_last_assistant_text" });
	send({ type: "get_last_assistant_text" });
	current = Object.freeze({ text: "two" });
	send({ id: 4, type: "get_last_assistant_text" });
	await tick();
	const rest = { type: "response", command: "get_last_assistant_text", success: true };
	expect(lines.map((line) => JSON.parse(line))).toEqual([
		{ id: "a\u2028", ...rest, data: { text: "one\u2028" } },
		{ id: 2, ...rest, data: { text: "one\u2028" } },
		{ ...rest, data: { text: "one\u2028" } },
		{ id: 4, ...rest, data: { text: "two" } },
	]);
	expect(lines.join("")).not.toContain("\u2028");
});
