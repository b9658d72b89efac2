/** The dialects by name: one row each. All but classic are loaded when a host asks for them. */
import type { dialectNames } from "../../protocol/flags.ts";
import type { Dialect, Voice } from "./dialect.ts";

/** Spoken unless a host asks for another: frames go out as they are. */
export const classic: Dialect = { ready: {}, updates: "full" };

type Name = (typeof dialectNames)[number];

const dialects: Record<Name, (voice: Voice) => Dialect | Promise<Dialect>> = {
	classic: () => classic,
	pi: async (voice) => (await import("./pi.ts")).piDialect(voice),
	omp: async (voice) => (await import("./omp.ts")).ompDialect(voice),
	strict: async () => (await import("./strict.ts")).strict,
};

/** `name` is one that the command line accepts. */
export async function loadDialect(name: string, voice: Voice): Promise<Dialect> {
	if (!Object.hasOwn(dialects, name)) throw new Error(`There is no dialect ${name}. There are ${Object.keys(dialects).join(", ")}.`);
	return dialects[name as Name](voice);
}
