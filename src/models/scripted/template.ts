/** Fills `{{prompt}}`, `{{last}}` and `{{n}}` into what a script says. */

export interface Facts {
	/** Text of the last user message. */
	prompt: string;
	/** Text of the last message. */
	last: string;
	/** Number of the request, from 1. */
	n: number;
}

/** One pass: inserted text is not examined again. */
export function fill(text: string, facts: Facts): string {
	return text.replace(/\{\{(prompt|last|n)\}\}/g, (_, name: keyof Facts) => String(facts[name]));
}

/** Fills every string value inside; the names of members stay as they are. */
export function fillValues(value: unknown, facts: Facts): unknown {
	if (typeof value === "string") return fill(value, facts);
	if (Array.isArray(value)) return value.map((item) => fillValues(item, facts));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillValues(member, facts)]));
}
