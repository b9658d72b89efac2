/** Announcements for screen readers: that something happened, never the text while it streams. */
import { h, setText } from "../../page/dom.ts";

export class Announcer {
	readonly element = h("div", { class: "unseen" });
	#polite = h("p", { "aria-live": "polite" });
	#urgent = h("p", { role: "alert" });

	constructor() {
		this.element.append(this.#polite, this.#urgent);
	}

	say(text: string, isUrgent = false): void {
		const place = isUrgent ? this.#urgent : this.#polite;
		// The same words twice are two events.
		setText(place, place.textContent === text ? `${text}\u00a0` : text);
	}
}
