/** Sessions that want to break the page, or to break out of it. Whatever runs sets `window.pwned` or opens a dialog. */
import type { Page } from "playwright-core";
import { call, header, picture, SessionBuilder, subagentSession, text, thinking } from "./session.ts";

/** Turns the text after it around, and hides what is in it. */
export const disguise = "\u202egnp.exe\u2066 a\u200bb\u200d\u200fc";

const attack = (number: number) => `"><img src=x onerror="window.pwned=${number}"><script>window.pwned=${number}</script>${disguise}`;

/** What a page shows or says anywhere that nobody can see, by the element it is in. */
export const unseenIn = (page: Page): Promise<string[]> =>
	page.evaluate(() => {
		const unseen = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u200c\u200d](?=[!-~])/;
		const found = unseen.test(document.title) ? ["title"] : [];
		for (const element of document.querySelectorAll("body *:not(script)")) {
			const own = [...element.childNodes].map((node) => (node.nodeType === Node.TEXT_NODE ? node.nodeValue : "")).join("");
			// Of an empty line of a change.
			const text = own === "\u200b" ? "" : own;
			const said = ["title", "aria-label", "placeholder", "alt", "label"].map((name) => element.getAttribute(name) ?? "");
			for (const each of [text, ...said]) if (unseen.test(each)) found.push(`${element.localName}.${element.className}: ${each.slice(0, 80)}`);
		}
		return found;
	});

const markdownAttacks = [
	"<script>window.pwned=1</script>",
	"</script><script>window.pwned=1</script>",
	'<img src=x onerror="window.pwned=1">',
	"<svg/onload=window.pwned=1>",
	'<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
	"<style>body{display:none}</style>",
	'<base href="https://evil.example/">',
	'<meta http-equiv="refresh" content="0;url=https://evil.example/">',
	'<form action="https://evil.example/"><button>press</button></form>',
	"[script](javascript:window.pwned=1)",
	"[hidden script](\u0001java\u0000script:window.pwned=1)",
	"[entity](javascript&#58;window.pwned=1)",
	"[hex](&#x6a;avascript:window.pwned=1)",
	"[data](data:text/html,<script>window.pwned=1</script>)",
	"<javascript:window.pwned=1>",
	"![picture](https://evil.example/pixel.png)",
	"![picture](javascript:window.pwned=1)",
	'[title](https://example.com "x\\" onmouseover=\\"window.pwned=1")',
	"[reference][r]\n\n[r]: javascript:window.pwned=1",
	'```"><script>window.pwned=1</script>\ncode\n```',
	"```html\n<script>window.pwned=1</script>\n```",
	"`<img src=x onerror=window.pwned=1>`",
	"| <b onclick=window.pwned=1>a</b> |\n|---|\n| <script>window.pwned=1</script> |",
	"- [ ] <input onfocus=window.pwned=1 autofocus>",
	"<!-- comment --> <![CDATA[ x ]]> <?php x ?>",
	`# Heading ${disguise}\n\n**strong ${disguise}** \`code ${disguise}\` [link ${disguise}](https://example.com/${disguise} "title ${disguise}")`,
	`\`\`\`bash\nrm ${disguise}\n\`\`\`\n\n\`\`\`\nplain ${disguise}\n\`\`\``,
	`| ${disguise} |\n|---|\n| <b>${disguise}</b> ![${disguise}](https://evil.example/x.png) |`,
	"\u202eright to left\u202c and \ud83d alone, \udc00 too",
];

export function hostileSession(): SessionBuilder {
	const s = new SessionBuilder();
	for (const value of markdownAttacks) {
		s.user(value);
		s.reply(thinking(value), text(value), call(value, value, { [value]: value, path: value }));
		s.result(value, value, value, { details: { diff: value, patch: `@@ -1 +1 @@\n-${value}\n+${value}` } });
	}
	s.add({ type: "model_change", provider: attack(2), modelId: attack(3) }, attack(4));
	s.assistant([text("hi")], { model: attack(5), provider: attack(6), stopReason: "error", errorMessage: attack(7) });
	s.add({ type: "custom_message", customType: attack(8), content: attack(9), display: true });
	s.add({ type: "custom", customType: attack(10), data: { [attack(11)]: attack(12) } });
	s.add({ type: attack(13), anything: attack(14) });
	s.add({ type: "compaction", summary: attack(15), firstKeptEntryId: "e1", tokensBefore: 1, details: { readFiles: [attack(16)] } });
	s.add({ type: "branch_summary", fromId: "e1", summary: attack(17) });
	s.add({ type: "label", targetId: "e1", label: attack(18) });
	s.add({ type: "session_info", name: attack(19) });
	const image = (mimeType: string, data: string) => ({ type: "image" as const, mimeType, data });
	const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="parent.pwned=20"/>').toString("base64");
	const pictures = [
		image("image/svg+xml", svg),
		image('image/png" onerror="window.pwned=21', "AAAA"),
		image("text/html", "AAAA"),
		image("image/png", "https://evil.example/x.png"),
		image("image/png", "AAAA"),
		image("image/png", picture),
	];
	s.add({ type: "message", message: { role: "user", content: [text("pictures"), ...pictures], timestamp: s.now } });
	const shell = { exitCode: null, cancelled: true, truncated: true, fullOutputPath: attack(22), timestamp: s.now };
	s.add({ type: "message", message: { role: "bashExecution", command: attack(23), output: attack(24), ...shell } });
	const check = { name: attack(34), command: attack(35), exitCode: attack(36), durationMs: attack(37), outputPreview: attack(38) };
	const verification = { status: "failed", retriesUsed: 1, attempts: [{ attempt: attack(39), status: attack(40), commandResults: [check] }] };
	const facts = { description: attack(41), agent: attack(42), error: attack(43), assignment: attack(44), output: attack(45), patchPath: attack(46) };
	s.reply(call("task", "task", { context: attack(47), tasks: [{ id: attack(48), description: attack(49), assignment: attack(50) }] }));
	s.result("task", "task", attack(51), { details: { results: [{ id: attack(52), exitCode: attack(53), ...facts, verification }] } });
	s.reply(call("open", "task", { agent: attack(54), tasks: [{ id: attack(55), description: attack(56), assignment: attack(57) }] }));
	s.add({ type: "message", message: { role: "fileMention", files: [{ path: attack(25), content: attack(26) }], timestamp: s.now } });
	return s;
}

/** A subagent whose own subagent is itself. */
function endlessSubagent(): SessionBuilder {
	const s = subagentSession(attack(58), [attack(59), { path: attack(60) }, attack(61)]);
	s.reply(call("again", "task", { tasks: [] }));
	s.result("again", "task", "endless", { details: { results: [{ id: attack(52), exitCode: 0, durationMs: 1 }] } });
	return s;
}

export const hostilePage = () =>
	hostileSession().page({
		header: { ...header, id: attack(27), cwd: attack(28), timestamp: attack(29) },
		systemPrompt: attack(30),
		subagents: new Map([[attack(52), { header, entries: endlessSubagent().entries }]]),
		tools: [{ name: attack(31), description: attack(32), parameters: { [attack(33)]: true } }],
	});

/** Not one entry as it should be. */
export function brokenEntries(): unknown[] {
	let deep: unknown = "bottom";
	for (let level = 0; level < 3000; level++) deep = [deep];
	const message = (id: string, parentId: unknown, value: unknown) => ({ type: "message", id, parentId, timestamp: "when?", message: value });
	return [
		null,
		42,
		"text",
		[],
		{},
		{ type: "message" },
		message("a", null, null),
		message("b", "a", { role: "assistant" }),
		message("c", "b", {
			role: "assistant",
			content: [null, 1, "two", { type: "toolCall" }, { type: "toolCall", name: 7, arguments: "no object" }, { type: "new" }],
		}),
		message("d", "c", { role: "assistant", content: "a text", usage: "none", model: { id: 1 }, timestamp: "soon", stopReason: 7 }),
		message("e", "d", { role: "toolResult", content: [{ type: "text" }, { type: "image" }], details: { patch: 5, diff: [] } }),
		message("f", "e", { role: "user", content: [{ type: "image", data: 5 }], attachments: "none", timestamp: 1e300 }),
		message("g", "f", { role: "unheard", content: deep }),
		message("h", "g", { role: "user", content: `${">".repeat(5000)} deep` }),
		message("i", "h", { role: "user", content: "[".repeat(20_000) }),
		message("j", "i", { role: "assistant", content: [{ type: "toolCall", id: "x", name: "edit", arguments: { edits: [null, 5, {}] } }] }),
		message("t1", "j", { role: "assistant", content: [{ type: "toolCall", id: "t", name: "task", arguments: { tasks: [null, 5, {}] } }] }),
		message("t2", "t1", {
			role: "toolResult",
			toolCallId: "t",
			toolName: "task",
			details: {
				results: [null, 5, {}, { id: [], verification: { attempts: [null, { commandResults: "x" }, { commandResults: [null] }] }, usage: 1 }],
			},
		}),
		message("k", "t2", { role: "fileMention", files: [null, 5, { path: {}, content: [] }] }),
		message("l", "k", { role: "bashExecution" }),
		{ type: "compaction", id: "m", parentId: "l", details: { readFiles: "none", modifiedFiles: [null] } },
		{ type: "ttsr_injection", id: "n", parentId: "m" },
		message("circle-1", "circle-2", { role: "user", content: "round" }),
		message("circle-2", "circle-1", { role: "user", content: "and round" }),
		message("self", "self", { role: "user", content: "me" }),
		message("a", "n", { role: "user", content: "second of this id" }),
		message("__proto__", "a", { role: "user", content: "prototype" }),
		message("\ud800%zz", "__proto__", { role: "assistant", content: [{ type: "text", text: "the end of the broken ones" }] }),
	];
}
