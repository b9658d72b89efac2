/**
 * The browser page as files: what the server answers at `/` and `/assets/<name>`. Loaded with the first request for one of them.
 * The contract with the build: `dist/page/` has `index.html`, and in `assets/` files whose names contain a hash of their content
 * (`page-<hash>.js`, `page-<hash>.css`), each with a copy `<name>.gz`. The shell refers to them by these paths.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Asset {
	type: string;
	body: Buffer;
	/** The same, compressed when the program was built. */
	gzip: Buffer | undefined;
}

const types: Readonly<Record<string, string>> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
};

/** Built, they are next to the program; in a checkout they are in `dist`. */
const places = ["page", "../../dist/page"];

export class PageAssets {
	#files = new Map<string, Asset>();

	constructor(directory = places.map((place) => join(import.meta.dirname, place)).find((path) => existsSync(join(path, "index.html")))) {
		if (directory === undefined) return;
		this.#read(join(directory, "index.html"), "index.html");
		const assets = join(directory, "assets");
		if (existsSync(assets)) for (const name of readdirSync(assets)) if (!name.endsWith(".gz")) this.#read(join(assets, name), name);
	}

	/** Nothing when the page was not built. */
	get shell(): Asset | undefined {
		return this.#files.get("index.html");
	}

	/** By its name, from a list: a name is never a path. */
	asset(name: string): Asset | undefined {
		return name === "index.html" ? undefined : this.#files.get(name);
	}

	#read(path: string, name: string): void {
		const type = types[name.split(".").at(-1) ?? ""];
		if (type === undefined || !existsSync(path)) return;
		this.#files.set(name, { type, body: readFileSync(path), gzip: existsSync(`${path}.gz`) ? readFileSync(`${path}.gz`) : undefined });
	}
}

/** Nothing is loaded from elsewhere, nothing inline runs, and no string becomes markup. */
export const pagePolicy =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
