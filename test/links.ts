/** Finds links between Markdown pages that lead nowhere: to a file that is missing, or to a heading that the page does not have. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, normalize } from "node:path";

const withoutCode = (text: string) => text.replace(/^```.*?^```/gms, "");

/** The anchors that hosts of repositories give to headings. */
function anchors(text: string): Set<string> {
	const found = new Set<string>();
	for (const [, heading = ""] of withoutCode(text).matchAll(/^#+ (.+)$/gm)) {
		const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
		const anchor = plain.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
		let name = anchor;
		for (let again = 1; found.has(name); again++) name = `${anchor}-${again}`;
		found.add(name);
	}
	return found;
}

/** Every Markdown page below the folder that is not in a package or in a test. */
function pagesIn(root: string, folder = ""): string[] {
	return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) return /^(node_modules|test|dist|\..*)$/.test(entry.name) ? [] : pagesIn(root, path);
		return entry.name.endsWith(".md") ? [path] : [];
	});
}

export function brokenLinks(root: string): string[] {
	const known = new Map<string, Set<string>>();
	const anchorsOf = (path: string) => {
		const found = known.get(path) ?? anchors(readFileSync(join(root, path), "utf8"));
		known.set(path, found);
		return found;
	};
	return pagesIn(root).flatMap((page) => {
		const links = withoutCode(readFileSync(join(root, page), "utf8"))
			.replace(/`[^`\n]*`/g, "")
			.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)]*))?\)/g);
		return [...links].flatMap(([, target = "", anchor]) => {
			const path = target ? normalize(join(page, "..", target)) : page;
			const place = `${page}: ${target}${anchor ? `#${anchor}` : ""}`;
			if (path.startsWith("..") || !existsSync(join(root, path))) return [place];
			if (anchor === undefined || statSync(join(root, path)).isDirectory()) return [];
			return anchorsOf(path).has(anchor) ? [] : [place];
		});
	});
}
