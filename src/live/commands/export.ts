import { resolve } from "node:path";
import { exportHtml } from "../../session/export.ts";
import type { Session } from "../../session/session.ts";
import type { Handlers } from "./contract.ts";

export function exportHandlers(session: Session, cwd: string): Pick<Handlers, "export_html"> {
	return {
		export_html: async ({ outputPath }) => ({ path: await exportHtml(session, resolve(cwd, outputPath ?? "")) }),
	};
}
