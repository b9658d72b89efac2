import type { HostTools } from "../host-tools.ts";
import type { Handlers } from "./contract.ts";

export function hostHandlers(hostTools: HostTools): Pick<Handlers, "set_host_tools"> {
	return {
		set_host_tools: async ({ tools }) => ({ toolNames: await hostTools.set(tools) }),
	};
}
