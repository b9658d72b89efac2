/** The flags that only `bowline attach` has. */
import type { Flag } from "../protocol/flags.ts";

export const attachFlags = {
	url: { value: "url", doc: "The server: http://…, https://… or unix:/path (default: the one of this user that runs)" },
	server: { value: "name", doc: "The server of this user that was started with this --name (default: default)" },
	"token-file": { value: "file", doc: "File with the token (default: the server's own; else BOWLINE_SERVE_TOKEN)" },
	new: { doc: "Create a session in this directory, with the flags that say how" },
	read: { doc: "Watch only" },
	takeover: { doc: "Take the seat from the client that holds it" },
} as const satisfies Record<string, Flag>;
