/** Azure OpenAI without a key: a token of Entra ID, from the first way to sign in that is set up. */
import { createHash, randomUUID, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolveValue } from "../values.ts";
import {
	type Answered,
	ask,
	askSecurely,
	CloudError,
	type CloudTools,
	type Expiring,
	isBusy,
	metadataPatienceMs,
	parsed,
	Renewed,
	refusalOf,
	string,
} from "./cloud.ts";
import type { CloudAccess, CloudRequest, Refusal } from "./index.ts";
import { signedJwt } from "./jwt.ts";

interface EntraToken extends Expiring {
	token: string;
}

/** What a token is for, and who issues it. The clouds of governments have their own. */
interface Realm {
	resource: string;
	authority: string;
}

const cliLimitMs = 30_000;

export class Azure {
	#tools: CloudTools;
	#tokens = new Map<string, Renewed<EntraToken>>();

	constructor(tools: CloudTools) {
		this.#tools = tools;
	}

	async access({ baseUrl, key, auth, signal }: CloudRequest): Promise<CloudAccess> {
		if (key !== undefined) return { baseUrl, headers: auth === "bearer" ? { authorization: `Bearer ${key}` } : { "api-key": key } };
		const realm = realmOf(baseUrl, this.#tools.env.AZURE_AUTHORITY_HOST);
		let tokens = this.#tokens.get(realm.resource);
		if (!tokens) {
			tokens = new Renewed(() => entraToken(this.#tools, realm), this.#tools.now);
			this.#tokens.set(realm.resource, tokens);
		}
		const token = await tokens.get(signal);
		const renewed = tokens;
		return {
			baseUrl,
			headers: { authorization: `Bearer ${token.token}` },
			renew: ({ status }: Refusal) => status === 401 && renewed.drop(token),
		};
	}
}

function realmOf(baseUrl: string, given: string | undefined): Realm {
	const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
	const [zone, authority] = host.endsWith(".azure.us")
		? ["us", "https://login.microsoftonline.us"]
		: host.endsWith(".azure.cn")
			? ["cn", "https://login.chinacloudapi.cn"]
			: ["com", "https://login.microsoftonline.com"];
	const own = given && !given.includes("://") ? `https://${given}` : given;
	return { resource: `https://cognitiveservices.azure.${zone}`, authority: (own || authority).replace(/\/+$/, "") };
}

async function entraToken(tools: CloudTools, realm: Realm): Promise<EntraToken> {
	const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client, AZURE_CLIENT_SECRET: secret } = tools.env;
	const { AZURE_CLIENT_CERTIFICATE_PATH: certificate, AZURE_FEDERATED_TOKEN_FILE: federated } = tools.env;
	if (tenant && client) {
		const url = `${realm.authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
		if (secret) return signedIn(tools, realm, url, { client_id: client, client_secret: secret });
		const assertion = certificate ? await certified(tools, certificate, client, url) : federated ? await contentOf(federated) : undefined;
		if (assertion) {
			tools.hold(assertion);
			const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
			return signedIn(tools, realm, url, { client_id: client, client_assertion_type, client_assertion: assertion });
		}
	}
	return (await ofManagedIdentity(tools, realm)) ?? ofCommandLine(tools, realm);
}

async function signedIn(tools: CloudTools, { resource }: Realm, url: string, fields: Record<string, string>): Promise<EntraToken> {
	const body = new URLSearchParams({ grant_type: "client_credentials", scope: `${resource}/.default`, ...fields }).toString();
	const answer = await askSecurely(tools, { url, headers: { "content-type": "application/x-www-form-urlencoded" }, body });
	if (answer.status !== 200) throw new CloudError(`Entra ID refused the application ${fields.client_id}: ${refusalOf(answer)}`, isBusy(answer));
	return read(tools, answer, "Entra ID");
}

/** A certificate and its private key in one PEM file. */
async function certified(tools: CloudTools, path: string, client: string, aud: string): Promise<string> {
	const pem = await contentOf(path);
	let certificate: X509Certificate;
	try {
		certificate = new X509Certificate(pem.slice(Math.max(0, pem.indexOf("-----BEGIN CERTIFICATE-----"))));
	} catch {
		throw new CloudError(`${path} holds no certificate in PEM format`);
	}
	const key = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[\s\S]*?-----END (?:[A-Z]+ )?PRIVATE KEY-----/.exec(pem)?.[0];
	if (key) tools.hold(key);
	const now = Math.floor(tools.now() / 1000);
	const claims = { aud, iss: client, sub: client, jti: randomUUID(), nbf: now, exp: now + 600 };
	return signedJwt({ x5t: createHash("sha1").update(certificate.raw).digest("base64url") }, claims, key ?? "", path);
}

/** App Service and Functions name an address in the environment; virtual machines have a metadata server. Nothing without either. */
async function ofManagedIdentity(tools: CloudTools, { resource }: Realm): Promise<EntraToken | undefined> {
	const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header, AZURE_CLIENT_ID, AZURE_POD_IDENTITY_AUTHORITY_HOST: host } = tools.env;
	const query = new URLSearchParams({ resource, ...(AZURE_CLIENT_ID ? { client_id: AZURE_CLIENT_ID } : {}) });
	if (endpoint && header) {
		tools.hold(header);
		const answer = await ask(tools.direct, tools.signal, {
			url: `${endpoint}?api-version=2019-08-01&${query}`,
			headers: { "x-identity-header": header },
		});
		if (answer.status !== 200) throw new CloudError(`the managed identity gave no token: ${refusalOf(answer)}`, isBusy(answer));
		return read(tools, answer, "the managed identity");
	}
	const url = `${(host || "http://169.254.169.254").replace(/\/+$/, "")}/metadata/identity/oauth2/token?api-version=2018-02-01&${query}`;
	let answer: Answered;
	try {
		answer = await ask(tools.direct, tools.signal, { url, headers: { metadata: "true" }, timeoutMs: metadataPatienceMs });
	} catch (error) {
		if (error instanceof CloudError) return undefined; // Not a machine of Azure's.
		throw error;
	}
	return answer.status === 200 ? read(tools, answer, "the managed identity") : undefined;
}

/** The last resort: the account that is signed in to the Azure command line. */
async function ofCommandLine(tools: CloudTools, { resource }: Realm): Promise<EntraToken> {
	const tenant = tools.env.AZURE_TENANT_ID;
	const isPlain = tenant === undefined || /^[\w.-]+$/.test(tenant);
	const command = `az account get-access-token --output json --resource ${resource}${tenant && isPlain ? ` --tenant ${tenant}` : ""}`;
	let printed: string;
	try {
		printed = (await resolveValue(`!${command}`, tools.env, tools.signal, cliLimitMs)) ?? "";
	} catch (error) {
		throw new CloudError(
			`no Entra ID credentials found. Set AZURE_OPENAI_API_KEY, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or run \`az login\` (az: ${(error as Error).message})`,
		);
	}
	const said = parsed(printed, "the output of az");
	const expiresAt = Number(said.expires_on) * 1000 || Date.parse(string(said.expiresOn));
	return held(tools, string(said.accessToken), expiresAt, "az");
}

function read(tools: CloudTools, { body }: Answered, who: string): EntraToken {
	const { access_token, expires_in, expires_on } = parsed(body, `the answer of ${who}`);
	const expiresAt = expires_in === undefined ? Number(expires_on) * 1000 : tools.now() + Number(expires_in) * 1000;
	return held(tools, string(access_token), expiresAt, who);
}

function held(tools: CloudTools, token: string, expiresAt: number, who: string): EntraToken {
	if (token === "") throw new CloudError(`${who} sent no token`);
	tools.hold(token);
	return { token, expiresAt: Number.isNaN(expiresAt) ? tools.now() : expiresAt };
}

async function contentOf(path: string): Promise<string> {
	try {
		return (await readFile(path, "utf8")).trim();
	} catch (error) {
		throw new CloudError(`${path} could not be read: ${(error as Error).message}`);
	}
}
