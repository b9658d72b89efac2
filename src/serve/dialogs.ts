/** Open questions of a session. The first answer counts. When no client that may answer arrives, a question ends with its default. */

interface DialogsParts {
	now(): number;
	/** Whether a connection that may answer is attached. */
	hasDriver(): boolean;
	send(frame: object): void;
}

const alone = 60_000;
const asking: ReadonlySet<string> = new Set(["select", "confirm", "input", "editor"]);

interface Asked {
	type: string;
	id: string;
	method?: string;
	targetId?: string;
}

export class Dialogs {
	#parts: DialogsParts;
	#open = new Map<string, NodeJS.Timeout | undefined>();
	#aloneMs: number;

	constructor(parts: DialogsParts, aloneMs = alone) {
		this.#parts = parts;
		this.#aloneMs = aloneMs;
	}

	get count(): number {
		return this.#open.size;
	}

	/** A frame of the agent about a question. */
	observe({ type, id, method, targetId }: Asked): void {
		if (type === "permission_resolved") this.#close(id);
		else if (type === "permission_request") this.#open.set(id, undefined);
		else if (method === "cancel") this.#close(targetId ?? "");
		else if (method !== undefined && asking.has(method)) this.#open.set(id, this.#endAlone(id));
	}

	/** Whether an answer is the first one. */
	settle(id: string): boolean {
		if (!this.#open.has(id)) return false;
		this.#close(id);
		return true;
	}

	clear(): void {
		for (const id of [...this.#open.keys()]) this.#close(id);
	}

	#endAlone(id: string): NodeJS.Timeout {
		const timer = setTimeout(() => {
			if (this.#parts.hasDriver() || !this.settle(id)) return;
			this.#parts.send({ type: "extension_ui_response", id, cancelled: true });
		}, this.#aloneMs);
		timer.unref();
		return timer;
	}

	#close(id: string): void {
		clearTimeout(this.#open.get(id));
		this.#open.delete(id);
	}
}
