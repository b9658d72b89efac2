/** One order for all observers, who may come, go, emit and fail. */
import { expect, test } from "vitest";
import { Bus } from "../../src/session/bus.ts";
import { keptLog } from "./kernel.ts";

const event = (steering: string) => ({ type: "queue_update" as const, steering: [steering], followUp: [] });

function observed() {
	const log = keptLog();
	const bus = new Bus(log);
	const seen: string[] = [];
	const watching = (name: string) => bus.observe((given) => void (given.type === "queue_update" && seen.push(`${name} ${given.steering[0]}`)));
	return { bus, log, seen, watching };
}

test("observers see every event in the order in which they were added", () => {
	const { bus, seen, watching } = observed();
	watching("a");
	watching("b");
	bus.emit(event("1"));
	expect(seen).toEqual(["a 1", "b 1"]);
});

test("an event that an observer emits waits until all have seen the current one", () => {
	const { bus, seen, watching } = observed();
	let isFirst = true;
	bus.observe(() => {
		if (isFirst) {
			isFirst = false;
			bus.emit(event("2"));
		}
	});
	watching("a");
	watching("b");
	bus.emit(event("1"));
	expect(seen).toEqual(["a 1", "b 1", "a 2", "b 2"]);
});

test("an observer that has left sees nothing more, and one may leave in the middle of an event", () => {
	const { bus, seen, watching } = observed();
	const leave = watching("a");
	bus.observe(() => leave());
	watching("b");
	bus.emit(event("1"));
	bus.emit(event("2"));
	expect(seen).toEqual(["a 1", "b 1", "b 2"]);
});

test("an observer that fails costs the others nothing", () => {
	const { bus, log, seen, watching } = observed();
	bus.observe(() => {
		throw new Error("broken");
	});
	watching("a");
	bus.emit(event("1"));
	expect(seen).toEqual(["a 1"]);
	expect(log.lines).toEqual(["an observer of queue_update failed"]);
});
