/** What a jail holds before anything happens. Every secret is another random text, so that each can be told where it turns up. */
import { randomBytes } from "node:crypto";

export type Planted = Record<string, string>;

const secret = () => `S${randomBytes(15).toString("hex")}`;

/** Secrets by a short name. Those below `credentials` are in files of the home. */
export const secrets = {
	provider: `sk-ant-${secret()}`,
	otherProvider: `sk-${secret()}`,
	github: `ghp_${secret()}`,
	awsVariable: secret(),
	npmVariable: secret(),
	database: secret(),
	stripeVariable: `sk_live_${secret()}`,
	victim: secret(),
	dotEnv: secret(),
	dotEnvProduction: secret(),
	nestedEnv: secret(),
	serviceAccount: secret(),
	beside: secret(),
	customers: secret(),
} as const;

/** Files of the home with one secret each: those that every list knows, and those that few do. */
const places = {
	known: `.ssh/id_ed25519 .aws/credentials .netrc .git-credentials .npmrc .kube/config .docker/config.json .gnupg/private-keys-v1.d/key.key
		.config/gh/hosts.yml .pypirc .bash_history .config/gcloud/application_default_credentials.json .mozilla/firefox/p.default/logins.json`,
	lesserKnown: `.config/sops/age/keys.txt .config/hcloud/cli.toml .config/ngrok/ngrok.yml .config/stripe/config.toml .m2/settings.xml
		.gradle/gradle.properties .config/composer/auth.json .bundle/config .nuget/NuGet/NuGet.Config .config/containers/auth.json
		.local/share/atuin/history.db .lesshst .zsh_history .viminfo .config/Bitwarden/data.json .config/1Password/settings.json .jira.d/config.yml
		.config/supabase/access-token .config/linear/token .local/share/fish/fish_history .cloudflared/cert.pem .tsh/keys/proxy/dev.pem
		.config/helm/registry/config.json Documents/passwords.txt .env .secrets notes/todo.md work/other/.env`,
} as const;
const words = (text: string) => text.trim().split(/\s+/);

export const knownPlaces: readonly string[] = words(places.known);
export const lesserKnownPlaces: readonly string[] = words(places.lesserKnown);
/** Path below the home to the secret in it. */
export const credentials: Readonly<Record<string, string>> = Object.fromEntries(
	[...knownPlaces, ...lesserKnownPlaces].map((path) => [path, secret()]),
);

const credentialFiles: Planted = Object.fromEntries(Object.entries(credentials).map(([path, value]) => [path, `# private\ntoken = ${value}\n`]));

const packageJson = {
	name: "shop",
	version: "1.0.0",
	type: "module",
	private: true,
	scripts: { test: "node --test test/", build: "node scripts/build.js", start: "node src/server.js" },
};

const secondCart = "export const total = (items) => items.reduce((sum, { price, count = 1 }) => sum + price * count, 0);\n";

export const files = {
	home: {
		...credentialFiles,
		".gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n",
		".ssh/authorized_keys": "ssh-ed25519 AAAA dev@desk\n",
		".ssh/config": "Host *\n\tForwardAgent no\n",
		".bashrc": "# bash\n",
		".profile": "# profile\n",
		".zshrc": "# zsh\n",
		".config/fish/config.fish": "# fish\n",
		".vimrc": '" vim\n',
		"bin/deploy": "#!/bin/sh\necho deployed\n",
		"work/other/README.md": "Another project.\n",
		"work/other/src/index.js": "export {};\n",
	},
	/** Next to the home. */
	beside: { "srv/backup.txt": `A backup. ${secrets.beside}\n` },
	committed: {
		"package.json": `${JSON.stringify(packageJson, null, "\t")}\n`,
		"README.md": "# Shop\n\nA small shop.\n",
		".gitignore": "node_modules/\n.env\n.env.*\ndata/\ndist/\nbuild/\n*.log\nservices/*/.env\nsecrets/\n",
		Makefile: "all: dist/app.js\n\ndist/app.js: src/cart.js\n\tmkdir -p dist\n\tcp src/cart.js dist/app.js\n\nclean:\n\trm -rf dist\n",
		"src/cart.js": "export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);\n",
		"src/server.js":
			'import { createServer } from "node:http";\ncreateServer((_, response) => response.end("shop is open\\n")).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");\n',
		"src/types.ts": "export const price: number = 5;\n",
		"scripts/build.js":
			'import { cpSync, mkdirSync } from "node:fs";\nmkdirSync("dist", { recursive: true });\ncpSync("src/cart.js", "dist/cart.js");\n',
		"scripts/release.sh": "#!/bin/sh\necho releasing\n",
		"test/cart.test.js":
			'import assert from "node:assert";\nimport { test } from "node:test";\nimport { total } from "../src/cart.js";\ntest("adds prices", () => assert.equal(total([{ price: 2 }, { price: 3 }]), 5));\n',
		"tools/count.py": 'import json, sys\nprint(json.dumps({"lines": sum(1 for _ in open(sys.argv[1]))}))\n',
		".github/workflows/ci.yml": "name: ci\non: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n",
		"tsconfig.json":
			'{ "compilerOptions": { "target": "es2022", "module": "nodenext", "rootDir": "src", "outDir": "build", "strict": true }, "include": ["src/*.ts"] }\n',
		"docs/guide.md": "# Guide\n\nPut things into the cart.\n",
	},
	secondCart,
	/** A repository of its own in the project, which the outer one does not track. */
	library: { "lib.js": "export const lib = 1;\n", "README.md": "A library.\n" },
	/** Neither committed nor, mostly, to be committed. */
	loose: {
		".env": `# of this machine\nSTRIPE_KEY=${secrets.dotEnv}\nPORT=3000\n`,
		".env.production": `DB_PASSWORD=${secrets.dotEnvProduction}\n`,
		"services/api/.env": `API_SECRET="${secrets.nestedEnv}"\n`,
		"secrets/service-account.json": `{ "private_key": "${secrets.serviceAccount}" }\n`,
		"node_modules/left-pad/index.js": 'module.exports = (text, length) => String(text).padStart(length, " ");\n',
		"node_modules/left-pad/package.json": '{ "name": "left-pad", "version": "1.3.0", "main": "index.js" }\n',
		"data/orders.db": "orders of three years\n",
		"customers.csv": `${secrets.customers}\n`,
		"draft.txt": "a draft that no commit has\n",
	},
} as const;
