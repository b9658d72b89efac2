/** Takes what is allowed out of a value. */

/** `true`: the value as it is. A record: these members. A function: what it makes of the value. */
export type Allowed = true | { [member: string]: Allowed } | ((value: unknown) => unknown);

/** Members that are taken as they are. */
export function members(names: string): Record<string, true> {
	return Object.fromEntries(names.split(" ").map((name) => [name, true]));
}

/** The same for each value of a list. */
export function eachOf(allowed: Allowed): Allowed {
	return (list) => (Array.isArray(list) ? list.map((value) => pick(value, allowed)) : list);
}

export function pick(value: unknown, allowed: Allowed): unknown {
	if (allowed === true) return value;
	if (typeof allowed === "function") return allowed(value);
	if (typeof value !== "object" || value === null) return value;
	const picked: Record<string, unknown> = {};
	for (const name in allowed) {
		const member = (value as Record<string, unknown>)[name];
		if (member !== undefined) picked[name] = pick(member, allowed[name] as Allowed);
	}
	return picked;
}
