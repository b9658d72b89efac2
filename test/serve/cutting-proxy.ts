/** A way to a server that can be cut: bytes go through until the connection is dropped without a word, as by a lost network. */
import { connect, createServer, type Server, type Socket } from "node:net";

export class CuttingProxy {
	#server: Server;
	#pairs = new Set<[Socket, Socket]>();
	#port: () => number;
	url = "";
	/** How many connections were dropped. */
	cuts = 0;
	/** What the server says is lost, as before a cut that neither end has noticed. */
	isDeaf = false;
	/** Called with each piece that comes from the server. */
	onBytes: (size: number) => void = () => undefined;

	/** Called with each piece of the client, before it goes on. */
	onSent: () => void = () => undefined;

	constructor(port: () => number) {
		this.#port = port;
		this.#server = createServer((near) => this.#join(near));
	}

	/** `later`: how the end is arranged. */
	async listen(later: (end: () => void) => void = () => undefined): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		const { port } = this.#server.address() as { port: number };
		this.url = `http://127.0.0.1:${port}`;
		later(() => this.close());
		return this;
	}

	close(): void {
		this.#server.close();
		this.cut();
	}

	#join(near: Socket): void {
		const far = connect(this.#port(), "127.0.0.1");
		const pair: [Socket, Socket] = [near, far];
		this.#pairs.add(pair);
		const drop = () => {
			this.#pairs.delete(pair);
			near.destroy();
			far.destroy();
		};
		for (const socket of pair) socket.on("error", drop).on("close", drop);
		// The server answers under its own port only.
		const named = (text: string) => text.replaceAll(/(\r\nHost: 127\.0\.0\.1:)\d+/gi, `$1${this.#port()}`);
		near.on("data", (bytes: Buffer) => {
			this.onSent();
			if (!far.destroyed) far.write(Buffer.from(named(bytes.toString("latin1")), "latin1"));
		});
		far.on("data", (bytes) => {
			if (!this.isDeaf) near.write(bytes);
			this.onBytes(bytes.length);
		});
	}

	cut(): void {
		for (const [near, far] of [...this.#pairs]) {
			this.cuts++;
			near.destroy();
			far.destroy();
		}
		this.#pairs.clear();
	}
}
