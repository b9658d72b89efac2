/** A value that is loaded once. A failure is not remembered: a load that fails for lack of file descriptors may succeed later. */
export function remembered<T>(loading: Promise<T>, forget: () => void): Promise<T> {
	// The caller receives the failure; this only affects the next call.
	loading.catch(forget);
	return loading;
}
