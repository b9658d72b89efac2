/** What `verify` asks for, with every question answered before any subagent starts. */
import type { OnFailure, VerificationCommand } from "../protocol/subagents.ts";
import type { VerificationPlan } from "./contracts.ts";

/** The `task.verification.…` settings that decide. Profiles come from a file and may hold anything. */
export interface VerificationSettings {
	enabled: boolean;
	requireForIsolated: boolean;
	defaultProfile: string;
	maxRetries: number;
	profiles: Record<string, unknown>;
}

export type Planned = { plan?: VerificationPlan } | { problem: string };

/** A wish, member by member: of a profile, or of what the model gave. */
interface Wish {
	mode?: string;
	commands?: VerificationCommand[];
	onFailure?: OnFailure;
	maxRetries?: number;
}

class Mistake extends Error {}

/** No plan when there is nothing to verify. A problem is a sentence for the model, with a remedy. */
export function planVerification(verify: unknown, given: { isolated: boolean; settings: VerificationSettings }): Planned {
	try {
		const plan = resolve(verify ?? undefined, given);
		return plan ? { plan } : {};
	} catch (error) {
		if (error instanceof Mistake) return { problem: error.message };
		throw error;
	}
}

function resolve(verify: unknown, { isolated, settings }: { isolated: boolean; settings: VerificationSettings }): VerificationPlan | undefined {
	const isAsked = verify !== undefined && verify !== false;
	if (isAsked && !isolated) throw new Mistake("Only isolated work can be verified. Call the tool with isolated: true, or without verify.");
	if (!isAsked && (verify === false || !isolated || !settings.enabled || !settings.requireForIsolated)) return undefined;

	if (isAsked && verify !== true && typeof verify !== "string" && !isObject(verify))
		throw new Mistake("verify must be true, false, the name of a profile, or an object with profile or commands.");
	const own = isObject(verify) ? readWish(verify, "verify") : {};
	if (own.mode === "none") return undefined;
	const named = typeof verify === "string" ? verify : isObject(verify) ? profileName(verify) : "";
	// A default profile that is not defined must not block commands that are given.
	const profile = named !== "" || own.commands ? named : settings.defaultProfile;
	if (profile === "" && !own.commands)
		throw new Mistake("Nothing says how to verify. Name a profile, give commands, or set task.verification.defaultProfile.");
	const wish = { ...(profile === "" ? {} : readProfile(profile, settings.profiles)), ...own };

	const { mode = "command", commands = [], onFailure = "return_failure", maxRetries = Math.max(0, Math.floor(settings.maxRetries)) } = wish;
	if (mode === "none") return undefined;
	const where = profile === "" ? "verify" : `Verification profile ${JSON.stringify(profile)}`;
	if (mode !== "command") throw new Mistake(`${where}: mode ${JSON.stringify(mode)} is not supported. Use "command" or "none".`);
	if (commands.length === 0) throw new Mistake(`${where} has no commands. Give at least one: {"name":"test","command":"npm test"}.`);
	return { ...(profile === "" ? {} : { profile }), commands, onFailure, maxRetries };
}

function readProfile(name: string, profiles: Record<string, unknown>): Wish {
	if (!Object.hasOwn(profiles, name)) {
		const names = Object.keys(profiles);
		const known = names.length === 0 ? "None is defined: add it to the setting task.verification.profiles" : `There is ${names.join(", ")}`;
		throw new Mistake(`Unknown verification profile: ${name}. ${known}, or give commands.`);
	}
	const profile = profiles[name];
	const where = `Verification profile ${JSON.stringify(name)}`;
	if (!isObject(profile)) throw new Mistake(`${where} must be an object with commands. Correct the setting task.verification.profiles.`);
	return readWish(profile, where);
}

function profileName({ profile }: Record<string, unknown>): string {
	if (profile !== undefined && profile !== null && typeof profile !== "string") throw new Mistake("verify: profile must be a text.");
	return profile ?? "";
}

/** Only members that are there, so that one wish can be laid over another. */
function readWish(value: Record<string, unknown>, where: string): Wish {
	const wish: Wish = {};
	const { mode, commands, onFailure, maxRetries } = value;
	if (isGiven(mode)) wish.mode = text(mode, `${where}: mode`);
	if (isGiven(commands)) {
		if (!Array.isArray(commands)) throw new Mistake(`${where}: commands must be a list of {name, command, timeoutMs?, optional?}.`);
		wish.commands = commands.map((command, index) => readCommand(command, `${where}: commands[${index}]`));
	}
	if (isGiven(onFailure)) {
		if (!isOnFailure(onFailure)) throw new Mistake(`${where}: onFailure must be "return_failure", "discard_patch" or "retry_once".`);
		wish.onFailure = onFailure;
	}
	if (isGiven(maxRetries)) {
		if (!Number.isInteger(maxRetries) || (maxRetries as number) < 0) throw new Mistake(`${where}: maxRetries must be a whole number, 0 or more.`);
		wish.maxRetries = maxRetries as number;
	}
	return wish;
}

/** The longest time that a timer of ours can wait for. */
const longestTimeoutMs = 2147483 * 1000;

function readCommand(value: unknown, where: string): VerificationCommand {
	if (!isObject(value)) throw new Mistake(`${where} must be an object with name and command.`);
	const { timeoutMs, optional } = value;
	const command: VerificationCommand = { name: text(value.name, `${where}.name`), command: text(value.command, `${where}.command`) };
	if (isGiven(timeoutMs)) {
		if (typeof timeoutMs !== "number" || !(timeoutMs > 0 && timeoutMs <= longestTimeoutMs))
			throw new Mistake(`${where}.timeoutMs must be a number of milliseconds from 1 to ${longestTimeoutMs}.`);
		command.timeoutMs = timeoutMs;
	}
	if (isGiven(optional)) {
		if (typeof optional !== "boolean") throw new Mistake(`${where}.optional must be true or false.`);
		command.optional = optional;
	}
	return command;
}

function text(value: unknown, where: string): string {
	if (typeof value !== "string" || value.trim() === "") throw new Mistake(`${where} must be a text that is not empty.`);
	return value;
}

const isGiven = (value: unknown) => value !== undefined && value !== null;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isOnFailure = (value: unknown): value is OnFailure => value === "return_failure" || value === "discard_patch" || value === "retry_once";
