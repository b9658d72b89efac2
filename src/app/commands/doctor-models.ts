/** Which providers can be asked, by whose key, and which model a session would start with. Never shows a key. */

import { Models } from "../../live/models.ts";
import type { Model } from "../../protocol/model.ts";
import type { Finding, Patient } from "./doctor.ts";

export async function models(patient: Patient): Promise<Finding[]> {
	const problems: string[] = [];
	const access = new Models(patient, {}, (problem) => problems.push(problem));
	try {
		const registry = await access.registry();
		const [available, local] = await Promise.all([registry.available(), registry.local()]);
		const findings: Finding[] = problems.map((text) => ({ state: "fail", text, remedy: "Repair the file; see docs/providers.md." }));
		for (const [provider, count] of byProvider(available)) {
			findings.push({ state: "ok", text: `${provider}: ${plural(count)} (${await registry.origin(provider)})` });
		}
		for (const [provider, file] of registry.hints()) {
			const text = `${provider}: not listed; ${file} may give access to it`;
			findings.push({ state: "note", text, remedy: `Name a model with --model ${provider}/<id>; see docs/providers.md for what else lists it.` });
		}
		for (const [provider, count] of byProvider(local))
			findings.push({ state: "ok", text: `${provider}: ${plural(count)} (a server on this machine)` });
		const script = access.startScript();
		const start = script ?? (access.mayHaveStart ? await access.start() : undefined);
		if (start) findings.push({ state: "ok", text: `a session starts with ${start.model.provider}/${start.model.id}` });
		else findings.push(nothingToStartWith(access.noModelText, local));
		return findings;
	} finally {
		await access.close();
	}
}

function nothingToStartWith(text: string, local: readonly Model[]): Finding {
	const [problem, ...remedy] = text.split(/(?<=\.) /);
	const [first] = local;
	if (first)
		return {
			state: "note",
			text: "a session starts with no model",
			remedy: `Pass --model ${first.provider}/${first.id}, or make it your defaultModel.`,
		};
	return { state: "fail", text: problem as string, remedy: remedy.join(" ") };
}

function byProvider(all: readonly Model[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const { provider } of all) counts.set(provider, (counts.get(provider) ?? 0) + 1);
	return counts;
}

const plural = (count: number) => (count === 1 ? "1 model" : `${count} models`);
