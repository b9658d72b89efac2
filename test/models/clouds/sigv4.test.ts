import { describe, expect, test } from "vitest";
import { signed, signingKey } from "../../../src/models/clouds/sigv4.ts";
import { rightSignature } from "./amazon.ts";

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: secret };
const now = Date.parse("2015-08-30T12:36:00Z");

function signature(method: string, url: string, headers: Record<string, string> = {}, service = "service"): string {
	const { authorization } = signed({ method, url, headers, body: "" }, { keys, region: "us-east-1", service, now });
	return authorization?.slice(-64) ?? "";
}

describe("what AWS publishes about Signature Version 4", () => {
	test("the signing key of the documentation", () => {
		expect(signingKey(secret, "20150830", "us-east-1", "iam").toString("hex")).toBe(
			"c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9",
		);
	});

	test.each([
		["get-vanilla", "GET", "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
		["post-vanilla", "POST", "https://example.amazonaws.com/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
		[
			"get-vanilla-query-order-key-case",
			"GET",
			"https://example.amazonaws.com/?Param2=value2&Param1=value1",
			"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
		],
	])("%s of the test suite", (_, method, url, right) => {
		expect(signature(method, url)).toBe(right);
	});

	test("the ListUsers request of the documentation", () => {
		const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
		expect(signature("GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", headers, "iam")).toBe(
			"5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
		);
	});
});

test("a second computation agrees for ids with colons and slashes, session tokens and bodies beyond ASCII", () => {
	const path = `/model/${encodeURIComponent("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x-v1:0")}/converse-stream`;
	const sessionToken = "a-session-token/with+signs==";
	const headers = signed(
		{
			method: "POST",
			url: `https://bedrock.test:8443${path}`,
			headers: { "content-type": "application/json", accept: "x/y" },
			body: '{"ä":1}',
		},
		{ keys: { ...keys, sessionToken }, region: "us-east-1", service: "bedrock", now },
	);
	expect(headers["x-amz-security-token"]).toBe(sessionToken);
	expect(headers.authorization).toContain("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,");
	const seen = rightSignature({ method: "POST", url: path, headers: { ...headers, host: "bedrock.test:8443" }, body: '{"ä":1}' }, secret);
	expect(seen?.stated).toBe(seen?.right);
});
