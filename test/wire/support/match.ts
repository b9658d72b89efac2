/** Whether a frame is what a transcript expects. */
import type { Token } from "./parse.ts";

export type Frame = Record<string, unknown> & { type: string };

const deltas = /^(text|thinking|toolcall)_(start|delta|end)$/;

export function matches(frame: Frame, token: Extract<Token, { kind: "frame" }>): boolean {
	const { name, role, shape, exact } = token;
	if (exact) return JSON.stringify(sorted(frame)) === JSON.stringify(sorted(shape));
	if (name) {
		const step = frame.assistantMessageEvent as Frame | undefined;
		if (deltas.test(name)) {
			return step?.type === name && (shape === undefined || includes(step, shape));
		}
		if (frame.type !== name) return false;
	}
	if (role !== undefined) {
		const message = frame.message as Frame | undefined;
		if (![frame.toolCallId, frame.toolName, frame.command, message?.role].includes(role)) return false;
	}
	return shape === undefined || includes(frame, shape);
}

/** `actual` holds everything that `expected` names. Strings: `<any>`, `<absent>`, `~part`. */
function includes(actual: unknown, expected: unknown): boolean {
	if (expected === "<any>") return actual !== undefined;
	if (expected === "<absent>") return actual === undefined;
	if (typeof expected === "string" && expected.startsWith("~")) return typeof actual === "string" && actual.includes(expected.slice(1));
	if (Array.isArray(expected)) {
		return Array.isArray(actual) && actual.length === expected.length && expected.every((item, index) => includes(actual[index], item));
	}
	if (typeof expected === "object" && expected !== null) {
		if (typeof actual !== "object" || actual === null) return false;
		return Object.entries(expected).every(([key, value]) => includes((actual as Frame)[key], value));
	}
	return Object.is(actual, expected);
}

function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([key, inner]) => [key, sorted(inner)]),
	);
}
