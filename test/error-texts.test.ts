import { expect, test } from "vitest";
import { asSentence, withoutError } from "../src/lib/as-sentence.ts";
import { flawsIn } from "./error-texts.ts";

test.each([
	["Error: Error: no", "doubled prefix"],
	["set_todos: set_todos: phases must be array", "doubled prefix"],
	["It failed: Compaction failed: Compaction failed: no", "doubled prefix"],
	["No key.. The session goes on.", "doubled stop"],
	["Did it work?. No.", "doubled stop"],
	["It could not be read: undefined.", "left-over of the program"],
	["Failed: [object Object]", "left-over of the program"],
])("%s has a %s", (text, flaw) => expect(flawsIn(text)).toEqual([flaw]));

test.each([
	"Not found: ../a.ts",
	"Wait...",
	"Unknown command: undefined",
	"a: b: c",
	"file .. is not one",
	"Name it in .env. Then try again.",
	"See …/start.",
])("%s is as it should be", (text) => expect(flawsIn(text)).toEqual([]));

test("a text of someone else ends with one stop", () => {
	expect(["gone", "gone.", "gone. ", "really?", "wait…"].map(asSentence)).toEqual(["gone.", "gone.", "gone.", "really?", "wait…"]);
});

test("the word Error is said once", () => {
	expect(["Error: no", "Error: Error: no", "No Error: x"].map(withoutError)).toEqual(["no", "no", "No Error: x"]);
});
