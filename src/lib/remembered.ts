/** Something that is loaded once. A failure is not remembered: what cannot be loaded now, for want of file descriptors, may be later. */
export function remembered<T>(loading: Promise<T>, forget: () => void): Promise<T> {
	// Who asked for it hears of the failure; this is only about the next.
	loading.catch(forget);
	return loading;
}
