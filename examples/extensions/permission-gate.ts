/** Asks the user before a dangerous command runs. No answer within a minute means no. */
import type { Extension } from "bowline";

const dangerous = [/\brm\s+-\w*[rf]/, /\bsudo\b/, /\bgit\s+push\b.*--force/, /\bmkfs\b/, />\s*\/dev\/sd/];

const permissionGate: Extension = (api) => {
	api.on("tool_call", async (event, context) => {
		if (event.toolName !== "bash") return undefined;
		const command = String(event.input.command);
		if (!dangerous.some((pattern) => pattern.test(command))) return undefined;
		const isAllowed = await context.ui.confirm("Allow this command?", command, { timeout: 60_000 });
		return isAllowed ? undefined : { block: true, reason: "The user did not allow this command. Find another way, or ask." };
	});
};

export default permissionGate;
