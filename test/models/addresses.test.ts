/** Credentials inside addresses: found wherever they are, also where the address cannot be parsed, and never shown. */
import { expect, test } from "vitest";
import { publicAddress, secretsInAddress } from "../../src/models/secrets.ts";

test.each([
	["https://api.example.com/v1", "https://api.example.com/v1", []],
	["https://user:pass-word@h/v1", "https://h/v1", ["pass-word"]],
	["https://user:p%40ss@h/v1", "https://h/v1", ["p%40ss", "p@ss"]],
	["https://a-token@h:8/v1", "https://h:8/v1", ["a-token"]],
	["http://a-token:@proxy:8080", "http://proxy:8080", ["a-token"]],
	["https://h/v1?key=abcd1234&v=2024-10-21", "https://h/v1?key=[redacted]&v=2024-10-21", ["abcd1234"]],
	["https://h/v1?v=1&x=Ab0Ab0Ab0Ab0Ab0Ab0Ab0", "https://h/v1?v=1&x=[redacted]", ["Ab0Ab0Ab0Ab0Ab0Ab0Ab0"]],
	["https://gateway/sk-abcdefghijklmnop/v1", "https://gateway/[redacted]/v1", ["sk-abcdefghijklmnop"]],
	["https://gateway/t/0123456789abcdef0123456789abcdef/v1", "https://gateway/t/[redacted]/v1", ["0123456789abcdef0123456789abcdef"]],
	["https://h/accounts/0123456789abcdef0123456789abcdef/ai", "https://h/accounts/0123456789abcdef0123456789abcdef/ai", []],
	["https://h/deployments/gpt-4o-mini-2024-07-18", "https://h/deployments/gpt-4o-mini-2024-07-18", []],
	["https://user:pa/ss@h:port/v1", "https://h:port/v1", ["pa/ss"]],
	["ht tp://user:secret@@host/?token=abc", "ht tp://host/?token=[redacted]", ["secret@", "abc"]],
	["://bad/sk-abcdefghijklmnop?api_key=%zz", "://bad/[redacted]?api_key=[redacted]", ["%zz", "sk-abcdefghijklmnop"]],
])("%s is shown as %s", (address, shown, secrets) => {
	expect(publicAddress(address, [])).toBe(shown);
	expect(secretsInAddress(address)).toEqual(secrets);
});

test("a known credential is taken out of an address wherever it is", () => {
	expect(publicAddress("https://h/mine-1234/v1", ["mine-1234"])).toBe("https://h/[redacted]/v1");
});
