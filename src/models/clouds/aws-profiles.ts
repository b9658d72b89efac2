/** The files that the AWS command line tools share: `~/.aws/config` and `~/.aws/credentials`. */
import { readFile } from "node:fs/promises";
import type { Environment } from "../routes.ts";
import { CloudError } from "./cloud.ts";
import { awsPaths } from "./places.ts";

export type Section = Readonly<Record<string, string>>;

export interface AwsFiles {
	/** Profiles of both files; what the credentials file says wins. */
	profiles: Map<string, Section>;
	ssoSessions: Map<string, Section>;
}

/** The profile in use, and whether the user named it. */
export function profileName(env: Environment): { name: string; isNamed: boolean } {
	const name = env.AWS_PROFILE || env.AWS_DEFAULT_PROFILE;
	return name ? { name, isNamed: true } : { name: "default", isNamed: false };
}

export async function readAwsFiles(env: Environment): Promise<AwsFiles> {
	const paths = awsPaths(env);
	const [config, credentials] = await Promise.all([sectionsAt(paths.config), sectionsAt(paths.credentials)]);
	const profiles = new Map<string, Section>();
	const ssoSessions = new Map<string, Section>();
	for (const [title, section] of config) {
		const [, kind, name] = /^(profile|sso-session)\s+(.+)$/.exec(title) ?? [];
		if (kind === "sso-session") ssoSessions.set(name as string, section);
		else if (kind === "profile" || title === "default") profiles.set(name ?? title, section);
	}
	for (const [title, section] of credentials) profiles.set(title, { ...profiles.get(title), ...section });
	return { profiles, ssoSessions };
}

async function sectionsAt(path: string | undefined): Promise<Map<string, Section>> {
	if (path === undefined) return new Map();
	try {
		return parseIni(await readFile(path, "utf8"));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return new Map();
		throw new CloudError(`${path} could not be read: ${(error as Error).message}`);
	}
}

/** `[title]`, `key = value`, comments. Settings nested under another one begin with a space and are skipped. */
export function parseIni(text: string): Map<string, Section> {
	const sections = new Map<string, Record<string, string>>();
	let current: Record<string, string> | undefined;
	for (const line of text.split(/\r?\n/)) {
		if (/^\s*(?:[#;]|$)/.test(line) || /^\s/.test(line)) continue;
		const title = /^\[\s*([^\]]*?)\s*\]/.exec(line)?.[1];
		if (title !== undefined) {
			const name = title.replace(/\s+/g, " ").replaceAll('"', "");
			current = sections.get(name) ?? {};
			sections.set(name, current);
			continue;
		}
		const pair = /^([^=]+?)\s*=\s*(.*?)\s*$/.exec(line);
		if (pair && current) current[(pair[1] as string).toLowerCase()] = (pair[2] as string).replace(/\s+[#;].*$/, "");
	}
	return sections;
}
