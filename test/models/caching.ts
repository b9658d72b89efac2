/** A provider that keeps the beginnings of requests as Anthropic does: up to the marks, in the order tools, system prompt, messages. */
import { type Answer, stream } from "./loopback.ts";
import { type Reply, spoken } from "./wire.ts";

type Part = Record<string, unknown>;
interface Body {
	tools?: Part[];
	system?: Part[];
	thinking?: unknown;
	output_config?: unknown;
	messages: { role: string; content: Part[] | string }[];
}

const charactersPerToken = 4;
const smallest = 1024;

/** Answers with what `reply` says to a request, and counts its tokens. `forget` makes the provider lose everything. */
export function cachingProvider(reply: (body: Body) => Reply): { answer: Answer; forget(): void } {
	const kept = new Set<string>();
	return {
		forget: () => kept.clear(),
		answer: (response, received) => {
			const body = JSON.parse(received.body) as Body;
			const { total, marks, beginnings } = partsOf(body);
			const read = tokensOf(beginnings.findLast((beginning) => kept.has(beginning)) ?? "");
			const marked = marks.filter((beginning) => tokensOf(beginning) >= smallest);
			for (const beginning of marked) kept.add(beginning);
			const written = Math.max(read, ...marked.map(tokensOf)) - read;
			const cached = { cacheReadTokens: read, cacheWriteTokens: written };
			const said = spoken("anthropic", { ...reply(body), inputTokens: tokensOf(total) - read - written, ...cached });
			return stream(Buffer.from(said))(response, received);
		},
	};
}

const tokensOf = (text: string) => Math.ceil(text.length / charactersPerToken);

/** Other words about thinking void the messages. */
function partsOf({ tools = [], system = [], thinking, output_config: effort, messages }: Body): {
	total: string;
	marks: string[];
	beginnings: string[];
} {
	const blocks = messages.flatMap(({ role, content }) =>
		typeof content === "string" ? [{ role, content }] : content.map((block) => ({ role, ...block })),
	);
	let total = "";
	const marks: string[] = [];
	const beginnings: string[] = [];
	for (const part of [...tools, ...system, { thinking, effort }, ...blocks] as Part[]) {
		const { cache_control: mark, ...rest } = part;
		total += JSON.stringify(rest);
		beginnings.push(total);
		if (mark) marks.push(total);
	}
	return { total, marks, beginnings };
}
