/** Providers that take more than a key: an address that depends on a region or project, tokens that expire, signed requests. */
import { HttpClient } from "../../lib/http/client.ts";
import type { Auth, Cloud } from "../routes.ts";
import { Aws } from "./aws.ts";
import { Azure } from "./azure.ts";
import { CloudError, type CloudTools } from "./cloud.ts";
import { Google } from "./google.ts";
import type { ToSign } from "./sigv4.ts";

export interface CloudRequest {
	api: string;
	/** The id that goes over the wire. */
	id: string;
	baseUrl: string;
	/** The user named no address. */
	isDefaultUrl: boolean;
	/** A key that the user gave; without one the cloud's own ways are tried. */
	key?: string;
	auth?: Auth;
	signal: AbortSignal;
}

export interface Refusal {
	status: number;
	headers: Readonly<Record<string, string | string[] | undefined>>;
	body: string;
}

export interface CloudAccess {
	baseUrl: string;
	headers: Record<string, string>;
	/** Returns all headers of a request, with its signature. */
	sign?: (request: ToSign) => Record<string, string>;
	/** The provider refused. Answers whether new credentials may help. */
	renew?: (refusal: Refusal) => boolean;
}

export interface CloudProblem {
	problem: string;
	isTransient: boolean;
}

/** Holds what was found, until it expires. Made once per process, when a cloud is first asked. */
export class Clouds {
	#tools: CloudTools;
	#made = new Map<Cloud, Aws | Google | Azure>();

	constructor(tools: Omit<CloudTools, "direct">) {
		this.#tools = { ...tools, direct: new HttpClient({ env: {} }) };
	}

	async access(cloud: Cloud, request: CloudRequest): Promise<CloudAccess | CloudProblem> {
		try {
			return await this.#of(cloud).access(request);
		} catch (error) {
			if (error instanceof CloudError) return { problem: error.message, isTransient: error.isTransient };
			throw error;
		}
	}

	close(): Promise<void> {
		return this.#tools.direct.close();
	}

	#of(cloud: Cloud): Aws | Google | Azure {
		const known = this.#made.get(cloud);
		if (known) return known;
		const made = cloud === "aws" ? new Aws(this.#tools) : cloud === "google" ? new Google(this.#tools) : new Azure(this.#tools);
		this.#made.set(cloud, made);
		return made;
	}
}
