import { expect, test } from "vitest";
import { type EditorOptions, type Message, using } from "./editor.ts";

const gate =
	'export default (pi) => pi.on("tool_call", async (_, ctx) => ({ block: !(await ctx.ui.confirm("Run it?", "It may be dangerous")), reason: "the user said no" }));';
const asking = (code: string) =>
	`export default (pi) => pi.on("before_agent_start", async (_, ctx) => { const said = await ${code}; return { message: { customType: "said", content: JSON.stringify(said ?? null), display: true } }; });`;

const extension = (code: string, more: EditorOptions = {}): EditorOptions => ({
	model: 'say "ok"',
	files: { "ext.ts": code },
	flags: ["--extension", "ext.ts"],
	...more,
});
const select = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

for (const [answer, status] of [
	[select("allow_once"), "completed"],
	[select("reject_once"), "failed"],
	[select("no_such_option"), "failed"],
	[{ outcome: { outcome: "cancelled" } }, "failed"],
] as const) {
	test(`a question about a call, answered with ${JSON.stringify(answer)}, leaves it ${status}; the turn goes on`, () =>
		using({ ...extension(gate), model: 'call bash {"command":"echo ran"} · say "went on"', answer: () => answer }, async (editor) => {
			const session = await editor.session();
			expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
			const { params } = await editor.until(({ method }) => method === "session/request_permission");
			expect(params).toMatchObject({
				sessionId: session,
				toolCall: { toolCallId: "call_1", title: "`echo ran`", kind: "execute", status: "pending", rawInput: { command: "echo ran" } },
				options: [
					{ optionId: "reject_once", name: "Reject", kind: "reject_once" },
					{ optionId: "allow_once", name: "Allow", kind: "allow_once" },
				],
			});
			expect(editor.calls()).toMatchObject([{ status }]);
			expect(editor.text()).toBe("went on");
		}));
}

test("a client that cannot be asked is asked once, and every call is refused", () =>
	using({ ...extension(gate), model: 'call bash {"command":"true"} · call bash {"command":"true"} · say "done"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(editor.messages.filter(({ method }) => method === "session/request_permission")).toHaveLength(1);
		expect(editor.calls().map(({ status }) => status)).toEqual(["failed", "failed"]);
	}));

const forms = { elicitation: { form: {} } };
const accept = (content: Message) => ({ action: "accept", content });

for (const [code, answer, said, schema] of [
	['ctx.ui.confirm("Sure?", "really")', accept({ confirmed: true }), true, { confirmed: { type: "boolean" } }],
	['ctx.ui.confirm("Sure?", "really")', { action: "decline" }, false, { confirmed: { type: "boolean" } }],
	['ctx.ui.select("Which?", ["a", "b"])', accept({ choice: "b" }), "b", { choice: { type: "string", enum: ["a", "b"] } }],
	['ctx.ui.select("Which?", ["a", "b"])', accept({ choice: "c" }), null, { choice: { type: "string" } }],
	['ctx.ui.input("Name?", "yours")', accept({ text: "Ann" }), "Ann", { text: { type: "string", title: "Name?" } }],
	['ctx.ui.editor("Text", "before")', { action: "cancel" }, null, { text: { type: "string", default: "before" } }],
] as const) {
	test(`${code} is a form, and ${JSON.stringify(answer)} means ${JSON.stringify(said)}`, () =>
		using({ ...extension(asking(code)), capabilities: forms, answer: () => answer }, async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			const { params } = await editor.until(({ method }) => method === "elicitation/create");
			expect(params).toMatchObject({ mode: "form", sessionId: session, requestedSchema: { type: "object", properties: schema } });
			expect(editor.text()).toBe(`${JSON.stringify(said)}ok`);
		}));
}

test("without forms, questions are permissions for a call of their own, and texts have their default", () =>
	using(
		{
			...extension(asking('[await ctx.ui.confirm("Sure?", "really"), await ctx.ui.select("Which?", ["a", "b"]), await ctx.ui.input("Name?")]')),
			answer: (_, { options }) => select(options.at(-1).optionId),
		},
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			const asked = editor.messages.filter(({ method }) => method === "session/request_permission").map(({ params }) => params);
			expect(asked.map(({ options }) => options.map(({ name }: Message) => name))).toEqual([
				["No", "Yes"],
				["None of these", "a", "b"],
			]);
			expect(editor.text()).toBe('[true,"b",null]ok');
			expect(editor.calls()).toMatchObject([
				{ title: "Sure?", kind: "other", status: "completed" },
				{ title: "Which?", kind: "other", status: "completed" },
			]);
		},
	));

test("a question that runs out of time is withdrawn", () =>
	using({ ...extension(asking('ctx.ui.input("Name?", "", { timeout: 50 })')), capabilities: forms, answer: () => undefined }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(editor.messages.filter(({ method }) => method === "$/cancel_request")).toHaveLength(1);
		expect(editor.text()).toBe("nullok");
	}));

test("notices of extensions are notices; a command of an extension ends its turn; one that starts a run ends with it", () =>
	using(
		extension(
			'export default (pi) => { pi.registerCommand("hey", { description: "Say hey", handler: async (args, ctx) => { ctx.ui.notify("hey " + args, "warning"); } }); pi.registerCommand("run", { handler: async () => { pi.sendUserMessage("from the command"); } }); };',
			{ capabilities: { session: { notices: {} } } },
		),
		async (editor) => {
			const session = await editor.session();
			const { availableCommands } = editor.updates("available_commands_update")[0] as Message;
			expect(availableCommands).toEqual(
				expect.arrayContaining([
					{ name: "hey", description: "Say hey" },
					{ name: "run", description: "run" },
				]),
			);
			expect(await editor.prompt(session, "/hey you")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect(editor.updates("notice")).toMatchObject([{ severity: "warning", title: "hey you" }]);
			expect(await editor.prompt(session, "/run")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect(editor.text()).toBe("ok");
		},
	));
