import type { Handlers } from "./contract.ts";

export interface Retrying {
	setEnabled(enabled: boolean): void;
	cancel(): void;
}

export function retryHandlers(retry: Retrying): Pick<Handlers, "set_auto_retry" | "abort_retry"> {
	return {
		set_auto_retry: ({ enabled }) => retry.setEnabled(enabled),
		abort_retry: () => retry.cancel(),
	};
}
