/** Writes everything that follows from the protocol's rows; with `--check` it only reports what is stale. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inboundChecks } from "./generate/checks.ts";
import { serveOpenApi } from "./generate/openapi.ts";
import { errorsPage, settingsPage } from "./generate/pages.ts";
import { protocolPage } from "./generate/protocol-page.ts";
import { pythonCommands, pythonProtocol } from "./generate/python.ts";
import { pythonApiPage } from "./generate/python-api.ts";
import { protocolSchema, scriptSchema, settingsSchema, taskParameters } from "./generate/schemas.ts";
import { sessionFlags } from "./generate/session-flags.ts";
import { toolFacts } from "./generate/tool-facts.ts";
import { protocolNames, protocolTypes } from "./generate/types.ts";
import { typescriptApiPage } from "./generate/typescript-api.ts";

const root = join(import.meta.dirname, "..");
const json = (value: unknown) => `${JSON.stringify(value, null, "\t")}\n`;

/** In order: the later pages are read from the earlier files. */
const files: Record<string, () => string> = {
	"src/lib/tool-facts.generated.ts": () => toolFacts(),
	"src/protocol/inbound.generated.ts": () => inboundChecks(),
	"src/protocol/types.generated.ts": () => protocolTypes(),
	"src/protocol/names.generated.ts": () => protocolNames(),
	"src/embed/session-flags.generated.ts": () => sessionFlags(),
	"src/subagents/parameters.generated.ts": () => taskParameters(),
	"schema/protocol.json": () => json(protocolSchema()),
	"schema/settings.json": () => json(settingsSchema()),
	"schema/serve.json": () => json(serveOpenApi()),
	"schema/script.json": () => json(scriptSchema()),
	"clients/python/bowline/protocol.py": () => pythonProtocol(protocolSchema()),
	"clients/python/bowline/_commands.py": () => pythonCommands(protocolSchema()),
	"docs/protocol.md": () => protocolPage(),
	"docs/errors.md": () => errorsPage(),
	"docs/settings.md": () => settingsPage(),
	"docs/typescript-api.md": () => typescriptApiPage(),
	"docs/python-api.md": () => pythonApiPage(pythonCommands(protocolSchema())),
};

const isCheck = process.argv.includes("--check");
for (const [path, generate] of Object.entries(files)) {
	const text = generate();
	const file = join(root, path);
	if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
	if (isCheck) {
		console.error(`stale: ${path} (run: npm run generate)`);
		process.exitCode = 1;
		continue;
	}
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, text);
	console.log(`wrote ${path}`);
}
