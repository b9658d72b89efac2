import type { Controls } from "../../session/dependencies.ts";
import type { Handlers } from "./contract.ts";

export function retryHandlers(controls: Controls, retry: { cancel(): void }): Pick<Handlers, "set_auto_retry" | "abort_retry"> {
	return {
		set_auto_retry({ enabled }) {
			controls.autoRetry = enabled;
		},
		abort_retry: () => retry.cancel(),
	};
}
