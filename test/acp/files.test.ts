import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Editor, type EditorOptions, type Message, using } from "./editor.ts";

const fs = { fs: { readTextFile: true, writeTextFile: true } };

/** An editor with buffers: by path relative to the working directory. */
function withBuffers(
	buffers: Record<string, string>,
	options: EditorOptions = {},
): { options: EditorOptions; asked: string[]; attach: (editor: Editor) => void } {
	let cwd = "";
	const asked: string[] = [];
	const answer = (method: string, params: Message) => {
		const name = String(params.path).slice(cwd.length + 1);
		asked.push(`${method} ${name}`);
		expect(params).not.toHaveProperty("line");
		if (method === "fs/read_text_file") {
			if (buffers[name] !== undefined) return { content: buffers[name] };
			try {
				return { content: readFileSync(params.path, "utf8") };
			} catch {
				throw Object.assign(new Error("no such file"), { code: -32002 });
			}
		}
		if (method === "fs/write_text_file") {
			buffers[name] = params.content;
			writeFileSync(params.path, params.content);
			return null;
		}
		throw Object.assign(new Error("Method not found"), { code: -32601 });
	};
	const attach = (editor: Editor) => {
		cwd = editor.cwd;
	};
	return { options: { capabilities: fs, answer, ...options }, asked, attach };
}

test("unsaved work is what the model reads and edits, and what the editor is given back", () => {
	const buffers: Record<string, string> = { "a.txt": "one\nunsaved\n" };
	const { options, asked, attach } = withBuffers(buffers, {
		files: { "a.txt": "one\ntwo\n" },
		model: 'call #r read {"path":"a.txt"} · call #e edit {"path":"a.txt","edits":[{"oldText":"unsaved","newText":"changed"}]} · say "done"',
	});
	return using(options, async (editor) => {
		attach(editor);
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(JSON.stringify(editor.calls()[0]?.content)).toContain("unsaved");
		expect(buffers["a.txt"]).toBe("one\nchanged\n");
		expect(editor.calls()[1]?.content).toEqual([
			{ type: "diff", path: join(editor.cwd, "a.txt"), oldText: "one\nunsaved\n", newText: "one\nchanged\n" },
		]);
		expect(asked).toEqual(["fs/read_text_file a.txt", "fs/read_text_file a.txt", "fs/write_text_file a.txt"]);
	});
});

test("a buffer that has not seen what a command wrote does not count", () => {
	const buffers: Record<string, string> = {};
	const { options, attach } = withBuffers(buffers, {
		files: { "a.txt": "old\n" },
		model: 'call #1 read {"path":"a.txt"} · call #2 bash {"command":"echo new > a.txt"} · call #3 read {"path":"a.txt"} · say "done"',
	});
	return using(options, async (editor) => {
		attach(editor);
		const session = await editor.session();
		buffers["a.txt"] = "old\n";
		await editor.prompt(session, "go");
		expect(JSON.stringify(editor.calls()[2]?.content)).toContain("new");
	});
});

test("a buffer that was never saved can be read; line ends of the editor stay its own", () => {
	const buffers: Record<string, string> = { "new.txt": "only here\n", "win.txt": "one\ntwo\n" };
	const { options, attach } = withBuffers(buffers, {
		files: { "win.txt": "one\r\ntwo\r\n" },
		model:
			'call read {"path":"new.txt"} + call edit {"path":"win.txt","edits":[{"oldText":"two","newText":"2"}]} + call write {"path":"deep/er.txt","content":"x"} · say "done"',
	});
	return using(options, async (editor) => {
		attach(editor);
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(editor.calls().map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
		expect(JSON.stringify(editor.calls()[0]?.content)).toContain("only here");
		expect(buffers["deep/er.txt"]).toBe("x");
		expect(readFileSync(join(editor.cwd, "deep/er.txt"), "utf8")).toBe("x");
	});
});

test("a write that the editor refuses is the tool's error, word for word, and the disk stays", () =>
	using(
		{
			capabilities: fs,
			files: { "a.txt": "old\n" },
			model: 'call write {"path":"a.txt","content":"new\\n"} · say "done"',
			answer: (method) => {
				throw Object.assign(new Error(method === "fs/write_text_file" ? "a.txt is read-only today" : "no buffer"), { code: -32603 });
			},
		},
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			expect(editor.calls()).toMatchObject([{ status: "failed", content: [{ content: { text: "a.txt is read-only today" } }] }]);
			expect(readFileSync(join(editor.cwd, "a.txt"), "utf8")).toBe("old\n");
		},
	));

test("an editor that only reads, files elsewhere, and files that are not text stay on the disk", () => {
	const { options, asked, attach } = withBuffers(
		{},
		{
			files: { "a.bin": "\u0000binary" },
			model: 'call read {"path":"/etc/hostname"} + call read {"path":"a.bin"} + call write {"path":"../out.txt","content":"x"} · say "done"',
		},
	);
	return using(options, async (editor) => {
		attach(editor);
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(asked).toEqual([]);
		expect(readFileSync(join(editor.folder, "out.txt"), "utf8")).toBe("x");
	}).then(() =>
		using(
			{ capabilities: { fs: { readTextFile: true } }, files: { "a.txt": "disk\n" }, model: 'call read {"path":"a.txt"} · say "done"' },
			async (editor) => {
				const session = await editor.session();
				await editor.prompt(session, "go");
				expect(JSON.stringify(editor.calls()[0]?.content)).toContain("disk");
			},
		),
	);
});

test("in a sandbox the disk alone counts, and edits still show what they changed", () => {
	const { options, asked, attach } = withBuffers({ "a.txt": "unsaved\n" });
	const model = 'call read {"path":"a.txt"} · call edit {"path":"a.txt","edits":[{"oldText":"saved","newText":"kept"}]} · say "done"';
	return using({ ...options, model, files: { "a.txt": "saved\n" }, flags: ["--sandbox", "external"] }, async (editor) => {
		attach(editor);
		const session = await editor.session();
		expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(asked).toEqual([]);
		expect(readFileSync(join(editor.cwd, "a.txt"), "utf8")).toBe("kept\n");
		expect(editor.calls()[1]?.content).toEqual([{ type: "diff", path: join(editor.cwd, "a.txt"), oldText: "saved\n", newText: "kept\n" }]);
	});
});
