/** What is submitted: read from JSON, checked member by member. It never holds a secret: variables are named, their values are the worker's. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../lib/canonical-json.ts";
import { didYouMean } from "../lib/nearest.ts";
import { requestedSettings } from "../protocol/setting-names.ts";
import { settings as settingRows } from "../protocol/settings.ts";
import type { Submission } from "./queue.ts";

export interface RunSpec {
	repo: { url: string; ref?: string; commit?: string; subdir?: string; submodules?: boolean };
	prompt: string;
	images?: { type: "image"; data: string; mimeType: string }[];
	model?: string;
	provider?: string;
	thinking?: string;
	settings?: Record<string, unknown>;
	/** A profile of the worker's settings, or commands, as the task tool takes them. */
	verify?: boolean | string | Record<string, unknown>;
	deliver?: "patch" | "branch";
	limits?: { usd?: number; tokens?: number; wallMs?: number; toolCalls?: number };
	/** Variables of the worker that the agent's commands may see. */
	env?: string[];
	/** Commands that prepare the checkout. */
	setup?: string[];
	/** The run that this one is another try of. */
	parent?: string;
}

/** Everything about a run that a submission may say. */
export interface SubmissionInput extends RunSpec {
	key?: string;
	lane?: string;
	priority?: number;
	batch?: string;
	budget?: string;
	needs?: string[];
}

export class SpecError extends Error {
	override readonly name = "SpecError";
}

type Check = (value: unknown, where: string) => void;

const fail = (where: string, what: string): never => {
	throw new SpecError(`${where} must be ${what}.`);
};
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const filled: Check = (value, where) => (typeof value === "string" && value.trim() !== "" ? undefined : fail(where, "a text that is not empty"));
const boolean: Check = (value, where) => (typeof value === "boolean" ? undefined : fail(where, "true or false"));
const amount: Check = (value, where) =>
	typeof value === "number" && Number.isFinite(value) && value > 0 ? undefined : fail(where, "a number greater than 0");
const whole: Check = (value, where) =>
	Number.isSafeInteger(value) && (value as number) > 0 ? undefined : fail(where, "a whole number greater than 0");
const texts: Check = (value, where) => {
	if (!Array.isArray(value)) fail(where, "a list of texts");
	for (const [index, each] of (value as unknown[]).entries()) filled(each, `${where}[${index}]`);
};
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;
const word = /^[\w][\w.:@/-]*$/;
const name =
	(pattern: RegExp, what: string): Check =>
	(value, where) =>
		typeof value === "string" && value.length <= 200 && pattern.test(value) ? undefined : fail(where, what);
const members =
	(checks: Record<string, Check>): Check =>
	(value, where) => {
		if (!isObject(value)) return fail(where, "an object");
		for (const [member, each] of Object.entries(value)) {
			const check = Object.hasOwn(checks, member) ? checks[member] : undefined;
			if (!check) throw new SpecError(`${where}.${member} is unknown. Known: ${Object.keys(checks).join(", ")}.`);
			if (each !== undefined) check(each, `${where}.${member}`);
		}
	};

const settings: Check = (value, where) => {
	if (!isObject(value)) return fail(where, "an object of settings");
	const read = requestedSettings(value);
	if ("refused" in read) throw new SpecError(`${where}: ${shortened(read.refused)} is the worker's own setting. Set it there.`);
	if ("unknown" in read)
		throw new SpecError(
			`${where}: there is no setting ${JSON.stringify(shortened(read.unknown))}.${didYouMean(read.unknown, Object.keys(settingRows))}`,
		);
};

const shortened = (key: string) => (key.length > 100 ? `${key.slice(0, 100)}…` : key);

const verify: Check = (value, where) => {
	if (typeof value !== "boolean" && typeof value !== "string" && !isObject(value))
		fail(where, "true, the name of a profile, or an object with commands");
};

const image: Check = members({ type: filled, data: filled, mimeType: filled });

const checks: Record<string, Check> = {
	repo: (value, where) => {
		if (isObject(value) && value.lfs !== undefined)
			throw new SpecError(`${where}.lfs: files of Git LFS are not fetched. Checkouts hold their pointers, and a patch may change these.`);
		members({ url: filled, ref: refName, commit: name(/^[0-9a-f]{40,64}$/, "the full id of a commit"), subdir, submodules: boolean })(value, where);
		checkUrl((value as { url?: unknown }).url, `${where}.url`);
	},
	prompt: filled,
	images: (value, where) => {
		if (!Array.isArray(value)) return fail(where, "a list of images");
		for (const [index, each] of value.entries()) image(each, `${where}[${index}]`);
	},
	model: filled,
	provider: filled,
	thinking: filled,
	settings,
	verify,
	deliver: (value, where) => (value === "patch" || value === "branch" ? undefined : fail(where, '"patch" or "branch"')),
	limits: members({ usd: amount, tokens: whole, wallMs: whole, toolCalls: whole }),
	env: (value, where) => {
		texts(value, where);
		const wrong = (value as string[]).find((each) => !variable.test(each));
		if (wrong !== undefined)
			throw new SpecError(`${where} holds names of variables, without values: ${JSON.stringify(wrong.split("=")[0])} is none.`);
	},
	setup: texts,
	parent: filled,
	key: (value, where) =>
		typeof value === "string" && value !== "" && value.length <= 200 ? undefined : fail(where, "a text of 1 to 200 characters"),
	lane: name(word, "the name of a lane"),
	priority: (value, where) =>
		Number.isInteger(value) && Math.abs(value as number) <= 100 ? undefined : fail(where, "a whole number from -100 to 100"),
	batch: name(word, "the name of a batch: letters, digits, and . : @ / - _"),
	budget: name(word, "the name of a budget"),
	needs: texts,
};

function refName(value: unknown, where: string): void {
	filled(value, where);
	// What git would take for an option, or refuses in the name of a branch.
	if (/^-|[\s~^:?*[\\]|\.\.|@\{/.test(value as string)) fail(where, "a branch, a tag or the id of a commit");
}

function subdir(value: unknown, where: string): void {
	filled(value, where);
	const path = value as string;
	if (path.startsWith("/") || path.split("/").includes("..") || path.includes("\0")) fail(where, "a path inside the repository");
}

/** Credentials are the worker's, in git's own helpers: a url that holds some would be stored and shown. */
function checkUrl(value: unknown, where: string): void {
	filled(value, where);
	const url = value as string;
	if (url.startsWith("-") || url.includes("\0")) fail(where, "the url or the path of a repository");
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
		let parsed: URL;
		try {
			parsed = new URL(url);
		} catch {
			return fail(where, "the url or the path of a repository");
		}
		const isSsh = /^(ssh|git\+ssh):$/.test(parsed.protocol);
		if (!["https:", "http:", "ssh:", "git+ssh:", "git:", "file:"].includes(parsed.protocol))
			throw new SpecError(`${where}: ${parsed.protocol}// is not a way to fetch a repository. Use https, ssh or a path.`);
		if (parsed.password !== "" || (parsed.username !== "" && !isSsh))
			throw new SpecError(`${where} holds a name or a password. Leave them out: workers ask git's own credential helpers.`);
	} else if (/^[a-z][a-z0-9+.-]*::/i.test(url)) {
		throw new SpecError(`${where}: git's remote helpers are not used. Use https, ssh or a path.`);
	}
}

/** Checks a submission that came as JSON; the message of the error names the member and what it must be. */
export function readSubmission(value: unknown, where = "run"): SubmissionInput {
	if (!isObject(value)) throw new SpecError(`${where} must be an object with repo and prompt.`);
	members(checks)(value, where);
	for (const member of ["repo", "prompt"]) if (value[member] === undefined) throw new SpecError(`${where}.${member} is missing.`);
	return value as unknown as SubmissionInput;
}

/** Separates what the queue needs to know from what the worker needs to know. */
export function toSubmission(
	{ key, lane = "default", priority = 0, batch, budget, needs = [], ...spec }: SubmissionInput,
	{ maxAttempts, random }: { maxAttempts: number; random: () => string },
): Submission {
	return {
		key: key ?? `${createHash("sha256").update(canonicalJson(spec)).digest("hex").slice(0, 32)}-${random()}`,
		spec,
		lane,
		priority,
		...(batch === undefined ? {} : { batch }),
		...(budget === undefined ? {} : { budget }),
		needs,
		maxAttempts,
	};
}

/** Two submissions with one key must have the same one. */
export function submissionDigest({ spec, lane, priority, batch, budget, needs }: Submission): Buffer {
	return createHash("sha256").update(canonicalJson({ spec, lane, priority, batch, budget, needs })).digest();
}
