/** The stream rules of a process: read together with the other resources, and informed which of them the session has used. */
import type { StreamRules } from "../policies/stream-rules/index.ts";
import type { Resources } from "../prompting/index.ts";
import type { SettingsView } from "../settings/settings.ts";

export interface RuleParts {
	resources: () => Promise<Resources>;
	/** The rules that the current conversation already contains. */
	used: () => string[];
	settings: SettingsView;
	warn: (text: string) => void;
}

/** Returns the rules to watch with; nothing when there are none. */
export function ruleLoader({ resources, used, settings, warn }: RuleParts): () => Promise<StreamRules | undefined> {
	let known: Resources | undefined;
	let rules: StreamRules | undefined;
	const read = async (files: Resources["rules"]) => {
		const { streamRules } = await import("../policies/stream-rules/index.ts");
		const made = streamRules({
			rules: files,
			settings: {
				enabled: settings.get("ttsr.enabled"),
				interruptMode: settings.get("ttsr.interruptMode"),
				repeatMode: settings.get("ttsr.repeatMode"),
				repeatGap: settings.get("ttsr.repeatGap"),
			},
			warn,
		});
		return made.isEmpty ? undefined : made;
	};
	return async () => {
		const current = await resources();
		if (current !== known) rules = current.rules.length === 0 ? undefined : await read(current.rules);
		known = current;
		rules?.restore(used());
		return rules;
	};
}
