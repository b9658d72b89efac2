/** Patterns of hosts: `name`, `*.name`, an address, each with `:port` or `:*`. */

const usualPorts = ["443", "80"];

/** `target` is `host:port`, in lower case and canonical. */
export function hostPattern(pattern: string): (target: string) => boolean {
	const wanted = parsed(pattern.toLowerCase());
	return (target) => {
		const { host, port } = parsed(target);
		const isPort = wanted.port === undefined ? usualPorts.includes(port ?? "443") : wanted.port === "*" || wanted.port === port;
		return isPort && isHost(wanted.host, host);
	};
}

/** Whether a pattern names one host alone. */
export const isSingleHost = (pattern: string) => !parsed(pattern).host.startsWith("*.");

function parsed(text: string): { host: string; port: string | undefined } {
	const [, host = text, port] = /^(\[[^\]]*\]|[^:]*):(\d+|\*)$/.exec(text) ?? [];
	return { host, port };
}

/** `*.name` has one or more labels in front of the name, and is never the name itself. */
function isHost(wanted: string, host: string): boolean {
	return wanted.startsWith("*.") ? host.length > wanted.length - 1 && host.endsWith(wanted.slice(1)) : wanted === host;
}
