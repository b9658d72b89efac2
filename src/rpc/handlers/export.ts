import type { Session } from "../../session/session.ts";
import type { Handlers } from "./contract.ts";

export function exportHandlers(session: Session): Pick<Handlers, "export_html"> {
	return {
		async export_html({ outputPath }) {
			const { exportHtml } = await import("../../session/export.ts");
			return { path: await exportHtml(session, outputPath) };
		},
	};
}
