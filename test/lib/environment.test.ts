import { expect, test } from "vitest";
import { childEnvironment } from "../../src/lib/environment.ts";

const parent = {
	PATH: "/bin",
	ACME_API_KEY: "k1",
	OTHER_API_KEY: "k2",
	GH_TOKEN: "g",
	GITHUB_TOKEN: "g",
	AWS_SECRET_ACCESS_KEY: "a",
	BOWLINE_SETTINGS: "{}",
	BOWLINE_INHERIT_FD: "3",
	BOWLINE_GATEWAY_TOKEN: "t",
	BOWLINE_API_KEY: "k",
	BOWLINE_CLIENT_SECRET: "s",
	BOWLINE_RG: "/rg",
	BOWLINE_RUN: "x.1;",
	NOTHING: undefined,
};

test("commands do not see our credentials, and see everything else", () => {
	expect(childEnvironment(parent, { secretNames: ["ACME_API_KEY"], allow: [] })).toEqual({
		PATH: "/bin",
		OTHER_API_KEY: "k2",
		GH_TOKEN: "g",
		GITHUB_TOKEN: "g",
		AWS_SECRET_ACCESS_KEY: "a",
		BOWLINE_RG: "/rg",
		BOWLINE_RUN: "x.1;",
	});
});

test("what the user allows is passed on", () => {
	const seen = childEnvironment(parent, { secretNames: ["ACME_API_KEY"], allow: ["ACME_API_KEY", "BOWLINE_API_KEY"] });
	expect([seen.ACME_API_KEY, seen.BOWLINE_API_KEY, seen.BOWLINE_CLIENT_SECRET]).toEqual(["k1", "k", undefined]);
});
