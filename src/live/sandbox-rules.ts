/** Rules of permissions about paths, as the sandbox needs them. Loaded with the sandbox. */
import { realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isLiteralGlob, pathPattern, realSpellings } from "../lib/path-pattern.ts";
import { ruledAccess } from "../permissions/index.ts";
import type { PermissionRule } from "../protocol/permissions.ts";
import type { PathRule } from "../sandbox/index.ts";

/** A rule that denies or asks holds for commands inside, where nothing can be asked about. */
export function pathRules(rules: readonly PermissionRule[], given: { cwd: string; home: string | undefined }): PathRule[] {
	const places = { cwd: real(given.cwd), home: given.home === undefined ? undefined : real(given.home) };
	return rules.flatMap(({ action, tool, path }) => {
		if (path === undefined || action === "allow") return [];
		return realSpellings(path, places).flatMap((pattern) => {
			const { covers } = pathPattern(pattern, places);
			const literal = literalOf(pattern, places);
			return ruledAccess(tool ?? "*").map((denies): PathRule => ({ denies, covers, ...(literal !== undefined && { literal }) }));
		});
	});
}

/** The one path that a pattern names; nothing for a glob, and for a name at any depth. */
function literalOf(pattern: string, { cwd, home }: { cwd: string; home: string | undefined }): string | undefined {
	if (!pattern.includes("/") || !isLiteralGlob(pattern)) return undefined;
	const path = pattern.replace(/\/+$/, "");
	if (path.startsWith("~/")) return home === undefined ? undefined : join(home, path.slice(2));
	return isAbsolute(path) ? path : join(cwd, path);
}

function real(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}
