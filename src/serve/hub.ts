/** Events about all sessions, for clients that observe the server itself. */
export class Hub {
	#listeners = new Set<(frame: object) => void>();

	/** The returned function ends it. */
	listen(listener: (frame: object) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	announce(frame: object): void {
		for (const listener of this.#listeners) listener(frame);
	}
}
