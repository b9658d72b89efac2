/** Every transcript of this folder, played against the real process. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { parseWire } from "./support/parse.ts";
import { play } from "./support/play.ts";

const folder = import.meta.dirname;

for (const file of readdirSync(folder).filter((name) => name.endsWith(".wire"))) {
	describe.concurrent(file.replace(".wire", ""), () => {
		for (const wire of parseWire(readFileSync(join(folder, file), "utf8"))) {
			test(`${wire.title} (line ${wire.line})`, () => play(wire));
		}
	});
}
