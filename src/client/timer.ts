/** Timers that can be disabled. */

/** Longer waits overflow the clock's counter and would end at once. */
const longestMs = 2 ** 31 - 1;

/** Calls `then` after so long; never for 0, or for longer than the clock can count. */
export function after(ms: number, then: () => void): NodeJS.Timeout | undefined {
	return ms > 0 && ms <= longestMs ? setTimeout(then, ms) : undefined;
}
