/** Clouds offer models of other vendors under ids of their own. From such an id: which API it speaks, and whose facts hold for it. Pure. */
import type { ApiName } from "../routes.ts";

export interface Kin {
	api?: ApiName;
	/** Ids to look for, in sections of the catalogue; the first that is there is the same model. */
	same: readonly { provider: string; id: string }[];
	/** Factor on the price that the section states. */
	priceFactor: number;
}

const none: Kin = { same: [], priceFactor: 1 };
/** A request that must stay in one part of the world costs a tenth more, from Claude 4.5 on. */
const regionalFactor = 1.1;

export function kinOf(provider: string, id: string): Kin {
	if (provider === "amazon-bedrock") return ofBedrock(id);
	if (provider === "azure") return { same: [{ provider: "openai", id }], priceFactor: 1 };
	if (provider === "google-vertex" && /^claude-/.test(id))
		return { api: "anthropic-vertex", same: ofClaude(id.replace(/@default$/, "").replace("@", "-")), priceFactor: 1 };
	if (provider === "google-vertex") return { same: [{ provider: "google", id }], priceFactor: 1 };
	return none;
}

/** `arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-5-20251101-v1:0` is `claude-opus-4-5` as well. */
function ofBedrock(id: string): Kin {
	const name = /^arn:[^/]*\/(.+)$/.exec(id)?.[1] ?? id;
	const [, area = "", rest = name] = /^(us-gov|us|eu|apac|ap|jp|au|ca|in|sa|me|global)\.(.+)$/.exec(name) ?? [];
	const others = ["global.", "us.", "eu.", ""].map((prefix) => ({ provider: "amazon-bedrock", id: `${prefix}${rest}` }));
	const claude = /^anthropic\.(claude-.+)$/.exec(rest)?.[1];
	const gpt = /^openai\.(gpt-(?!oss).+)$/.exec(rest)?.[1];
	if (gpt !== undefined) return { same: [...others, { provider: "openai", id: gpt }], priceFactor: 1 };
	if (claude === undefined) return { same: others, priceFactor: 1 };
	const isRegional = area !== "" && area !== "global" && !/claude-(?:3|opus-4-1|opus-4-2|sonnet-4-2)/.test(claude);
	return { same: ofClaude(claude.replace(/-v\d+(?::\d+)?(?::\d+k)?$/, "")), priceFactor: isRegional ? regionalFactor : 1 };
}

function ofClaude(id: string): { provider: string; id: string }[] {
	return [id, id.replace(/-20\d{6}$/, "")].map((name) => ({ provider: "anthropic", id: name }));
}
