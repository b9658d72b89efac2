/** Converts a conversation that mostly grows at its end: the part that did not change since the last time is reused. */

/** Makes elements from `source[from]` on and adds them to `made`. Calls `begin` at each place where it could have started as well. */
export type Make<K, T> = (source: readonly K[], from: number, made: T[], begin: (index: number) => void) => void;

interface Memory<K, T> {
	variant: string;
	source: readonly K[];
	made: readonly T[];
	/** How many elements had been made when an index began; -1 where none did. */
	lengths: readonly number[];
}

/** Remembers the last result for as long as the first message lives. `variant` names everything else that the result depends on. */
export class Growing<K extends object, T> {
	#memories = new WeakMap<K, Memory<K, T>>();

	/** `source` must not be changed afterwards. */
	make(source: readonly K[], variant: string, make: Make<K, T>): readonly T[] {
		const [owner] = source;
		const known = owner && this.#memories.get(owner);
		const from = known?.variant === variant ? lastBeginning(known, source) : 0;
		const made = known && from > 0 ? known.made.slice(0, known.lengths[from]) : [];
		const lengths = known && from > 0 ? known.lengths.slice(0, from) : [];
		make(source, from, made, (index) => {
			while (lengths.length < index) lengths.push(-1);
			lengths.push(made.length);
		});
		if (owner) this.#memories.set(owner, { variant, source, made, lengths });
		return made;
	}
}

/** The last place to start from with the same elements before it. An element is made again when what follows it changed: that may matter to it. */
function lastBeginning<K, T>({ source: before, lengths }: Memory<K, T>, source: readonly K[]): number {
	let same = 0;
	while (same < before.length && same < source.length && before[same] === source[same]) same++;
	let from = Math.min(same, lengths.length) - 1;
	while (from > 0 && (lengths[from] as number) < 0) from--;
	return Math.max(from, 0);
}
