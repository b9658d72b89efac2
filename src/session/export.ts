/** Exports a session as a page for others, with the system prompt and the tools. */
import type { Session } from "./session.ts";

export async function exportHtml(session: Session, outputPath: string | undefined): Promise<string> {
	const { exportSession } = await import("../transcript/export/index.ts");
	const { file, leafId } = session.transcript;
	return exportSession(file, {
		outputPath,
		leafId,
		redact: session.edges.redact,
		briefing: async () => (session.choice.model ? session.briefing.setup() : {}),
	});
}
