/** Google's application default credentials: a file of one of five kinds, else the machine's metadata server. */
import { readFile } from "node:fs/promises";
import {
	ask,
	askSecurely,
	CloudError,
	type CloudTools,
	type Expiring,
	isBusy,
	type Json,
	metadataPatienceMs,
	parsed,
	refusalOf,
	string,
} from "./cloud.ts";
import { signedJwt } from "./jwt.ts";
import { defaultFile } from "./places.ts";

export interface GoogleToken extends Expiring {
	token: string;
	/** The project that the credentials belong to. */
	project?: string;
	/** The project that pays for requests of a user. */
	quotaProject?: string;
}

const scope = "https://www.googleapis.com/auth/cloud-platform";

export async function googleToken(tools: CloudTools): Promise<GoogleToken> {
	const named = tools.env.GOOGLE_APPLICATION_CREDENTIALS;
	const path = named || defaultFile(tools.env);
	const file = path === undefined ? undefined : await fileAt(path, named !== undefined && named !== "");
	if (file) return fromFile(tools, file, path as string);
	const found = await fromMetadata(tools);
	if (found) return found;
	throw new CloudError(
		"no Google credentials found. Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CLOUD_API_KEY",
	);
}

async function fileAt(path: string, mustExist: boolean): Promise<Json | undefined> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (error) {
		if (!mustExist && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw new CloudError(`${path} could not be read: ${(error as Error).message}`);
	}
	return parsed(text, path);
}

async function fromFile(tools: CloudTools, file: Json, path: string): Promise<GoogleToken> {
	const projects = {
		...(string(file.project_id) ? { project: string(file.project_id) } : {}),
		...(string(file.quota_project_id) ? { quotaProject: string(file.quota_project_id) } : {}),
	};
	return { ...projects, ...(await tokenOf(tools, file, path)) };
}

function tokenOf(tools: CloudTools, file: Json, path: string): Promise<GoogleToken> {
	switch (file.type) {
		case "authorized_user":
			return ofUser(tools, file, path);
		case "service_account":
			return ofServiceAccount(tools, file, path);
		case "impersonated_service_account":
			return ofImpersonated(tools, file, path);
		case "external_account":
			return ofExternal(tools, file, path);
		default:
			throw new CloudError(`${path} is of the type ${JSON.stringify(file.type)}, which Bowline does not know`);
	}
}

/** The token endpoint: that of the file, else the one gcloud is configured with, else Google's. */
function tokenAddress({ env }: CloudTools, file: Json): string {
	return string(file.token_uri) || env.CLOUDSDK_AUTH_TOKEN_HOST || "https://oauth2.googleapis.com/token";
}

async function ofUser(tools: CloudTools, file: Json, path: string): Promise<GoogleToken> {
	const [client_id, client_secret, refresh_token] = [string(file.client_id), string(file.client_secret), string(file.refresh_token)];
	if (refresh_token === "") throw new CloudError(`${path} has no refresh_token`);
	tools.hold(client_secret);
	tools.hold(refresh_token);
	return exchanged(tools, tokenAddress(tools, file), { grant_type: "refresh_token", client_id, client_secret, refresh_token }, path);
}

async function ofServiceAccount(tools: CloudTools, file: Json, path: string): Promise<GoogleToken> {
	const [email, key] = [string(file.client_email), string(file.private_key)];
	if (email === "" || key === "") throw new CloudError(`${path} lacks client_email or private_key`);
	tools.hold(key);
	const aud = tokenAddress(tools, file);
	const iat = Math.floor(tools.now() / 1000);
	const header = string(file.private_key_id) ? { kid: string(file.private_key_id) } : {};
	const assertion = signedJwt(header, { iss: email, scope, aud, iat, exp: iat + 3600 }, key, path);
	return exchanged(tools, aud, { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }, path);
}

async function ofImpersonated(tools: CloudTools, file: Json, path: string): Promise<GoogleToken> {
	const source = file.source_credentials;
	if (typeof source !== "object" || source === null) throw new CloudError(`${path} lacks source_credentials`);
	const own = await tokenOf(tools, source as Json, path);
	return impersonated(tools, string(file.service_account_impersonation_url), own.token, path, file.delegates);
}

/** Workload identity federation: a token of another issuer, from a file or an address, is exchanged for one of Google's. */
async function ofExternal(tools: CloudTools, file: Json, path: string): Promise<GoogleToken> {
	const fields = {
		grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
		requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
		audience: string(file.audience),
		scope,
		subject_token_type: string(file.subject_token_type),
		subject_token: await subjectToken(tools, (file.credential_source ?? {}) as Json, path),
	};
	const own = await exchanged(tools, string(file.token_url), fields, path);
	const target = string(file.service_account_impersonation_url);
	return target === "" ? own : impersonated(tools, target, own.token, path);
}

async function subjectToken(tools: CloudTools, source: Json, path: string): Promise<string> {
	const format = (source.format ?? {}) as Json;
	let text: string;
	if (string(source.file)) {
		text = await readFile(string(source.file), "utf8").catch((error: Error) => {
			throw new CloudError(`${string(source.file)} could not be read: ${error.message}`);
		});
	} else if (string(source.url)) {
		const headers = Object.fromEntries(Object.entries((source.headers ?? {}) as Json).map(([name, value]) => [name.toLowerCase(), string(value)]));
		for (const value of Object.values(headers)) if (value.length > 20) tools.hold(value);
		const answer = await askSecurely(tools, { url: string(source.url), headers });
		if (answer.status !== 200) throw new CloudError(`the subject token of ${path} could not be had: ${refusalOf(answer)}`, isBusy(answer));
		text = answer.body;
	} else throw new CloudError(`${path} takes its token from a source that Bowline does not know; a file or an address works`);
	const token = format.type === "json" ? string(parsed(text, "the subject token")[string(format.subject_token_field_name)]) : text.trim();
	if (token === "") throw new CloudError(`the subject token of ${path} is empty`);
	tools.hold(token);
	return token;
}

async function impersonated(tools: CloudTools, url: string, token: string, path: string, delegates?: unknown): Promise<GoogleToken> {
	if (url === "") throw new CloudError(`${path} lacks service_account_impersonation_url`);
	const answer = await askSecurely(tools, {
		url,
		headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
		body: JSON.stringify({ scope: [scope], ...(Array.isArray(delegates) ? { delegates } : {}) }),
	});
	if (answer.status !== 200) throw new CloudError(`the service account of ${path} could not be impersonated: ${refusalOf(answer)}`, isBusy(answer));
	const { accessToken, expireTime } = parsed(answer.body, "the answer of Google");
	return held(tools, string(accessToken), Date.parse(string(expireTime)));
}

async function exchanged(tools: CloudTools, url: string, fields: Record<string, string>, path: string): Promise<GoogleToken> {
	const headers = { "content-type": "application/x-www-form-urlencoded" };
	const answer = await askSecurely(tools, { url, headers, body: new URLSearchParams(fields).toString() });
	if (answer.status !== 200) throw new CloudError(`Google refused the credentials of ${path}: ${refusalOf(answer)}`, isBusy(answer));
	const { access_token, expires_in } = parsed(answer.body, "the answer of Google");
	return held(tools, string(access_token), tools.now() + Number(expires_in ?? 3600) * 1000);
}

function held(tools: CloudTools, token: string, expiresAt: number): GoogleToken {
	if (token === "") throw new CloudError("Google sent no token");
	tools.hold(token);
	return { token, expiresAt: Number.isNaN(expiresAt) ? tools.now() : expiresAt };
}

// ── This machine ───────────────────────────────────────────────────────────────────────────────────────

async function fromMetadata(tools: CloudTools): Promise<GoogleToken | undefined> {
	const said = await metadata(tools, "instance/service-accounts/default/token");
	if (said === undefined) return undefined;
	const { access_token, expires_in } = parsed(said, "the answer of the metadata server");
	const project = await metadata(tools, "project/project-id");
	return { ...held(tools, string(access_token), tools.now() + Number(expires_in ?? 0) * 1000), ...(project ? { project: project.trim() } : {}) };
}

/** Nothing when this machine has no such server. */
async function metadata({ env, direct, signal }: CloudTools, path: string): Promise<string | undefined> {
	if (env.NO_GCE_CHECK?.toLowerCase() === "true" || env.METADATA_SERVER_DETECTION === "none") return undefined;
	const host = env.GCE_METADATA_HOST || env.GCE_METADATA_IP || "169.254.169.254";
	const url = `${host.includes("://") ? host : `http://${host}`}/computeMetadata/v1/${path}`;
	try {
		const answer = await ask(direct, signal, { url, headers: { "metadata-flavor": "Google" }, timeoutMs: metadataPatienceMs });
		return answer.status === 200 ? answer.body : undefined;
	} catch (error) {
		if (error instanceof CloudError) return undefined; // Not a machine of Google's.
		throw error;
	}
}
