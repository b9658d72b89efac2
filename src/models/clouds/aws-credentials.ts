/** Where Amazon's credentials come from: the usual chain, in its usual order. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { resolveValue } from "../values.ts";
import { type AwsFiles, profileName, readAwsFiles, type Section } from "./aws-profiles.ts";
import {
	ask,
	askSecurely,
	CloudError,
	type CloudTools,
	type Expiring,
	isBusy,
	isLocal,
	type Json,
	metadataPatienceMs,
	parsed,
	refusalOf,
	string,
} from "./cloud.ts";
import { awsPaths } from "./places.ts";
import { type AwsKeys, signed } from "./sigv4.ts";

export type AwsCredentials = AwsKeys & Expiring;

/** How deep profiles may refer to one another. */
const deepest = 5;
const processLimitMs = 60_000;

/** Credentials of the first source that is set up. A source that is set up and fails is an error: it is not skipped. */
export async function awsCredentials(tools: CloudTools, region: string): Promise<AwsCredentials> {
	const { env } = tools;
	if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) return fromEnvironment(tools);
	if (env.AWS_WEB_IDENTITY_TOKEN_FILE && env.AWS_ROLE_ARN) {
		return withWebIdentity(tools, region, env.AWS_WEB_IDENTITY_TOKEN_FILE, env.AWS_ROLE_ARN, env.AWS_ROLE_SESSION_NAME);
	}
	const { name, isNamed } = profileName(env);
	const files = await readAwsFiles(env);
	const chain = new ProfileChain(tools, region, files);
	const ofProfile = await chain.resolve(name);
	if (ofProfile) return ofProfile;
	if (isNamed)
		throw new CloudError(`the profile ${name} ${files.profiles.has(name) ? "holds no credentials" : "does not exist"} in ${placesOf(tools)}`);
	const found = (await fromContainer(tools)) ?? (await fromInstance(tools));
	if (found) return found;
	throw new CloudError(
		"no AWS credentials found. Set AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure`",
	);
}

function placesOf({ env }: CloudTools): string {
	const { config, credentials } = awsPaths(env);
	return [credentials, config].filter(Boolean).join(" and ") || "any file: HOME is not set";
}

function held(tools: CloudTools, credentials: AwsCredentials): AwsCredentials {
	tools.hold(credentials.secretAccessKey);
	if (credentials.sessionToken) tools.hold(credentials.sessionToken);
	return credentials;
}

function fromEnvironment(tools: CloudTools): AwsCredentials {
	const { AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "", AWS_SESSION_TOKEN, AWS_CREDENTIAL_EXPIRATION } = tools.env;
	const expiresAt = Date.parse(AWS_CREDENTIAL_EXPIRATION ?? "");
	return held(tools, {
		accessKeyId: AWS_ACCESS_KEY_ID,
		secretAccessKey: AWS_SECRET_ACCESS_KEY,
		...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
		...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
	});
}

// ── Profiles ───────────────────────────────────────────────────────────────────────────────────────────

class ProfileChain {
	#tools: CloudTools;
	#region: string;
	#files: AwsFiles;

	constructor(tools: CloudTools, region: string, files: AwsFiles) {
		this.#tools = tools;
		this.#region = region;
		this.#files = files;
	}

	/** Nothing when the profile does not exist or says nothing about credentials. */
	async resolve(name: string, above: readonly string[] = []): Promise<AwsCredentials | undefined> {
		const profile = this.#files.profiles.get(name);
		if (!profile) return undefined;
		const isOwnSource = above.at(-1) === name;
		if ((above.includes(name) && !isOwnSource) || above.length >= deepest) {
			throw new CloudError(`the profiles ${[...above, name].join(" and ")} refer to one another`);
		}
		// A role may name its own profile as the source of its keys.
		if (profile.role_arn && !isOwnSource) return this.#role(name, profile, profile.role_arn, above);
		if (profile.aws_access_key_id && profile.aws_secret_access_key) return this.#keys(profile);
		if (profile.sso_session || profile.sso_start_url) return this.#sso(name, profile);
		return profile.credential_process ? this.#process(name, profile.credential_process) : undefined;
	}

	#keys(profile: Section): AwsCredentials {
		const { aws_access_key_id: accessKeyId = "", aws_secret_access_key: secretAccessKey = "", aws_session_token: sessionToken } = profile;
		return held(this.#tools, { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) });
	}

	async #role(name: string, profile: Section, role: string, above: readonly string[]): Promise<AwsCredentials> {
		const { web_identity_token_file: tokenFile, role_session_name: session, source_profile: source, credential_source: place } = profile;
		if (tokenFile) return withWebIdentity(this.#tools, this.#region, tokenFile, role, session);
		if (profile.mfa_serial) throw new CloudError(`the profile ${name} asks for a one-time code (mfa_serial), which Bowline cannot answer`);
		const keys = source ? await this.resolve(source, [...above, name]) : await this.#sourceOf(place);
		if (!keys) throw new CloudError(`the profile ${name} has a role_arn, and no source_profile or credential_source gives credentials for it`);
		const fields = {
			RoleSessionName: session || sessionName(this.#tools),
			...(profile.external_id ? { ExternalId: profile.external_id } : {}),
			...(profile.duration_seconds ? { DurationSeconds: profile.duration_seconds } : {}),
		};
		return assumed(this.#tools, this.#region, "AssumeRole", { RoleArn: role, ...fields }, keys);
	}

	#sourceOf(place: string | undefined): Promise<AwsCredentials | undefined> {
		if (place === "Ec2InstanceMetadata") return fromInstance(this.#tools);
		if (place === "EcsContainer") return fromContainer(this.#tools);
		const { env } = this.#tools;
		const isThere = place === "Environment" && env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY;
		return Promise.resolve(isThere ? fromEnvironment(this.#tools) : undefined);
	}

	async #sso(name: string, profile: Section): Promise<AwsCredentials> {
		const session = profile.sso_session ? this.#files.ssoSessions.get(profile.sso_session) : profile;
		if (!session) throw new CloudError(`the profile ${name} refers to the sso-session ${profile.sso_session}, which does not exist`);
		const { sso_region: region, sso_start_url: startUrl = "" } = session;
		const { sso_account_id: account, sso_role_name: role } = profile;
		if (!region || !account || !role) throw new CloudError(`the profile ${name} lacks sso_region, sso_account_id or sso_role_name`);
		const token = await new SsoToken(this.#tools, name, region, profile.sso_session || startUrl).get();
		const query = new URLSearchParams({ role_name: role, account_id: account });
		const answer = await askSecurely(this.#tools, {
			url: `${endpointOf(this.#tools, "SSO", `https://portal.sso.${region}.amazonaws.com`)}/federation/credentials?${query}`,
			headers: { "x-amz-sso_bearer_token": token },
		});
		if (answer.status !== 200)
			throw new CloudError(`AWS IAM Identity Center refused the profile ${name}: ${refusalOf(answer)}. ${loginAgain(name)}`, isBusy(answer));
		const { accessKeyId, secretAccessKey, sessionToken, expiration } = (parsed(answer.body, "the answer of IAM Identity Center").roleCredentials ??
			{}) as Json;
		return complete(this.#tools, "IAM Identity Center", accessKeyId, secretAccessKey, sessionToken, Number(expiration));
	}

	async #process(name: string, command: string): Promise<AwsCredentials> {
		let printed: string;
		try {
			printed = (await resolveValue(`!${command}`, this.#tools.env, this.#tools.signal, processLimitMs)) ?? "";
		} catch (error) {
			throw new CloudError(`the credential_process of the profile ${name} failed: ${(error as Error).message}`);
		}
		const said = parsed(printed, `the output of the credential_process of the profile ${name}`);
		const what = `the credential_process of the profile ${name}`;
		if (said.Version !== 1) throw new CloudError(`${what} printed an unknown Version`);
		return complete(this.#tools, what, said.AccessKeyId, said.SecretAccessKey, said.SessionToken, Date.parse(string(said.Expiration)));
	}
}

const loginAgain = (profile: string) => `Run \`aws sso login --profile ${profile}\``;

/** The token that `aws sso login` left in its cache; renewed there when it has expired and may be. */
class SsoToken {
	#tools: CloudTools;
	#profile: string;
	#region: string;
	#path: string | undefined;

	constructor(tools: CloudTools, profile: string, region: string, key: string) {
		this.#tools = tools;
		this.#profile = profile;
		this.#region = region;
		const { ssoCache } = awsPaths(tools.env);
		this.#path = ssoCache && join(ssoCache, `${createHash("sha1").update(key).digest("hex")}.json`);
	}

	async get(): Promise<string> {
		const cached = await this.#read();
		const token = string(cached.accessToken);
		this.#tools.hold(token);
		if (Date.parse(string(cached.expiresAt)) > this.#tools.now() + 60_000) return token;
		const { refreshToken, clientId, clientSecret } = cached;
		if (!refreshToken || !clientId || !clientSecret)
			throw new CloudError(`the session of the profile ${this.#profile} has expired. ${loginAgain(this.#profile)}`);
		this.#tools.hold(string(refreshToken));
		this.#tools.hold(string(clientSecret));
		const answer = await askSecurely(this.#tools, {
			url: `${endpointOf(this.#tools, "SSO_OIDC", `https://oidc.${this.#region}.amazonaws.com`)}/token`,
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ grantType: "refresh_token", clientId, clientSecret, refreshToken }),
		});
		if (answer.status !== 200)
			throw new CloudError(
				`the session of the profile ${this.#profile} could not be renewed: ${refusalOf(answer)}. ${loginAgain(this.#profile)}`,
				isBusy(answer),
			);
		const said = parsed(answer.body, "the answer of IAM Identity Center");
		const renewed = string(said.accessToken);
		if (renewed === "") throw new CloudError("IAM Identity Center sent no token");
		this.#tools.hold(renewed);
		const expiresAt = new Date(this.#tools.now() + Number(said.expiresIn ?? 0) * 1000).toISOString().replace(/\.\d{3}/, "");
		// The old refresh token may be void now, so the other tools must learn the new one.
		await this.#write({ ...cached, accessToken: renewed, expiresAt, refreshToken: string(said.refreshToken) || refreshToken });
		return renewed;
	}

	async #read(): Promise<Json> {
		try {
			return parsed(await readFile(this.#path ?? "", "utf8"), `${this.#path}`);
		} catch (error) {
			if (error instanceof CloudError) throw error;
			throw new CloudError(`the profile ${this.#profile} is not signed in. ${loginAgain(this.#profile)}`);
		}
	}

	async #write(content: Json): Promise<void> {
		const path = this.#path as string;
		try {
			await mkdir(dirname(path), { recursive: true, mode: 0o700 });
			await writeFile(`${path}.bowline`, JSON.stringify(content), { mode: 0o600 });
			await rename(`${path}.bowline`, path);
		} catch {
			// A read-only home: the token still serves this process.
		}
	}
}

// ── Roles ──────────────────────────────────────────────────────────────────────────────────────────────

const sessionName = ({ now }: CloudTools) => `bowline-${now()}`;

async function withWebIdentity(tools: CloudTools, region: string, file: string, role: string, session: string | undefined): Promise<AwsCredentials> {
	const token = await contentOf(file);
	tools.hold(token);
	const fields = { RoleArn: role, RoleSessionName: session || sessionName(tools), WebIdentityToken: token };
	return assumed(tools, region, "AssumeRoleWithWebIdentity", fields);
}

/** Asks the token service for the credentials of a role, signed when there are keys to sign with. */
async function assumed(tools: CloudTools, region: string, action: string, fields: Record<string, string>, keys?: AwsKeys): Promise<AwsCredentials> {
	const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
	const url = `${endpointOf(tools, "STS", `https://sts.${region}.${suffix}`)}/`;
	const body = new URLSearchParams({ Action: action, Version: "2011-06-15", ...fields }).toString();
	const plain = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
	const headers = keys ? signed({ method: "POST", url, headers: plain, body }, { keys, region, service: "sts", now: tools.now() }) : plain;
	const answer = await askSecurely(tools, { url, headers: { ...headers, accept: "application/xml" }, body });
	if (answer.status !== 200) throw new CloudError(`the role ${fields.RoleArn} could not be assumed: ${refusalOf(answer)}`, isBusy(answer));
	const member = (name: string) => new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(answer.body)?.[1];
	return complete(tools, "AWS STS", member("AccessKeyId"), member("SecretAccessKey"), member("SessionToken"), Date.parse(member("Expiration") ?? ""));
}

/** The address of a service: a variable of its own, a variable for all of them, else Amazon's. */
export function endpointOf({ env }: Pick<CloudTools, "env">, service: string, address: string): string {
	const isIgnored = env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS?.toLowerCase() === "true";
	const own = isIgnored ? undefined : env[`AWS_ENDPOINT_URL_${service}`] || env.AWS_ENDPOINT_URL;
	return (own || address).replace(/\/+$/, "");
}

// ── This machine ───────────────────────────────────────────────────────────────────────────────────────

/** ECS and EKS: an address in the environment, with a token to show there. */
async function fromContainer(tools: CloudTools): Promise<AwsCredentials | undefined> {
	const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = tools.env;
	if (!relative && !full) return undefined;
	const url = relative ? `http://169.254.170.2${relative}` : (full as string);
	const { protocol, hostname, host } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "", host: url };
	if (protocol !== "https:" && !isLocal(hostname))
		throw new CloudError(`AWS_CONTAINER_CREDENTIALS_FULL_URI names ${host}, which is neither https nor on this machine`);
	const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: given } = tools.env;
	const token = file ? await contentOf(file) : given;
	if (token) tools.hold(token);
	const answer = await ask(tools.direct, tools.signal, { url, headers: token ? { authorization: token } : {}, timeoutMs: metadataPatienceMs });
	if (answer.status !== 200) throw new CloudError(`the container's credentials at ${host} could not be had: ${refusalOf(answer)}`, isBusy(answer));
	return readInstance(tools, answer.body, `the answer of ${host}`);
}

/** EC2: a token first, then the role of the instance. Nothing when this machine has no such server. */
async function fromInstance(tools: CloudTools): Promise<AwsCredentials | undefined> {
	const instance = await InstanceMetadata.open(tools);
	const role = (await instance?.read("iam/security-credentials/"))?.trim().split("\n")[0];
	if (!instance || !role) return undefined;
	const said = await instance.read(`iam/security-credentials/${role}`);
	if (said === undefined) throw new CloudError(`the credentials of the instance's role ${role} could not be had`);
	return readInstance(tools, said, "the answer of the instance's metadata");
}

/** The region of the instance we run on, or nothing. */
export async function instanceRegion(tools: CloudTools): Promise<string | undefined> {
	return (await (await InstanceMetadata.open(tools))?.read("placement/region"))?.trim() || undefined;
}

class InstanceMetadata {
	#tools: CloudTools;
	#base: string;
	#token: string;
	#timeoutMs: number;

	private constructor(tools: CloudTools, base: string, token: string, timeoutMs: number) {
		this.#tools = tools;
		this.#base = base;
		this.#token = token;
		this.#timeoutMs = timeoutMs;
	}

	static async open(tools: CloudTools): Promise<InstanceMetadata | undefined> {
		const { env, direct, signal } = tools;
		if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true") return undefined;
		const isSix = env.AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE?.toLowerCase() === "ipv6";
		const base = (env.AWS_EC2_METADATA_SERVICE_ENDPOINT || (isSix ? "http://[fd00:ec2::254]" : "http://169.254.169.254")).replace(/\/+$/, "");
		const timeoutMs = Number(env.AWS_METADATA_SERVICE_TIMEOUT) * 1000 || metadataPatienceMs;
		try {
			const headers = { "x-aws-ec2-metadata-token-ttl-seconds": "21600" };
			const answer = await ask(direct, signal, { method: "PUT", url: `${base}/latest/api/token`, headers, timeoutMs });
			return answer.status === 200 ? new InstanceMetadata(tools, base, answer.body.trim(), timeoutMs) : undefined;
		} catch (error) {
			if (error instanceof CloudError) return undefined; // Not a machine of Amazon's.
			throw error;
		}
	}

	async read(path: string): Promise<string | undefined> {
		const { direct, signal } = this.#tools;
		const headers = { "x-aws-ec2-metadata-token": this.#token };
		const answer = await ask(direct, signal, { url: `${this.#base}/latest/meta-data/${path}`, headers, timeoutMs: this.#timeoutMs });
		return answer.status === 200 ? answer.body : undefined;
	}
}

function readInstance(tools: CloudTools, text: string, what: string): AwsCredentials {
	const { AccessKeyId, SecretAccessKey, Token, Expiration } = parsed(text, what);
	return complete(tools, what, AccessKeyId, SecretAccessKey, Token, Date.parse(string(Expiration)));
}

function complete(tools: CloudTools, what: string, id: unknown, secret: unknown, token: unknown, expiresAt: number): AwsCredentials {
	const [accessKeyId, secretAccessKey, sessionToken] = [string(id), string(secret), string(token)];
	if (accessKeyId === "" || secretAccessKey === "") throw new CloudError(`${what} holds no access key`);
	return held(tools, {
		accessKeyId,
		secretAccessKey,
		...(sessionToken ? { sessionToken } : {}),
		...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
	});
}

async function contentOf(file: string): Promise<string> {
	try {
		return (await readFile(file, "utf8")).trim();
	} catch (error) {
		throw new CloudError(`${file} could not be read: ${(error as Error).message}`);
	}
}
