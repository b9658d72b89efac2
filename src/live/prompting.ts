/** The files that people write for the agent: context, skills, templates, system prompt. Loaded with the first run or question about them. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Tool } from "../agent/tool.ts";
import { remembered } from "../lib/remembered.ts";
import type { Resources, SlashCommand } from "../prompting/index.ts";
import type { Package } from "./packages.ts";
import type { Workspace } from "./workspace.ts";

/** Further places of skills and templates, as extensions name them. */
export interface MoreResources {
	skillPaths: string[];
	promptPaths: string[];
}

export class Prompting {
	#workspace: Workspace;
	#warn: (text: string) => void;
	#findMore: (() => Promise<MoreResources>) | undefined;
	#resources: Promise<Resources> | undefined;
	/** What the flags say, read once: the prompt must not change in the middle of a session. */
	#custom: string | undefined;
	#appended: string[] | undefined;

	/** Throws when a file that is named as a prompt cannot be read. */
	constructor(workspace: Workspace, warn: (text: string) => void) {
		this.#workspace = workspace;
		this.#warn = warn;
		const { options, cwd } = workspace;
		const { "system-prompt": custom, "append-system-prompt": appended } = options;
		this.#custom = custom === undefined ? undefined : textOrFile(custom, cwd);
		this.#appended = appended?.map((value) => textOrFile(value, cwd));
	}

	/** Looks in further places from now on. */
	lookIn(findMore: (() => Promise<MoreResources>) | undefined): void {
		this.#findMore = findMore;
	}

	resources(): Promise<Resources> {
		this.#resources ??= remembered(this.#load(), () => {
			this.#resources = undefined;
		});
		return this.#resources;
	}

	/** The next access reads the resources again. */
	forget(): void {
		this.#resources = undefined;
	}

	async systemPrompt(tools: readonly Tool[]): Promise<string> {
		const { cwd, sandbox } = this.#workspace;
		const [{ systemPrompt }, resources] = await Promise.all([import("../prompting/index.ts"), this.resources()]);
		const { systemFile, appendFiles, contextFiles, skills, rules } = resources;
		return systemPrompt({
			tools,
			cwd,
			custom: this.#custom ?? systemFile?.content,
			appended: this.#appended ?? appendFiles.map((file) => file.content),
			docsDirectory: docsDirectory(),
			contextFiles,
			skills,
			rules,
			...(sandbox?.state.active && { sandbox: sandbox.description }),
		});
	}

	/** Expands a prompt. Only a text that starts with a slash can be expanded. */
	async expand(text: string): Promise<string> {
		const [{ expandPrompt }, resources] = await Promise.all([import("../prompting/index.ts"), this.resources()]);
		return expandPrompt(text, resources, { enableSkillCommands: this.#workspace.settings.get("enableSkillCommands") });
	}

	async commands(): Promise<SlashCommand[]> {
		const [{ listCommands }, resources] = await Promise.all([import("../prompting/index.ts"), this.resources()]);
		return listCommands(resources, { enableSkillCommands: this.#workspace.settings.get("enableSkillCommands") });
	}

	async #load(): Promise<Resources> {
		const { options, settings, cwd, userDirectory, env } = this.#workspace;
		const [{ loadResources }, packages, more] = await Promise.all([import("../prompting/index.ts"), this.#packages(), this.#findMore?.()]);
		const resources = await loadResources({
			cwd,
			userDirectory: options.hermetic ? undefined : userDirectory,
			projectDirectory: settings.projectDirectory,
			homeDirectory: env.HOME,
			isTrusted: settings.isTrusted,
			skillPaths: more ? [...(options.skill ?? []), ...more.skillPaths] : options.skill,
			promptPaths: options["prompt-template"],
			settingsSkillPaths: settings.get("skills"),
			settingsPromptPaths: [...settings.get("prompts"), ...(more?.promptPaths ?? [])],
			settingsScopes: { skills: settings.scope("skills"), prompts: settings.scope("prompts"), packages: settings.scope("packages") },
			packages,
			noSkills: options["no-skills"],
			noPrompts: options["no-prompt-templates"],
			noRules: options["no-rules"],
			noContextFiles: options["no-context-files"],
		});
		resources.warnings.forEach(this.#warn);
		return resources;
	}

	async #packages(): Promise<Package[]> {
		const { options, settings } = this.#workspace;
		const directories = settings.get("packages");
		if (directories.length === 0) return [];
		const { packages, problems } = (await import("./packages.ts")).readPackages(directories);
		// Where extensions are loaded, they have been reported already.
		if (options["no-extensions"]) for (const { directory, problem } of problems) this.#warn(`Package ${directory} is not used: ${problem}.`);
		return packages;
	}
}

/** A flag's value: text, or the name of a file that contains it. */
function textOrFile(value: string, cwd: string): string {
	if (value.length >= 4096) return value;
	const path = resolve(cwd, value);
	// A text may be longer than any name: then there is no such file, and looking closer would throw.
	if (!existsSync(path) || !statSync(path).isFile()) return value;
	try {
		return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
	} catch (error) {
		throw new Error(`The prompt file ${value} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
	}
}

let docs: { directory: string | undefined } | undefined;

/** Our own documentation, which is next to the program. It does not move while we run, and every prompt names it. */
export function docsDirectory(): string | undefined {
	if (docs === undefined) {
		const directory = join(import.meta.dirname, "..", "docs");
		docs = { directory: existsSync(join(directory, "protocol.md")) ? directory : undefined };
	}
	return docs.directory;
}
