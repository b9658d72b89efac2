/** Whether the MCP servers of this directory start. */
import { tryServers } from "../../live/try-mcp.ts";
import type { Finding, Patient } from "./doctor.ts";

export async function mcp(patient: Patient): Promise<Finding[]> {
	const { servers, problems } = await tryServers({ ...patient, options: { ...patient.options, "no-session": true } });
	const findings = servers.flatMap(({ name, status, tools, error }): Finding[] => {
		if (status === "ready") return [{ state: "ok", text: `${name}: ${tools.length} tools` }];
		if (status === "failed") return [{ state: "fail", text: error ?? name, remedy: `Try it with bowline mcp ${name}; see docs/mcp.md.` }];
		return [{ state: "note", text: `${name}: ${status}` }];
	});
	return [...findings, ...problems.map((text): Finding => ({ state: "note", text }))];
}
