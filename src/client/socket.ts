/** A session of `bowline serve` as a client: the same object as for a process, over sockets that come back. */
import type { CreateSession, ServedSession } from "../protocol/types.generated.ts";
import type { Channel, ChannelListener, Exit, Frame } from "./channel.ts";
import { type Client, type ConversationOptions, converse } from "./client.ts";
import { ExitError } from "./errors.ts";
import { type LinkOptions, SessionLink } from "./link.ts";
import { ServerAddress, ServerError, type ServerOptions } from "./server-address.ts";

export interface ConnectOptions extends ServerOptions, ConversationOptions {
	/** The id of a session, or what a new one needs: at least its working directory. */
	session: string | CreateSession;
	/** `write` takes the seat, with which one client at a time drives a session; `read` watches. Default: `write`. */
	mode?: "read" | "write";
	/** What other clients of the session see. */
	name?: string;
	/** Take the seat from its holder. */
	takeover?: boolean;
	/** How long a lost connection is tried again; then the client ends, and `exited` says why. Default: 0, for ever. */
	reconnectTimeoutMs?: number;
}

/**
 * Connects to a session of a server; resolves when it is ready. A connection that is lost comes back automatically: what was missed follows, and what
 * had no answer is sent again. `close` leaves the session, which lives on. Rejects with a `ServerError`.
 */
export async function connectClient(options: ConnectOptions): Promise<Client> {
	const { mode = "write", name, takeover, reconnectTimeoutMs } = options;
	if (mode !== "write" && mode !== "read") throw new TypeError(`mode must be "write" or "read", not ${JSON.stringify(mode)}`);
	const address = new ServerAddress(options);
	const session = typeof options.session === "string" ? options.session : await created(address, options.session);
	const link: LinkOptions = {
		address,
		session,
		mode,
		...(name !== undefined && { name }),
		...(takeover && { takeover }),
		...(reconnectTimeoutMs !== undefined && { reconnectTimeoutMs }),
	};
	try {
		return await converse((listener) => new SocketChannel(link, listener), "ready", options);
	} catch (error) {
		throw error instanceof ExitError && error.cause instanceof ServerError ? error.cause : error;
	}
}

async function created(address: ServerAddress, body: CreateSession): Promise<string> {
	const { id } = (await address.ask("POST", "/v1/sessions", body)) as ServedSession;
	return id;
}

class SocketChannel implements Channel {
	readonly stderr = "";
	#link: SessionLink;

	constructor(options: LinkOptions, listener: ChannelListener) {
		this.#link = new SessionLink(options, {
			frame: (frame) => listener.frame(frame as unknown as Frame),
			end: (cause) => listener.exit({ ...gone, ...(cause ? { code: null, cause } : {}) }),
		});
	}

	send(line: string): void {
		this.#link.send(line);
	}

	close(): Promise<void> {
		return this.#link.close();
	}
}

const gone: Exit = { code: 0, signal: null, stderr: "" };
