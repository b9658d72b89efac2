import { expect, test } from "vitest";
import { didYouMean, nearest } from "../../src/lib/nearest.ts";

const flags = ["model", "models", "provider", "no-session", "session", "thinking"];

test.each([
	["modle", "model"],
	["providr", "provider"],
	["no-sesion", "no-session"],
	["thinkin", "thinking"],
	["MODELS", "models"],
])("%s means %s", (typed, meant) => {
	expect(didYouMean(typed, flags)).toBe(` Did you mean ${meant}?`);
});

test.each(["fly", "gates", "x", "frobnicate", ""])("%j means none of them", (typed) => {
	expect(didYouMean(typed, flags)).toBe("");
});

test("a word of a megabyte costs nothing", () => {
	expect(nearest("a".repeat(1_000_000), ["a".repeat(1_000_000)])).toBeUndefined();
});

test("the guess is written as its user writes it", () => {
	expect(didYouMean("modle", flags, (name) => `--${name}`)).toBe(" Did you mean --model?");
});
