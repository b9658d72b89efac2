/** Chance that can be repeated: everything a plan holds follows from its seed. */
export class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed >>> 0;
		// Neighbouring seeds give unlike sequences only after a few steps.
		for (let n = 0; n < 4; n++) this.next();
	}

	/** From 0 up to, but not including, 1. */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = this.#state;
		mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	}

	/** A whole number, both ends included. */
	int(from: number, to: number): number {
		return from + Math.floor(this.next() * (to - from + 1));
	}

	chance(probability: number): boolean {
		return this.next() < probability;
	}

	pick<T>(choices: readonly T[]): T {
		return choices[this.int(0, choices.length - 1)] as T;
	}

	/** One of the values, each as often as its number says. */
	weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
		let at = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
		for (const [weight, value] of choices) {
			at -= weight;
			if (at < 0) return value;
		}
		return (choices.at(-1) as readonly [number, T])[1];
	}

	bytes(length: number): Buffer {
		return Buffer.from(Array.from({ length }, () => this.int(0, 255)));
	}
}
