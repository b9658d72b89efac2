/** The pages of settings and of error codes, made of their rows. */
import { type ErrorCode, type ErrorRow, errors, exitCodeOf } from "../../src/protocol/errors.ts";
import { type SettingRow, settings } from "../../src/protocol/settings.ts";

const cell = (text: string) => text.replaceAll("|", "\\|");

function projectMark({ project }: SettingRow): string {
	if (!project) return "";
	if (project === true) return "any project";
	if (project === "never") return "no project";
	if (project === "stricter" || "stricter" in project) return "stricter";
	return `any project: ${project[0]} to ${project[1]}`;
}

export function settingsPage(): string {
	const rows = Object.entries(settings as Record<string, SettingRow>).map(([name, row]) => {
		const kind = row.values
			? row.values.map((value) => `\`${value}\``).join(", ")
			: row.kind === "strings"
				? "list of strings"
				: row.kind === "rules"
					? "list of rules"
					: row.kind;
		const marks = [projectMark(row), row.resetInRpc ? "reset" : "", row.ownersOnly ? "owner" : "", row.isCeiling ? "ceiling" : ""]
			.filter(Boolean)
			.join(", ");
		return `| \`${name}\` | ${kind} | ${row.default === undefined ? "unset" : `\`${JSON.stringify(row.default)}\``} | ${cell(row.doc)} | ${marks} |`;
	});
	return `# Settings

Settings are JSON with comments, with nested or dotted keys. \`schema/settings.json\` describes them for editors.
The places for settings, from lowest to highest precedence: the default, \`settings.jsonc\` in the user directory (\`~/.bowline\`, or \`BOWLINE_DIR\`), \`.bowline/settings.jsonc\` of
the project, the file named by \`--config\`, the JSON object in \`BOWLINE_SETTINGS\`, flags (\`--set key=value\`), commands of the host for the session.

Relative paths are relative to the file that names them, and on the command line to the working directory; \`~\` is the home directory.
\`bowline config\` shows every setting with its value and the place that it comes from. Bowline reports a file that it cannot read, and does not change it.

In the last column, *any project* means that a project that is not trusted may also set it, a number within the limits that follow;
*stricter* means that every project may make it stricter and none weaker; *no project* means that no project may set it, trusted or not; *reset* means that an embedding host gets
the default and ignores the files of the user and the project; values given for the process still count. *owner* means that only the owner of the machine sets it: a request to
[\`bowline serve\`](serve.md) for a session, or a run of [the fleet](fleet.md), that names it is refused. *ceiling* means that a run of the fleet may lower the value of its worker, and not raise it.

| Setting | Type | Default | | |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

const givers: Record<ErrorRow["from"], string> = {
	agent: `## Agents

\`code\` of a failed [response](protocol.md#response), and of the error of a refused run in [\`run_result\`](protocol.md#run_result). A server passes them on: with the status
in the third column where a request over HTTP is refused, and with 200 in the answer of \`POST /v1/sessions/{id}/commands\`, which is the response itself. The last
column is the exit code of a command line, such as \`bowline -p\`, that the failure ends; in \`--mode rpc\` a start that fails always ends with 1.`,
	server: `## The server

\`error.code\` of a request that [\`bowline serve\`](serve.md) refuses, and \`code\` of a failed response on its sockets.`,
	client: `## The clients

\`code\` of a [\`ServerError\`](typescript-api.md#servererror) that comes from the client, and of a response that it gives in place of the server.`,
};

export function errorsPage(): string {
	const statuses = ({ http }: ErrorRow) => (http === undefined ? "" : [http].flat().join(", "));
	const chapters = Object.entries(givers).map(([giver, introduction]) => {
		const rows = Object.entries(errors as Record<string, ErrorRow>).filter(([, { from }]) => from === giver);
		const [http, exit] = [giver !== "client", giver === "agent"];
		const head = ["Code", "When it comes, and what to do", ...(http ? ["HTTP"] : []), ...(exit ? ["Exit"] : [])];
		const lines = rows.map(([code, row]) => {
			const cells = [`\`${code}\``, cell(row.doc), ...(http ? [statuses(row)] : []), ...(exit ? [exitCodeOf(code as ErrorCode)] : [])];
			return `| ${cells.join(" | ")} |`;
		});
		return `${introduction}\n\n| ${head.join(" | ")} |\n|${"---|".repeat(head.length)}\n${lines.join("\n")}\n`;
	});
	const dialects = Object.entries(errors as Record<string, ErrorRow>).flatMap(([code, { inDialects }]) => (inDialects ? [`\`${code}\``] : []));
	return `# Error codes

Every failure that a host can see has a code for programs and a text for people. Compare the code and show the text, which names the thing and the remedy.
The clients have the codes as a type, [\`ErrorCode\`](typescript-api.md#errorcode), in Python \`bowline.protocol.ErrorCode\`. A code keeps its meaning; later versions
may have more, so keep a default.

A reply of the model that fails is not a failure of a command: it is a message with \`stopReason\` \`"error"\`, and with \`--seq\` the \`kind\` of the error in [\`run_result\`](protocol.md#run_result).

Dialect \`strict\` has no codes. Dialects \`pi\` and \`omp\` have those of the server, and of an agent only those that their hosts know: ${dialects.join(", ")}.

${chapters.join("\n")}`;
}
