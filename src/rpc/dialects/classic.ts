/** The dialect that is spoken unless another is asked for: what is inside goes out as it is. */
import type { Dialect, Voice } from "./dialect.ts";

export const classic: Dialect = { ready: '{"type":"ready"}', updates: "full" };

/** The dialect of a name. All but classic are loaded when they are asked for. */
export async function loadDialect(name: string, voice: Voice): Promise<Dialect> {
	switch (name) {
		case "pi":
			return (await import("./pi.ts")).piDialect(voice);
		case "omp":
			return (await import("./omp.ts")).ompDialect(voice);
		case "strict":
			return (await import("./strict.ts")).strict;
		default:
			return classic;
	}
}
