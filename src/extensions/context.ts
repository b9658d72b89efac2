/** What handlers get with their event: a view of the session, and the user. */
import type { CommandContext, CompactOptions, ExtensionContext } from "./api.ts";
import type { Link } from "./link.ts";
import { modelRegistry } from "./model-registry.ts";
import { sessionManager } from "./session-view.ts";
import { type DialogCall, uiUntil } from "./ui.ts";

export function contextOf(link: Link, path: string, signal: AbortSignal, call?: DialogCall): ExtensionContext {
	const actions = link.actionsFor("Handling an event");
	const onUnknown = (member: string) => link.warnOnce(`Extension ${path} uses ui.${member}, which has no effect here.`);
	return {
		ui: uiUntil(actions.ui, signal, { onUnknown, asking: actions.hasUI ? link.asking : undefined }, call),
		hasUI: actions.hasUI,
		cwd: actions.cwd,
		signal,
		sessionManager: sessionManager(() => actions.sessionView()),
		mode: actions.mode,
		modelRegistry: modelRegistry(link, signal),
		get model() {
			return actions.model;
		},
		get thinkingLevel() {
			return actions.getThinkingLevel();
		},
		get scopedModels() {
			return actions.models.scoped.map(({ model, level }) => ({ model, ...(level && { thinkingLevel: level }) }));
		},
		isProjectTrusted: () => actions.isProjectTrusted(),
		isIdle: () => actions.isIdle(),
		abort: () => link.actionsFor("abort").abort(),
		hasPendingMessages: () => actions.hasPendingMessages(),
		shutdown: () => link.actionsFor("shutdown").shutdown(),
		getContextUsage: () => actions.contextUsage(),
		compact: (options) => void compact(link, path, options),
		getSystemPrompt: () => actions.systemPrompt(),
	};
}

export function commandContextOf(link: Link, path: string, signal: AbortSignal): CommandContext {
	const actions = (what: string) => link.actionsFor(what);
	const fork = (entryId: string) => actions("fork").fork(entryId);
	// Copied by descriptor, so that getters stay getters and read the current value.
	return Object.defineProperties({} as CommandContext, {
		...Object.getOwnPropertyDescriptors(contextOf(link, path, signal)),
		...Object.getOwnPropertyDescriptors({
			waitForIdle: () => actions("waitForIdle").waitForIdle(),
			newSession: async (options: { parentSession?: string } = {}) => actions("newSession").newSession(options),
			fork: async (entryId: string) => fork(entryId),
			branch: async (entryId: string) => fork(entryId),
			switchSession: async (sessionPath: string) => actions("switchSession").switchSession(sessionPath),
			navigateTree: async (targetId: string, options = {}) => {
				const { navigateTree } = actions("navigateTree");
				if (!navigateTree) throw new Error("navigateTree is not supported");
				return navigateTree(targetId, options);
			},
			reload: async () => {
				const { reload } = actions("reload");
				if (!reload) throw new Error("reload is not supported");
				return reload();
			},
		} satisfies Omit<CommandContext, keyof ExtensionContext>),
	});
}

/** No caller awaits it, so failures must be reported here. */
async function compact(link: Link, path: string, options: CompactOptions = {}): Promise<void> {
	try {
		const result = await link.actionsFor("compact").compact(options.customInstructions);
		options.onComplete?.(result);
	} catch (error) {
		try {
			if (!options.onError) throw error;
			options.onError(error instanceof Error ? error : new Error(String(error)));
		} catch (unhandled) {
			link.report(path, "compact", unhandled);
		}
	}
}
