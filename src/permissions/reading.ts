/** Where file tools read without a question in mode `edit`, as long as no sandbox decides about it. */
import { isBelow } from "./path-patterns.ts";

/** Real paths. */
export interface ReadingPlaces {
	home: string | undefined;
	/** Keys, tokens, histories and the like: asked about also where they are in the project. */
	secrets: readonly string[];
	/** Directories for temporary files. */
	temporary: readonly string[];
	/** Further places, as settings name them, wherever they are. */
	open: readonly string[];
}

const words = (text: string) => text.trim().split(/\s+/);

/** Programs, headers and libraries that the system and its package managers install. */
const installed = words(`
	/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store /snap /opt/homebrew /opt/local /opt/conda /opt/hostedtoolcache
	/System/Library /Library/Developer /Library/Frameworks /Applications
`);

/** In those: configuration and data of services. */
const kept = words("/usr/local/etc /usr/local/var /opt/homebrew/etc /opt/homebrew/var /opt/local/etc /opt/local/var");

/** Below the home directory: languages, and the sources of packages. */
const installedInHome = words(`
	.cargo/registry .cargo/git .rustup/toolchains go/pkg .nvm/versions .fnm/node-versions .local/share/fnm .volta/tools .nodenv/versions .bun/install
	.local/share/pnpm .cache/deno .pyenv/versions .local/lib .local/share/uv .conda/envs miniconda3 anaconda3 miniforge3 .rbenv/versions .gem/ruby
	.sdkman/candidates .m2/repository .gradle/caches .asdf/installs .local/share/mise/installs .ghcup .opam .julia/packages .nuget/packages
	.local/state/nix .nix-profile
`);

/** Whether a path holds credentials. A setting opens such a path by its own name, and not by a directory that it is in. */
export function isSecret({ secrets, open }: ReadingPlaces, path: string): boolean {
	const isOpened = (secret: string) => open.some((place) => isBelow(secret, place) && isBelow(place, path));
	return secrets.some((secret) => isBelow(secret, path) && !isOpened(secret));
}

/** Returns whether credentials are kept somewhere below a directory. */
export function holdsSecret({ secrets, open }: ReadingPlaces, directory: string): boolean {
	return secrets.some((secret) => isBelow(directory, secret) && !open.includes(secret));
}

/** Whether a path outside the project is one that ordinary work reads. */
export function isUsual({ home: named, temporary, open }: ReadingPlaces, path: string): boolean {
	const isIn = (places: readonly string[]) => places.some((place) => isBelow(place, path));
	// In a container it may be a place that is not anybody's own.
	const home = named === undefined || named === "/" || temporary.includes(named) ? undefined : named;
	if (isIn(open)) return true;
	// A search of what is above the home directory would read it.
	if (home !== undefined && isBelow(path, home)) return false;
	if (home !== undefined && isBelow(home, path)) return isIn(installedInHome.map((name) => `${home}/${name}`));
	return isIn(temporary) || (isIn(installed) && !isIn(kept));
}
