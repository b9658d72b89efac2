/** Where Amazon's credentials come from: each place on its own, with the endpoints on the loopback. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HttpClient } from "../../../src/lib/http/client.ts";
import { type AwsCredentials, awsCredentials } from "../../../src/models/clouds/aws-credentials.ts";
import { parseIni } from "../../../src/models/clouds/aws-profiles.ts";
import { CloudError, Renewed } from "../../../src/models/clouds/cloud.ts";
import { type Answer, Loopback, type Received, refuse } from "../loopback.ts";
import { rightSignature } from "./amazon.ts";

const now = Date.parse("2026-11-16T12:00:00Z");
const inAnHour = "2026-11-16T13:00:00Z";

let home: string;
let server: Loopback;
let client: HttpClient;
let held: Set<string>;
beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "bowline-aws-"));
	mkdirSync(join(home, ".aws", "sso", "cache"), { recursive: true });
	server = await Loopback.start();
	client = new HttpClient({ env: {} });
	held = new Set();
});
afterEach(async () => {
	await client.close();
	await server.stop();
	rmSync(home, { recursive: true });
});

function find(env: Record<string, string> = {}): Promise<AwsCredentials> {
	const endpoints = { AWS_ENDPOINT_URL_STS: server.url, AWS_ENDPOINT_URL_SSO: server.url, AWS_ENDPOINT_URL_SSO_OIDC: server.url };
	const metadata = { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url };
	return awsCredentials(
		{
			env: { HOME: home, PATH: process.env.PATH, ...endpoints, ...metadata, ...env },
			client,
			direct: client,
			now: () => now,
			hold: (secret) => held.add(secret),
			signal: new AbortController().signal,
		},
		"eu-west-1",
	);
}

const config = (text: string) => writeFileSync(join(home, ".aws", "config"), text);
const credentials = (text: string) => writeFileSync(join(home, ".aws", "credentials"), text);
const form = ({ body }: Received) => Object.fromEntries(new URLSearchParams(body));
const json = (value: unknown): Answer => refuse(200, JSON.stringify(value));
const instance = { Code: "Success", AccessKeyId: "AKI", SecretAccessKey: "secret-of-instance", Token: "token-of-instance", Expiration: inAnHour };
const found = { accessKeyId: "AKI", secretAccessKey: "secret-of-instance", sessionToken: "token-of-instance", expiresAt: Date.parse(inAnHour) };

/** The answer of the token service. */
const assumed = (action: string): Answer => {
	const body = `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>
		<AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>secret-of-role</SecretAccessKey><SessionToken>token-of-role</SessionToken>
		<Expiration>${inAnHour}</Expiration></Credentials></${action}Result></${action}Response>`;
	return refuse(200, body, { "content-type": "text/xml" });
};
const ofRole = { accessKeyId: "ASIA", secretAccessKey: "secret-of-role", sessionToken: "token-of-role", expiresAt: Date.parse(inAnHour) };

describe("the environment", () => {
	test("comes first, and its secrets are held", async () => {
		credentials("[default]\naws_access_key_id = file\naws_secret_access_key = file-secret\n");
		const env = { AWS_ACCESS_KEY_ID: "env", AWS_SECRET_ACCESS_KEY: "env-secret", AWS_SESSION_TOKEN: "env-token", AWS_PROFILE: "default" };
		expect(await find(env)).toEqual({ accessKeyId: "env", secretAccessKey: "env-secret", sessionToken: "env-token" });
		expect([...held]).toEqual(["env-secret", "env-token"]);
		expect(server.received).toEqual([]);
	});

	test("a web identity is exchanged for a role, without a signature", async () => {
		const file = join(home, "token");
		writeFileSync(file, "eyJ.web.identity\n");
		server.answer(assumed("AssumeRoleWithWebIdentity"));
		const env = { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: "arn:aws:iam::1:role/r", AWS_ROLE_SESSION_NAME: "pod" };
		expect(await find(env)).toEqual(ofRole);
		expect(form(server.received[0] as Received)).toEqual({
			Action: "AssumeRoleWithWebIdentity",
			Version: "2011-06-15",
			RoleArn: "arn:aws:iam::1:role/r",
			RoleSessionName: "pod",
			WebIdentityToken: "eyJ.web.identity",
		});
		expect(server.received[0]?.headers).not.toHaveProperty("authorization");
		expect([...held]).toEqual(["eyJ.web.identity", "secret-of-role", "token-of-role"]);
	});

	test("a refusal says what the token service said", async () => {
		writeFileSync(join(home, "token"), "x");
		server.answer(refuse(403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized</Message></Error></ErrorResponse>"));
		await expect(find({ AWS_WEB_IDENTITY_TOKEN_FILE: join(home, "token"), AWS_ROLE_ARN: "arn:r" })).rejects.toThrow(
			new CloudError("the role arn:r could not be assumed: 403 Not authorized"),
		);
		await expect(find({ AWS_WEB_IDENTITY_TOKEN_FILE: join(home, "none"), AWS_ROLE_ARN: "arn:r" })).rejects.toThrow(/none could not be read/);
	});
});

describe("profiles", () => {
	test("keys of either file, named or default", async () => {
		config(
			"[default]\nregion = eu-west-1\n\n[profile work]\naws_access_key_id = A ; a comment\naws_secret_access_key=secret-of-work\ns3 =\n  region = x\n",
		);
		credentials("# comment\n[default]\naws_access_key_id = B\naws_secret_access_key = secret/of+default=\naws_session_token = t\n");
		expect(await find({ AWS_PROFILE: "work" })).toEqual({ accessKeyId: "A", secretAccessKey: "secret-of-work" });
		expect(await find()).toEqual({ accessKeyId: "B", secretAccessKey: "secret/of+default=", sessionToken: "t" });
	});

	test("files elsewhere", async () => {
		writeFileSync(join(home, "c1"), "[profile p]\naws_access_key_id=A\naws_secret_access_key=secret-of-p\n");
		writeFileSync(join(home, "c2"), "[q]\naws_access_key_id=B\naws_secret_access_key=secret-of-q\n");
		const env = { AWS_CONFIG_FILE: join(home, "c1"), AWS_SHARED_CREDENTIALS_FILE: join(home, "c2") };
		expect((await find({ ...env, AWS_PROFILE: "p" })).accessKeyId).toBe("A");
		expect((await find({ ...env, AWS_PROFILE: "q" })).accessKeyId).toBe("B");
	});

	test("a named profile that is not there is not replaced by something else", async () => {
		config("[profile empty]\nregion = eu-west-1\n");
		await expect(find({ AWS_PROFILE: "gone" })).rejects.toThrow(/^the profile gone does not exist in .*credentials and .*config$/);
		await expect(find({ AWS_PROFILE: "empty" })).rejects.toThrow(/^the profile empty holds no credentials in /);
		expect(server.received).toEqual([]);
	});

	test("a role is assumed with the keys of its source, signed", async () => {
		config(
			"[profile base]\naws_access_key_id=A\naws_secret_access_key=secret-of-base\n[profile r]\nrole_arn=arn:r\nsource_profile=base\nexternal_id=x1\n",
		);
		server.answer(assumed("AssumeRole"));
		expect(await find({ AWS_PROFILE: "r" })).toEqual(ofRole);
		const seen = rightSignature(server.received[0] as Received, "secret-of-base");
		expect(seen?.stated).toBe(seen?.right);
		expect(server.received[0]?.headers.authorization).toContain("Credential=A/20261116/eu-west-1/sts/aws4_request");
		expect(form(server.received[0] as Received)).toMatchObject({ Action: "AssumeRole", RoleArn: "arn:r", ExternalId: "x1" });
	});

	test("a role may be its own source; a circle of profiles is reported", async () => {
		config("[profile self]\nrole_arn=arn:r\nsource_profile=self\naws_access_key_id=A\naws_secret_access_key=secret-of-self\n");
		server.answer(assumed("AssumeRole"));
		expect(await find({ AWS_PROFILE: "self" })).toEqual(ofRole);
		config("[profile a]\nrole_arn=arn:a\nsource_profile=b\n[profile b]\nrole_arn=arn:b\nsource_profile=a\n");
		await expect(find({ AWS_PROFILE: "a" })).rejects.toThrow("the profiles a and b and a refer to one another");
		config("[profile m]\nrole_arn=arn:a\nsource_profile=b\nmfa_serial=arn:mfa\n");
		await expect(find({ AWS_PROFILE: "m" })).rejects.toThrow("one-time code");
	});

	test("a process prints them", async () => {
		const said = { Version: 1, AccessKeyId: "P", SecretAccessKey: "secret-of-process", SessionToken: "t", Expiration: inAnHour };
		writeFileSync(join(home, "said.json"), JSON.stringify(said));
		config(
			`[profile p]\ncredential_process = cat "${join(home, "said.json")}"\n[profile bad]\ncredential_process = exit 3\n[profile odd]\ncredential_process = echo no\n`,
		);
		expect(await find({ AWS_PROFILE: "p" })).toMatchObject({ accessKeyId: "P", expiresAt: Date.parse(inAnHour) });
		expect(held).toContain("secret-of-process");
		await expect(find({ AWS_PROFILE: "bad" })).rejects.toThrow("the credential_process of the profile bad failed: the command failed with 3");
		await expect(find({ AWS_PROFILE: "odd" })).rejects.toThrow("is not a JSON object");
	});
});

describe("single sign-on", () => {
	const profile =
		"[profile s]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev\n[sso-session corp]\nsso_region = eu-north-1\nsso_start_url = https://corp.test\n";
	const cacheFile = (key: string) => join(home, ".aws", "sso", "cache", `${createHash("sha1").update(key).digest("hex")}.json`);
	const role = { roleCredentials: { accessKeyId: "S", secretAccessKey: "secret-of-sso", sessionToken: "t", expiration: Date.parse(inAnHour) } };

	test("the cached token buys the credentials of the role", async () => {
		config(profile);
		writeFileSync(cacheFile("corp"), JSON.stringify({ accessToken: "sso-access-token", expiresAt: inAnHour }));
		server.answer(json(role));
		expect(await find({ AWS_PROFILE: "s" })).toEqual({
			accessKeyId: "S",
			secretAccessKey: "secret-of-sso",
			sessionToken: "t",
			expiresAt: Date.parse(inAnHour),
		});
		expect(server.received[0]).toMatchObject({
			method: "GET",
			url: "/federation/credentials?role_name=Dev&account_id=123",
			headers: { "x-amz-sso_bearer_token": "sso-access-token" },
		});
		expect(held).toContain("sso-access-token");
	});

	test("profiles of the old kind keep their token under the start URL", async () => {
		config("[profile s]\nsso_start_url = https://corp.test\nsso_region = eu-north-1\nsso_account_id = 123\nsso_role_name = Dev\n");
		writeFileSync(cacheFile("https://corp.test"), JSON.stringify({ accessToken: "sso-access-token", expiresAt: inAnHour }));
		server.answer(json(role));
		expect((await find({ AWS_PROFILE: "s" })).accessKeyId).toBe("S");
	});

	test("an expired token is renewed, and the other tools find the new one", async () => {
		config(profile);
		const old = {
			accessToken: "old-access",
			expiresAt: "2026-11-16T11:00:00Z",
			refreshToken: "old-refresh",
			clientId: "c",
			clientSecret: "client-secret",
			extra: 1,
		};
		writeFileSync(cacheFile("corp"), JSON.stringify(old));
		server.answer(json({ accessToken: "new-access", expiresIn: 3600, refreshToken: "new-refresh" }), json(role));
		expect((await find({ AWS_PROFILE: "s" })).accessKeyId).toBe("S");
		expect(JSON.parse(server.received[0]?.body ?? "")).toEqual({
			grantType: "refresh_token",
			clientId: "c",
			clientSecret: "client-secret",
			refreshToken: "old-refresh",
		});
		expect(server.received[1]?.headers["x-amz-sso_bearer_token"]).toBe("new-access");
		expect(JSON.parse(readFileSync(cacheFile("corp"), "utf8"))).toEqual({
			...old,
			accessToken: "new-access",
			refreshToken: "new-refresh",
			expiresAt: inAnHour,
		});
		expect(statSync(cacheFile("corp")).mode & 0o777).toBe(0o600);
	});

	test("without a token it says how to sign in", async () => {
		config(profile);
		await expect(find({ AWS_PROFILE: "s" })).rejects.toThrow("the profile s is not signed in. Run `aws sso login --profile s`");
		writeFileSync(cacheFile("corp"), JSON.stringify({ accessToken: "old-access", expiresAt: "2026-11-16T11:00:00Z" }));
		await expect(find({ AWS_PROFILE: "s" })).rejects.toThrow("the session of the profile s has expired. Run `aws sso login --profile s`");
		expect(server.received).toEqual([]);
	});
});

describe("this machine", () => {
	test("a container's address, with the token of a file or a variable", async () => {
		server.answer(json(instance));
		const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/creds`, AWS_CONTAINER_AUTHORIZATION_TOKEN: "token-of-variable" };
		expect(await find(env)).toEqual(found);
		writeFileSync(join(home, "auth"), "token-of-file\n");
		expect(await find({ ...env, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(home, "auth") })).toEqual(found);
		expect(server.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
			["/creds", "token-of-variable"],
			["/creds", "token-of-file"],
		]);
		await expect(find({ AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://evil.test/creds" })).rejects.toThrow("neither https nor on this machine");
	});

	test("an instance gives a token first, then its role's credentials", async () => {
		const answers: Record<string, Answer> = {
			"PUT /latest/api/token": refuse(200, "imds-token"),
			"GET /latest/meta-data/iam/security-credentials/": refuse(200, "my-role\n"),
			"GET /latest/meta-data/iam/security-credentials/my-role": json(instance),
		};
		server.answer((response, received) => (answers[`${received.method} ${received.url}`] ?? refuse(404, ""))(response, received));
		expect(await find()).toEqual(found);
		expect(server.received.map(({ headers }) => headers["x-aws-ec2-metadata-token"])).toEqual([undefined, "imds-token", "imds-token"]);
		expect(server.received[0]?.headers["x-aws-ec2-metadata-token-ttl-seconds"]).toBe("21600");
	});

	test("a metadata server that says nothing is given up soon", async () => {
		server.answer(() => undefined);
		await expect(find({ AWS_METADATA_SERVICE_TIMEOUT: "0.05" })).rejects.toThrow(/^no AWS credentials found\. Set AWS_BEARER_TOKEN_BEDROCK/);
		expect(server.received).toHaveLength(1);
	});

	test("is not asked when the user forbids it", async () => {
		await expect(find({ AWS_EC2_METADATA_DISABLED: "true" })).rejects.toThrow(/^no AWS credentials found/);
		expect(server.received).toEqual([]);
	});
});

test("an ini file: comments, spaces, nested settings, titles with quotes", () => {
	const sections = parseIni('; c\n[profile "a b"]\r\nKey = v # c\n nested = 1\nurl=http://x/#y\n[empty]\nno pair\n');
	expect(Object.fromEntries(sections)).toEqual({ "profile a b": { key: "v", url: "http://x/#y" }, empty: {} });
});

describe("credentials that expire", () => {
	const signal = new AbortController().signal;

	test("are made once for all who ask at once, and again shortly before their end", async () => {
		let time = 0;
		let made = 0;
		const renewed = new Renewed(
			async () => {
				made += 1;
				return { name: `c${made}`, expiresAt: time + 3_600_000 };
			},
			() => time,
		);
		const both = await Promise.all([renewed.get(signal), renewed.get(signal)]);
		expect(both.map(({ name }) => name)).toEqual(["c1", "c1"]);
		time = 54 * 60_000;
		expect((await renewed.get(signal)).name).toBe("c1");
		time = 56 * 60_000;
		expect((await renewed.get(signal)).name).toBe("c2");
	});

	test("that do not say when they end are read again after a while", async () => {
		let time = 0;
		let made = 0;
		const renewed = new Renewed<{ name: number; expiresAt?: number }>(
			async () => ({ name: ++made }),
			() => time,
		);
		const names: number[] = [];
		for (time of [0, 299_000, 301_000]) names.push((await renewed.get(signal)).name);
		expect(names).toEqual([1, 1, 2]);
	});

	test("serve on while they last when renewing fails", async () => {
		let time = 0;
		let works = true;
		const renewed = new Renewed(
			async () => {
				if (!works) throw new CloudError("no");
				return { expiresAt: 3_600_000 };
			},
			() => time,
		);
		const first = await renewed.get(signal);
		works = false;
		time = 58 * 60_000;
		expect(await renewed.get(signal)).toBe(first);
		time = 61 * 60_000;
		await expect(renewed.get(signal)).rejects.toThrow("no");
	});

	test("one who gives up does not stop the others", async () => {
		let finish: (value: { name: string }) => void = () => undefined;
		const renewed = new Renewed<{ name: string; expiresAt?: number }>(
			() => new Promise((resolve) => (finish = resolve)),
			() => 0,
		);
		const giving = new AbortController();
		const [one, other] = [renewed.get(giving.signal), renewed.get(signal)];
		giving.abort();
		await expect(one).rejects.toThrow("the request was stopped");
		finish({ name: "c" });
		expect((await other).name).toBe("c");
	});
});
