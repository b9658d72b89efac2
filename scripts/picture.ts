/** Draws docs/run.svg: what `bowline demo` prints, as a picture. Run it by hand when the demo has changed: node scripts/run.mjs picture. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const columns = 118;
const rowHeight = 17;
const margin = 16;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const colours: [RegExp, string][] = [
	[/^host/, "#79c0ff"],
	[/failed|exit 1|error/, "#ff7b72"],
	[/passed|exit 0|passes|settled/, "#7ee787"],
	[/verification|subagent/, "#d2a8ff"],
	[/^agent/, "#c9d1d9"],
];
const colourOf = (line: string) => colours.find(([pattern]) => pattern.test(line))?.[1] ?? "#8b949e";

/** Lines that say little to a first-time reader. */
const isNoise = (line: string) => /turn_start|turn_end|message_end|"agent_start"|"response"|_command_start/.test(line);

function picture(output: string): string {
	const lines = output
		.replaceAll(/\/[^ ]*bowline-demo-\w+/g, "…")
		.replace(/ Session: .*/, "")
		.split("\n")
		.filter((line) => !isNoise(line))
		.map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line));
	const height = lines.length * rowHeight + 2 * margin;
	const rows = lines.map(
		(line, index) =>
			`<text x="${margin}" y="${margin + 12 + index * rowHeight}" fill="${colourOf(line)}" xml:space="preserve">${escaped(line)}</text>`,
	);
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${columns * 7.25 + 2 * margin} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join("\n")}
</svg>
`;
}

const output = execFileSync(process.execPath, [join(root, "dist/bowline.js"), "demo"], { encoding: "utf8" });
writeFileSync(join(root, "docs/run.svg"), picture(output.trim()));
