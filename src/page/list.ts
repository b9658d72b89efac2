/** A list whose rows keep their elements: rows are made once per key, updated in place, and moved when the order changes. */

export interface ListOf<T> {
	key(item: T): string;
	make(item: T): HTMLElement;
	update?(element: HTMLElement, item: T): void;
}

export class KeyedList<T> {
	readonly element: HTMLElement;
	#of: ListOf<T>;
	#rows = new Map<string, HTMLElement>();

	constructor(element: HTMLElement, of: ListOf<T>) {
		this.element = element;
		this.#of = of;
	}

	show(items: readonly T[]): void {
		const keys = new Set(items.map((item) => this.#of.key(item)));
		// First, so that the rows behind them stay where they are: a row that is moved while it is pressed loses its click.
		for (const [key, row] of this.#rows) if (!keys.has(key)) row.remove();
		const rows = new Map<string, HTMLElement>();
		let at: ChildNode | null = this.element.firstChild;
		for (const item of items) {
			const key = this.#of.key(item);
			// The first of two items with one key is shown.
			if (rows.has(key)) continue;
			const known = this.#rows.get(key);
			const row = known ?? this.#of.make(item);
			this.#of.update?.(row, item);
			rows.set(key, row);
			if (row === at) at = at.nextSibling;
			else this.element.insertBefore(row, at);
		}
		this.#rows = rows;
	}

	row(key: string): HTMLElement | undefined {
		return this.#rows.get(key);
	}
}
