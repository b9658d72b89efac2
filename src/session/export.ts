/** Shows a session to others: as a page, with what the model is told in it. */
import { exportSession } from "../transcript/export/index.ts";
import type { Session } from "./session.ts";

export function exportHtml(session: Session, outputPath: string | undefined): Promise<string> {
	const { file, leafId } = session.transcript;
	return exportSession(file, { outputPath, leafId, briefing: async () => (session.choice.model ? session.setup() : {}) });
}
