/** Where a person writes. Enter sends, Shift+Enter breaks the line; while the agent works the message steers it, or waits until it is done. */
import { button, h, icon, setAttribute, setText } from "../../page/dom.ts";
import { pictureAddress, pictureType } from "../../page/links.ts";

export interface Picture {
	type: "image";
	data: string;
	mimeType: string;
}

export type SendAs = "prompt" | "steer" | "follow_up";

export interface ComposerInput {
	/** Gives an error in words, or nothing when the message was taken. */
	send(how: SendAs, text: string, pictures: readonly Picture[]): Promise<string | undefined>;
	stop(): void;
}

const largestPicture = 8 * 1024 * 1024;
const mostPictures = 10;
const draftKey = (sessionId: string) => `bowline-draft-${sessionId}`;
/** A message that is on its way for so long is worth a word. */
const patienceMs = 1000;
/** Two presses of Escape within this time stop the run. */
const twiceMs = 800;

export class Composer {
	readonly element: HTMLElement;
	#input: ComposerInput;
	#text = h("textarea", { class: "write", "aria-label": "Message to the agent", "aria-describedby": "composer-note" });
	#note = h("p", { class: "composer-note", id: "composer-note", role: "status" });
	#shelf = h("div", { class: "shelf" });
	#send = h("button", { class: "send primary", type: "button" });
	#later = h("button", { class: "send", type: "button", title: "Deliver when the agent would stop" }, "Follow up");
	#stop = button("send stop", "Stop the run (Escape twice)", () => this.#input.stop(), icon("stop"), h("span", {}, "Stop"));
	#file = h("input", { type: "file", "aria-label": "Add pictures" });
	#pictures: Picture[] = [];
	#session = "";
	#isBusy = false;
	/** The message that is on its way. */
	#sending: { text: string } | undefined;
	#escapedAt = 0;

	constructor(input: ComposerInput) {
		this.#input = input;
		this.#text.rows = 1;
		this.#file.hidden = true;
		this.#file.multiple = true;
		this.#file.accept = "image/png,image/jpeg,image/gif,image/webp";
		const attach = button("tool-button", "Add pictures", () => this.#file.click(), icon("picture"));
		const row = h(
			"div",
			{ class: "composer-row" },
			attach,
			this.#file,
			this.#text,
			h("div", { class: "sends" }, this.#stop, this.#later, this.#send),
		);
		this.element = h("form", { class: "composer", "aria-label": "Message" }, this.#shelf, row, this.#note);
		this.#listen();
		this.#draw();
	}

	/** The draft of another session. */
	open(sessionId: string): void {
		this.#session = sessionId;
		this.#sending = undefined;
		this.#pictures = [];
		this.#text.value = stored(draftKey(sessionId));
		this.#say("");
		this.#resize();
		this.#drawShelf();
	}

	set isBusy(isBusy: boolean) {
		if (this.#isBusy === isBusy) return;
		this.#isBusy = isBusy;
		this.#draw();
	}

	/** Says why nothing can be sent; undefined when it can. */
	set closedBecause(reason: string | undefined) {
		this.#text.disabled = reason !== undefined;
		this.#send.disabled = reason !== undefined;
		this.#later.disabled = reason !== undefined;
		this.element.classList.toggle("closed", reason !== undefined);
		setAttribute(this.#text, "placeholder", reason ?? "Say what to do");
	}

	focus(): void {
		this.#text.focus();
	}

	/** Puts a text there, unless something was written. */
	suggest(text: string): void {
		if (this.#text.value.trim() !== "") return;
		this.#text.value = text;
		this.#changed();
	}

	replace(text: string): void {
		this.#text.value = text;
		this.#changed();
	}

	#listen(): void {
		this.element.addEventListener("submit", (event) => event.preventDefault());
		this.#send.addEventListener("click", () => void this.#submit(this.#isBusy ? "steer" : "prompt"));
		this.#later.addEventListener("click", () => void this.#submit("follow_up"));
		this.#text.addEventListener("input", () => this.#changed());
		this.#text.addEventListener("keydown", (event) => {
			if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
				event.preventDefault();
				void this.#submit(this.#isBusy ? (event.altKey ? "follow_up" : "steer") : "prompt");
			}
			if (event.key === "Escape" && this.#isBusy) {
				const now = performance.now();
				if (now - this.#escapedAt < twiceMs) this.#input.stop();
				else this.#say("Press Escape again to stop the run.");
				this.#escapedAt = now;
				event.stopPropagation();
			}
		});
		this.#text.addEventListener("paste", (event) => {
			const files = [...(event.clipboardData?.files ?? [])];
			if (!files.length) return;
			event.preventDefault();
			void this.#add(files);
		});
		this.#file.addEventListener("change", () => {
			void this.#add([...(this.#file.files ?? [])]);
			this.#file.value = "";
		});
		for (const name of ["dragover", "drop"] as const) {
			this.element.addEventListener(name, (event) => {
				if (!event.dataTransfer?.types.includes("Files")) return;
				event.preventDefault();
				if (name === "drop") void this.#add([...event.dataTransfer.files]);
			});
		}
	}

	async #add(files: readonly File[]): Promise<void> {
		for (const file of files) {
			const found = await pictureIn(file);
			if (typeof found === "string") this.#say(found);
			else if (this.#pictures.length >= mostPictures) this.#say(`At most ${mostPictures} pictures go with a message.`);
			else this.#pictures = [...this.#pictures, found];
		}
		this.#drawShelf();
	}

	async #submit(how: SendAs): Promise<void> {
		const text = this.#text.value;
		const pictures = this.#pictures;
		if (this.#sending || this.#text.disabled || (text.trim() === "" && !pictures.length)) return;
		const sending = { text };
		this.#sending = sending;
		this.#say("");
		const session = this.#session;
		const timer = window.setTimeout(() => this.#sending === sending && this.#say("Your message is on its way."), patienceMs);
		const error = await this.#input.send(how, text, pictures);
		clearTimeout(timer);
		if (this.#sending !== sending) {
			// Another session is open by now. The draft of the first session was sent, so it is removed there.
			if (error === undefined && stored(draftKey(session)) === text) store(draftKey(session), "");
			return;
		}
		this.#sending = undefined;
		this.#say(error ?? "", error !== undefined);
		if (error !== undefined) return;
		// What was written or added while the message was on its way stays.
		if (this.#text.value.startsWith(text)) this.#text.value = this.#text.value.slice(text.length);
		this.#pictures = this.#pictures.filter((picture) => !pictures.includes(picture));
		this.#drawShelf();
		this.#changed();
	}

	#changed(): void {
		store(draftKey(this.#session), this.#text.value);
		this.#resize();
	}

	#say(text: string, isBad = false): void {
		setText(this.#note, text);
		this.#note.classList.toggle("bad", isBad);
	}

	#resize(): void {
		this.#text.style.height = "auto";
		this.#text.style.height = `${Math.min(this.#text.scrollHeight, window.innerHeight / 2)}px`;
	}

	#draw(): void {
		const label = this.#isBusy ? "Steer" : "Send";
		setAttribute(this.#send, "title", this.#isBusy ? "Reaches the model at the next opportunity (Enter)" : "Send (Enter)");
		this.#send.replaceChildren(icon("send"), h("span", {}, label));
		this.#later.hidden = !this.#isBusy;
		this.#stop.hidden = !this.#isBusy;
	}

	#drawShelf(): void {
		this.#shelf.replaceChildren(
			...this.#pictures.map((picture, index) => {
				const image = h("img");
				image.src = pictureAddress(picture.mimeType, picture.data) ?? "data:,";
				setAttribute(image, "alt", `Picture ${index + 1}`);
				const remove = button("small", `Remove picture ${index + 1}`, () => this.#remove(picture), icon("close"));
				return h("span", { class: "thumb" }, image, remove);
			}),
		);
	}

	#remove(picture: Picture): void {
		this.#pictures = this.#pictures.filter((each) => each !== picture);
		this.#drawShelf();
		this.focus();
	}
}

/** A picture that models read, by its first bytes; else a sentence that says why not. */
async function pictureIn(file: File): Promise<Picture | string> {
	if (file.size > largestPicture) return `${file.name} is larger than 8 MB.`;
	const bytes = new Uint8Array(await file.arrayBuffer());
	const mimeType = pictureType(bytes);
	if (!mimeType) return `${file.name} is not a PNG, JPEG, GIF or WebP picture.`;
	let binary = "";
	for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
	return { type: "image", data: btoa(binary), mimeType };
}

function stored(key: string): string {
	try {
		return localStorage.getItem(key) ?? "";
	} catch {
		// Storage may be switched off; then drafts end with the page.
		return "";
	}
}

function store(key: string, text: string): void {
	try {
		if (text) localStorage.setItem(key, text);
		else localStorage.removeItem(key);
	} catch (error) {
		console.info("The draft is not kept:", error);
	}
}
