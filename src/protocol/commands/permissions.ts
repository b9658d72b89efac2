import Type from "typebox";
import { ack, command, integer, jsonObject, list, optional, text } from "../define.ts";
import { identity } from "../identity.ts";
import { PermissionGrant, PermissionMode, PermissionRequest, permissionSamples, SandboxState, SourcedRule } from "../permissions.ts";

const grantId = "019b2c6e-6f00-7b3a-8c44-51d2b1a7e9d0";
const Capabilities = Type.Record(text(), integer());

export const permissionCommands = {
	hello: command({
		doc: "Say who the host is and what it can do. The last `hello` counts; `capabilities: {}` withdraws it. Unknown names are ignored. The answer has the lower version of both sides.",
		lane: "serial",
		access: "seat",
		params: {
			client: optional({ ...jsonObject, description: "`name` and `version` of the host, for logs." }),
			capabilities: optional({ ...Capabilities, description: "`permissions: 1`: the host answers `permission_request`." }),
		},
		result: Type.Object({
			...identity,
			capabilities: Type.Record(text(), integer(), { description: "What both sides can do." }),
			permissionMode: PermissionMode,
			sandbox: SandboxState,
		}),
		example: {
			send: { client: { name: "my-ide", version: "2.1" }, capabilities: { permissions: 1 } },
			data: {
				version: "0.1.0",
				protocol: 1,
				cwd: "/w/shop",
				capabilities: { permissions: 1 },
				permissionMode: "ask",
				sandbox: { mode: "off", active: false, verified: false },
			},
		},
	}),
	set_permission_mode: command({
		doc: "Change how much is allowed without asking, for this session and its subagents. Open questions are decided again at once.",
		lane: "serial",
		access: "seat",
		params: { mode: PermissionMode },
		result: ack,
		example: { send: { mode: "ask" } },
	}),
	get_permissions: command({
		doc: "Mode, rules, grants and open questions. A host that reconnects sees here what is open.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ mode: PermissionMode, rules: list(SourcedRule), grants: list(PermissionGrant), pending: list(PermissionRequest) }),
		example: {
			send: {},
			data: {
				mode: "ask",
				rules: [{ action: "deny", tool: "read", path: "**/.env", source: "user" }],
				grants: [
					{ id: grantId, rule: { action: "allow", tool: "bash", command: "npm test" }, scope: "session", createdAt: "2026-01-01T12:00:00.000Z" },
				],
				pending: [permissionSamples.request],
			},
		},
	}),
	revoke_permission: command({
		doc: "Take a grant back. Without `permissionId` the command's own `id` names it. Fails with `Permission not found: <id>`.",
		lane: "serial",
		access: "seat",
		params: { permissionId: optional(text({ description: "As in `get_permissions`." })) },
		result: ack,
		example: { send: { permissionId: grantId } },
	}),
};
