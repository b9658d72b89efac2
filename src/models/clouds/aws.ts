/** Amazon Bedrock: in which region it is asked, at which address, and who signs the request. */
import { type AwsCredentials, awsCredentials, endpointOf, instanceRegion } from "./aws-credentials.ts";
import { profileName, readAwsFiles } from "./aws-profiles.ts";
import { CloudError, type CloudTools, Renewed } from "./cloud.ts";
import type { CloudAccess, CloudRequest, Refusal } from "./index.ts";
import { signed } from "./sigv4.ts";

/** Clocks that differ by more than this make signatures void. */
const allowedSkewMs = 4 * 60_000;

export class Aws {
	#tools: CloudTools;
	#region: string | undefined;
	/** The region asked last, whose token service roles are assumed at. */
	#lastRegion = "us-east-1";
	#credentials: Renewed<AwsCredentials>;
	/** How far Amazon's clock is ahead of ours. */
	#skewMs = 0;

	constructor(tools: CloudTools) {
		this.#tools = tools;
		const own = { ...tools, now: () => this.#now() };
		this.#credentials = new Renewed(
			() => awsCredentials(own, this.#lastRegion),
			() => this.#now(),
		);
	}

	async access({ id, baseUrl, isDefaultUrl, key, signal }: CloudRequest): Promise<CloudAccess> {
		const region = await this.#regionOf(id);
		const isFips = this.#tools.env.AWS_USE_FIPS_ENDPOINT?.toLowerCase() === "true";
		const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
		const own = `https://bedrock-runtime${isFips ? "-fips" : ""}.${region}.${suffix}`;
		const url = isDefaultUrl ? endpointOf(this.#tools, "BEDROCK_RUNTIME", own) : baseUrl;
		if (key !== undefined) return { baseUrl: url, headers: { authorization: `Bearer ${key}` } };
		this.#lastRegion = region;
		const keys = await this.#credentials.get(signal);
		return {
			baseUrl: url,
			headers: {},
			sign: (request) => signed(request, { keys, region, service: "bedrock", now: this.#now() }),
			renew: (refusal) => this.#renew(keys, refusal),
		};
	}

	#now(): number {
		return this.#tools.now() + this.#skewMs;
	}

	/** Whether a second try may go better: with new credentials, or with a clock that was set right. */
	#renew(keys: AwsCredentials, { status, headers, body }: Refusal): boolean {
		if (status !== 403 && status !== 401 && status !== 400) return false;
		const said = `${headers["x-amzn-errortype"] ?? ""} ${body}`;
		const server = Date.parse(String(headers.date ?? ""));
		const skew = server - this.#tools.now();
		if (
			/InvalidSignature|RequestExpired|Signature (?:expired|not yet)|RequestTimeTooSkewed/i.test(said) &&
			Math.abs(skew - this.#skewMs) > allowedSkewMs
		) {
			this.#skewMs = skew;
			return true;
		}
		return /expired/i.test(said) && this.#credentials.drop(keys);
	}

	/** The region that an ARN names, else the environment's, else the profile's, else that of the machine we run on. */
	async #regionOf(id: string): Promise<string> {
		const named = /^arn:[^:]*:bedrock:([a-z0-9-]+):/.exec(id)?.[1];
		if (named) return named;
		this.#region ??= await this.#findRegion();
		return this.#region;
	}

	async #findRegion(): Promise<string> {
		const { env } = this.#tools;
		const given = env.AWS_REGION || env.AWS_DEFAULT_REGION;
		if (given) return given;
		const { name } = profileName(env);
		const region = (await readAwsFiles(env)).profiles.get(name)?.region;
		if (region) return region;
		// A key or a profile says nothing of the machine; without both, the machine itself may be Amazon's.
		const isElsewhere = env.AWS_BEARER_TOKEN_BEDROCK || env.AWS_ACCESS_KEY_ID || env.AWS_PROFILE;
		const found = isElsewhere ? undefined : await instanceRegion(this.#tools);
		if (found) return found;
		throw new CloudError(`no region is known. Set AWS_REGION, or region in the profile ${name}`);
	}
}
