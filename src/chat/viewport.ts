/** The part of a conversation that fits on the screen. Only items near it are laid out in rows. */
import type { Item } from "./conversation.ts";
import { linesOf } from "./item-view.ts";
import type { Line } from "./text.ts";
import type { Look } from "./tool-view.ts";

export class Viewport {
	/** The last row that is shown, by its item: it stays in place while more arrives below. Undefined follows the end. */
	#anchor: { index: number; lines: number } | undefined;
	#rendered = new WeakMap<Item, { version: number; width: number; isExpanded: boolean; lines: Line[] }>();

	get isAtEnd(): boolean {
		return this.#anchor === undefined;
	}

	/** Exactly `height` rows. */
	rows(items: readonly Item[], look: Look, height: number): Line[] {
		const rows = this.#upward(items, look, height);
		return [...rows, ...Array.from({ length: Math.max(0, height - rows.length) }, () => [])];
	}

	follow(): void {
		this.#anchor = undefined;
	}

	/** Up by so many rows; down with a negative number. */
	scroll(items: readonly Item[], look: Look, height: number, by: number): void {
		let { index, lines } = this.#anchor ?? { index: items.length - 1, lines: this.#lines(items, items.length - 1, look).length };
		lines -= by;
		while (index > 0 && lines <= 0) {
			index -= 1;
			lines += this.#lines(items, index, look).length;
		}
		for (let own = this.#lines(items, index, look).length; lines > own; own = this.#lines(items, index, look).length) {
			if (index >= items.length - 1) return this.follow();
			lines -= own;
			index += 1;
		}
		this.#anchor = { index, lines: Math.max(lines, 0) };
		const missing = height - this.#upward(items, look, height).length;
		if (by > 0 && missing > 0) this.scroll(items, look, height, -missing);
		else if (index === items.length - 1 && lines === this.#lines(items, index, look).length) this.follow();
	}

	#upward(items: readonly Item[], look: Look, height: number): Line[] {
		let rows: Line[] = [];
		let index = this.#anchor?.index ?? items.length - 1;
		let end = this.#anchor?.lines;
		for (; index >= 0 && rows.length < height; index--) {
			rows = [...this.#lines(items, index, look).slice(0, end), ...rows];
			end = undefined;
		}
		return rows.slice(-height);
	}

	/** An item with the empty row in front of it. Calls of one row each are grouped together. */
	#lines(items: readonly Item[], index: number, look: Look): Line[] {
		const item = items[index];
		if (!item) return [];
		const before = items[index - 1];
		const lines = this.#itemLines(item, look);
		const areCalls = item.kind === "tool" && before?.kind === "tool";
		const isClose = !before || (areCalls && lines.length === 1 && this.#itemLines(before, look).length === 1);
		return isClose ? lines : [[], ...lines];
	}

	#itemLines(item: Item, look: Look): Line[] {
		const known = this.#rendered.get(item);
		if (known && known.version === item.version && known.width === look.width && known.isExpanded === look.isExpanded) return known.lines;
		const lines = linesOf(item, look);
		this.#rendered.set(item, { ...look, version: item.version, lines });
		return lines;
	}
}
