/** Google Vertex: whose project is asked, where, and with which token. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../routes.ts";
import { parseIni } from "./aws-profiles.ts";
import { CloudError, type CloudTools, Renewed } from "./cloud.ts";
import { type GoogleToken, googleToken } from "./google-credentials.ts";
import type { CloudAccess, CloudRequest, Refusal } from "./index.ts";
import { gcloudDirectory, projectIn } from "./places.ts";

export class Google {
	#tools: CloudTools;
	#token: Renewed<GoogleToken>;

	constructor(tools: CloudTools) {
		this.#tools = tools;
		this.#token = new Renewed(() => googleToken(tools), tools.now);
	}

	async access({ api, baseUrl, isDefaultUrl, key, signal }: CloudRequest): Promise<CloudAccess> {
		const { env } = this.#tools;
		const publisher = api === "anthropic-vertex" ? "anthropic" : "google";
		const location = locationOf(env);
		const root = isDefaultUrl ? hostOf(location) : baseUrl;
		// A key belongs to a project already.
		if (key !== undefined) return { baseUrl: addressOf(isDefaultUrl ? hostOf("global") : root, "", publisher), headers: { "x-goog-api-key": key } };
		const token = await this.#token.get(signal);
		const project = projectIn(env) || token.project || (await gcloudProject(env));
		if (!project) throw new CloudError("no project is known. Set GOOGLE_CLOUD_PROJECT");
		const payer = env.GOOGLE_CLOUD_QUOTA_PROJECT || token.quotaProject;
		return {
			baseUrl: addressOf(root, `/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`, publisher),
			headers: { authorization: `Bearer ${token.token}`, ...(payer ? { "x-goog-user-project": payer } : {}) },
			renew: ({ status }: Refusal) => status === 401 && this.#token.drop(token),
		};
	}
}

export const locationOf = (env: Environment) => env.GOOGLE_CLOUD_LOCATION || env.GOOGLE_CLOUD_REGION || env.CLOUD_ML_REGION || "global";

/** The host that serves a location: one region, a group of regions, or all of them. */
export function hostOf(location: string): string {
	if (location === "global") return "https://aiplatform.googleapis.com";
	if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
	return `https://${location}-aiplatform.googleapis.com`;
}

/** An address up to the models of a publisher. One that names a publisher already is complete but for which of them. */
export function addressOf(root: string, place: string, publisher: string): string {
	const base = root.replace(/\/+$/, "");
	if (/\/publishers\/[^/]+/.test(base)) return base.replace(/\/publishers\/[^/]+/, `/publishers/${publisher}`);
	const versioned = /\/v1(?:beta1)?(?:\/|$)/.test(base) ? base : `${base}/v1`;
	return `${versioned}${/\/projects\//.test(versioned) ? "" : place}/publishers/${publisher}`;
}

/** The project that `gcloud config set project` names. */
async function gcloudProject(env: Environment): Promise<string | undefined> {
	const directory = gcloudDirectory(env);
	if (!directory) return undefined;
	try {
		const active = env.CLOUDSDK_ACTIVE_CONFIG_NAME || (await readFile(join(directory, "active_config"), "utf8")).trim() || "default";
		return parseIni(await readFile(join(directory, "configurations", `config_${active}`), "utf8")).get("core")?.project;
	} catch {
		return undefined; // gcloud was never set up here.
	}
}
