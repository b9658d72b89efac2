/** What a server sees of our environment: what programs need to run, and nothing that gives access to anything. */

const names = new Set([
	..."PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TZ TMPDIR TEMP TMP".split(" "),
	..."HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy".split(" "),
	..."NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE".split(" "),
	..."NVM_DIR VOLTA_HOME PYENV_ROOT DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS".split(" "),
	// An outer Bowline finds its processes by it.
	"BOWLINE_RUN",
]);
const prefixes = /^(LC_|XDG_|FNM_|ASDF_|MISE_|UV_|PIP_|npm_config_)/;
const windows =
	/^(SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES.*|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|PROCESSOR_.*|PATH)$/i;
/** `npm_config_//registry…:_authToken`, `UV_PUBLISH_TOKEN` and the like. */
const secret = /token|secret|password|_auth|credential|(^|_)key($|_)/i;

export function serverEnvironment(
	parent: Record<string, string | undefined>,
	allow: readonly string[],
	own: Record<string, string>,
): Record<string, string> {
	const isAllowed = (name: string) =>
		names.has(name) || allow.includes(name) || (prefixes.test(name) && !secret.test(name)) || (process.platform === "win32" && windows.test(name));
	const kept = Object.entries(parent).filter(([name, value]) => value !== undefined && isAllowed(name)) as [string, string][];
	return { ...Object.fromEntries(kept), ...own };
}
