/** Questions about tool calls: what would run or change, who asks, and one key for the answer. */
import type { PermissionAnswer } from "../client/index.ts";
import { readPatch } from "../lib/read-diff.ts";
import { ruleInWords } from "../lib/rule-words.ts";
import type { PermissionRequest } from "../protocol/types.generated.ts";
import type { Command, Desk } from "./commands.ts";
import type { Question, Questions } from "./dialogs.ts";
import { diffRows } from "./diff-view.ts";
import type { Key } from "./keys.ts";
import { type Line, plainLines, shortened, span, wrapped } from "./text.ts";

/** A key that comes this soon was meant for what was shown before. */
const surpriseMs = 500;

interface Offer {
	label: string;
	/** Absent for the answer that is always offered. */
	scope?: PermissionRequest["choices"][number];
	answer: PermissionAnswer;
}

const answers: Record<string, Offer> = {
	d: { label: "d deny", answer: { decision: "deny" } },
	o: { label: "o once", scope: "once", answer: { decision: "allow", scope: "once" } },
	s: { label: "s this session", scope: "session", answer: { decision: "allow", scope: "session" } },
	a: { label: "a always in this project", scope: "always", answer: { decision: "allow", scope: "always" } },
};

/** Without an answer the call is denied. */
export async function askApproval(questions: Questions, request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
	const answer = await questions.ask<PermissionAnswer>((done) => new Approval(request, done, () => performance.now()), signal);
	return answer ?? { decision: "deny" };
}

export class Approval implements Question {
	#request: PermissionRequest;
	#done: (answer: PermissionAnswer) => void;
	#now: () => number;
	#shownAt: number | undefined;
	/** The first row that is shown of what it is about. */
	#first = 0;
	#most = 0;

	constructor(request: PermissionRequest, done: (answer: PermissionAnswer) => void, now: () => number) {
		this.#request = request;
		this.#done = done;
		this.#now = now;
	}

	frame(width: number, height: number): { rows: Line[] } {
		this.#shownAt ??= this.#now();
		const { title, reason, subject, origin } = this.#request;
		const from = origin.map(({ agent, id }) => `${agent} ${id}`).join(" → ");
		const facts = [`in ${subject.cwd}`, ...(from ? [`asked by ${from}`] : []), `sandbox ${subject.sandbox}`].join(" · ");
		const question = span(shortened(`${title}?`, width), "bold");
		const isShort = title.length + reason.length + 2 <= width;
		const head: Line[] = isShort ? [[question, span(` ${reason}`, "dim")]] : [[question], ...wrapped([span(reason, "dim")], width)];
		const foot: Line[] = [[span(shortened(facts, width), "dim")], ...wrapped([span(this.#hint(), "yellow")], width)];
		const content = this.#content(width);
		const room = Math.max(1, height - head.length - foot.length - 1);
		this.#most = Math.max(0, content.length - room);
		this.#first = Math.min(this.#first, this.#most);
		const shown = content.slice(this.#first, this.#first + room);
		const left = content.length - this.#first - shown.length;
		const more: Line[] = content.length > room ? [[span(shortened(left > 0 ? `… ${left} more rows: ↓` : "the end: ↑", width), "dim")]] : [];
		return { rows: [...head, ...shown, ...more, ...foot] };
	}

	key({ name, text, isPaste }: Key): void {
		if (this.#shownAt === undefined || this.#now() - this.#shownAt < surpriseMs) return;
		if (name === "up") this.#first = Math.max(0, this.#first - 1);
		else if (name === "down") this.#first = Math.min(this.#most, this.#first + 1);
		else if (name === "pageup") this.#first = Math.max(0, this.#first - 10);
		else if (name === "pagedown") this.#first = Math.min(this.#most, this.#first + 10);
		else if (name === "enter" || name === "escape" || name === "ctrl+c") this.#done({ decision: "deny" });
		else if (name === "text" && !isPaste) this.#answer(text ?? "");
	}

	#answer(letter: string): void {
		const chosen = Object.hasOwn(answers, letter) ? answers[letter] : undefined;
		if (chosen && this.#isOffered(chosen)) this.#done(chosen.answer);
	}

	#isOffered({ scope }: Offer): boolean {
		return scope === undefined || this.#request.choices.includes(scope);
	}

	#hint(): string {
		return Object.values(answers)
			.filter((each) => this.#isOffered(each))
			.map(({ label }) => label)
			.join(", ");
	}

	/** The change where there is one, else the text. */
	#content(width: number): Line[] {
		const { text, diff, diffTruncated } = this.#request;
		const rows = plainLines(text).flatMap((line) => wrapped([span("  "), span(line)], width));
		if (!diff?.includes("@@")) return rows;
		return [
			...rows,
			...diffRows(readPatch(diff), { width, context: 3 }),
			...(diffTruncated ? [[span("The rest of the change is not shown.", "red")]] : []),
		];
	}
}

const modes = {
	plan: "reads run, changes and commands are denied",
	ask: "everything but reading in this directory is asked about",
	edit: "changes in this directory run, commands are asked about",
	full: "everything runs",
};
type Mode = keyof typeof modes;

async function chooseMode(argument: string, { client, say, choose }: Desk): Promise<void> {
	const names = Object.keys(modes) as Mode[];
	const current = (await client.getState()).permissionMode ?? "full";
	if (argument && !names.includes(argument as Mode)) return say("warning", `No such mode: ${argument}. There are ${names.join(", ")}.`);
	const titles = names.map((name) => `${name}: ${modes[name]}`);
	const mode = (argument as Mode) || names[(await choose("What may run without asking?", titles, names.indexOf(current))) ?? -1];
	if (!mode) return;
	await client.setPermissionMode({ mode });
	say("info", `Mode ${mode}: ${modes[mode]}.`);
}

async function showPermissions(_: string, { client, say, show, choose }: Desk): Promise<void> {
	const { mode, rules, grants } = await client.getPermissions();
	const lines = rules.map((rule) => `- \`${ruleInWords(rule)}\` (${rule.source})`);
	show([`Mode **${mode}**. ${rules.length ? "Rules:" : "No rules."}`, ...(lines.length ? ["", ...lines] : [])].join("\n"));
	if (grants.length === 0) return say("info", "You have granted nothing yet.");
	const chosen =
		grants[
			(await choose(
				"Take one of your grants back?",
				grants.map(({ rule, scope }) => `${ruleInWords(rule)} (${scope})`),
			)) ?? -1
		];
	if (!chosen) return;
	await client.revokePermission({ permissionId: chosen.id });
	say("info", `Revoked: ${ruleInWords(chosen.rule)}.`);
}

export const approvalCommands: Record<string, Command> = {
	mode: { usage: "[name]", doc: "Choose what runs without asking: plan, ask, edit or full", run: chooseMode },
	permissions: { doc: "The rules, and what you have granted", run: showPermissions },
};
