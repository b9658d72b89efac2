/** How deep JSON may be nested. Deeper values overflow the stack when they are written, and no sender means them. */

/** Of a frame, of the arguments of a call. */
export const maxNesting = 256;

/** Counts brackets outside strings; jumps over strings so that a large image costs little. */
export function isNestedDeeperThan(limit: number, json: string): boolean {
	if (json.length <= limit) return false;
	let depth = 0;
	for (let index = 0; index < json.length; index++) {
		const code = json.charCodeAt(index);
		if (code === 0x5b || code === 0x7b) {
			if (++depth > limit) return true;
		} else if (code === 0x5d || code === 0x7d) depth--;
		else if (code === 0x22) {
			index = endOfString(json, index);
			if (index < 0) return false;
		}
	}
	return false;
}

function endOfString(json: string, start: number): number {
	let end = json.indexOf('"', start + 1);
	while (end > 0) {
		let slashes = 0;
		while (json.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
		if (slashes % 2 === 0) return end;
		end = json.indexOf('"', end + 1);
	}
	return -1;
}
