/** What the client can do, as it said in `initialize`, and what we answer. Everything that is omitted is unsupported. */
import type { InitializeResponse } from "@agentclientprotocol/sdk";

export interface Client {
	/** It reads and writes files. One of the two alone would make its buffers and the disk differ. */
	hasFiles: boolean;
	hasConfigOptions: boolean;
	hasCompaction: boolean;
	hasNotices: boolean;
	hasForms: boolean;
	hasUrls: boolean;
	/** It shows the output of our commands in a terminal of its own. */
	hasTerminalOutput: boolean;
}

export function clientOf(params: unknown): Client {
	const capabilities = objectIn(params, "clientCapabilities");
	const files = objectIn(capabilities, "fs");
	const session = objectIn(capabilities, "session");
	const elicitation = objectIn(capabilities, "elicitation");
	return {
		hasFiles: files?.readTextFile === true && files.writeTextFile === true,
		hasConfigOptions: objectIn(session, "configOptions") !== undefined,
		hasCompaction: objectIn(session, "compaction") !== undefined,
		hasNotices: objectIn(session, "notices") !== undefined,
		hasForms: objectIn(elicitation, "form") !== undefined,
		hasUrls: objectIn(elicitation, "url") !== undefined,
		hasTerminalOutput: objectIn(capabilities, "_meta")?.terminal_output === true,
	};
}

export function initializeResponse(version: string): InitializeResponse {
	return {
		protocolVersion: 1,
		agentInfo: { name: "bowline", title: "Bowline", version },
		authMethods: [],
		agentCapabilities: {
			loadSession: true,
			auth: {},
			promptCapabilities: { image: true, audio: false, embeddedContext: true },
			mcpCapabilities: { http: true, sse: true },
			sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
		},
	};
}

export function objectIn(value: unknown, name: string): Record<string, unknown> | undefined {
	const member = (value as Record<string, unknown> | null | undefined)?.[name];
	return typeof member === "object" && member !== null && !Array.isArray(member) ? (member as Record<string, unknown>) : undefined;
}
