/** A promise with its resolve and reject functions exposed. */
export interface Deferred<T> {
	promise: Promise<T>;
	resolve: (value: T) => void;
}

export function deferred<T = void>(): Deferred<T> {
	let resolve!: (value: T) => void;
	const promise = new Promise<T>((done) => {
		resolve = done;
	});
	return { promise, resolve };
}
