import type { Identity } from "../../protocol/identity.ts";
import type { Permissions } from "../permissions.ts";
import type { Handlers } from "./contract.ts";

type Names = "hello" | "set_permission_mode" | "get_permissions" | "revoke_permission";

export function permissionHandlers(permissions: Permissions, identity: Identity): Pick<Handlers, Names> {
	return {
		hello({ capabilities = {} }) {
			const agreed = permissions.hello(identity.capabilities, capabilities);
			const { permissionMode, sandbox } = permissions.state;
			return { ...identity, capabilities: agreed, permissionMode, sandbox };
		},
		async set_permission_mode({ mode }, call) {
			call.afterResponse(await permissions.setMode(mode));
		},
		get_permissions: () => permissions.list(),
		revoke_permission: ({ permissionId }, call) => permissions.revoke(permissionId ?? String(call.id)),
	};
}
