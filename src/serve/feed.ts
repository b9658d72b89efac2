/** The frames of one session and all its readers. A slow reader loses no kept frame and does not slow down the others. */
import type { DeltaRun } from "./agent-lines.ts";
import type { Encoding } from "./frames.ts";
import { encoded } from "./frames.ts";
import type { FullUpdates, SpokenFrame } from "./full-updates.ts";
import type { RingFrame } from "./ring.ts";
import { Ring } from "./ring.ts";

/** One end of a connection. */
export interface Sink {
	readonly encoding: Encoding;
	/** Bytes that were written and not sent yet. */
	readonly pending: number;
	write(bytes: Buffer): void;
	/** Writes go out together when it is uncorked. */
	cork?(): void;
	uncork?(): void;
	close(code: number, reason: string): void;
}

/** Older frames, and what is going on. */
export interface Past {
	/**
	 * What a reader needs that saw everything up to `after`, in order: one `gap` when something is missing, durable frames, one `snapshot`.
	 * `position`: of the ring, where live frames go on. Throws when `after` is beyond the log.
	 */
	replay(after: number, reason: "ephemeral" | "slow_reader"): Promise<Replay>;
}

export interface Replay {
	frames: Iterable<{ json: string; seq?: number; type: string }>;
	position: number;
	/** The number up to which frames are in the replay. */
	upTo: number;
}

export interface FeedCounts {
	frames: number;
	bytes: number;
	gaps: Map<string, number>;
	replayBytes: number;
}

const mostUnsent = 1024 * 1024;
/** Sixteen replays at once read at most 8 MiB ahead: a piece of the log, what is made of it, and what is not sent yet. */
const replayLength = 128 * 1024;
const stalledMs = 60_000;

export type Filter = (type: string) => boolean;

/** Names, which may end in `*`. Questions always pass. */
export function filterOf(names: readonly string[] | undefined): Filter | undefined {
	if (names === undefined) return undefined;
	const exact = new Set([...names, "extension_ui_request", "permission_request", "permission_resolved"]);
	const prefixes = names.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
	return (type) => exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix));
}

export interface ReaderOptions {
	filter?: Filter;
	/** Without frames that are not kept. */
	deltas?: boolean;
	/** Gets a replay and nothing after it. */
	isPastOnly?: boolean;
	/** Gives this reader whole messages in updates. */
	full?: FullUpdates;
}

export class Reader {
	readonly sink: Sink;
	options: ReaderOptions;
	/** Frames that this reader did not ask for. */
	hides: Filter = () => false;
	#feed: Feed;
	#position: number;
	/** Everything up to here was sent, or was not for this reader. */
	#seen: number;
	#directed: { at: number; bytes: Buffer }[] = [];
	#isCatchingUp = false;
	#isClosed = false;
	#resume: (() => void) | undefined;
	#onLive: (() => void)[] = [];
	/** Since when nothing left, although there was something. */
	#stalledAt = 0;
	#stalledPending = 0;

	constructor(feed: Feed, sink: Sink, options: ReaderOptions = {}) {
		this.#feed = feed;
		this.sink = sink;
		this.options = options;
		this.#position = feed.ring.end;
		this.#seen = feed.ring.lastSeq;
		if (options.full) options.full.onDue = () => this.#writeWaiting();
	}

	get lag(): number {
		return this.#isClosed || this.options.isPastOnly ? 0 : Math.max(0, this.#feed.ring.end - this.#position);
	}

	get isCatchingUp(): boolean {
		return this.#isCatchingUp;
	}

	/** A frame for this reader alone. It comes after all frames that there are by now. */
	send(json: string): void {
		if (this.#isClosed || this.options.isPastOnly) return;
		this.#directed.push({ at: this.#feed.ring.end, bytes: encoded(json, this.sink.encoding, this.#feed.ring.sessionId) });
		this.flush();
	}

	/** Goes on with the frames of another session, from now on. What it missed of this one comes before. */
	moveTo(feed: Feed): void {
		const { end: position, lastSeq: seen } = feed.ring;
		if (this.#isCatchingUp) void this.whenLive().then(() => this.#goOn(feed, position, seen));
		else this.#goOn(feed, position, seen);
	}

	#goOn(feed: Feed, position: number, seen: number): void {
		if (this.#isClosed) return;
		this.flush();
		this.#writeWaiting();
		this.#feed.remove(this);
		for (const { bytes } of this.#directed.splice(0)) this.#write(bytes);
		this.#feed = feed;
		this.#position = position;
		this.#seen = seen;
		feed.add(this);
	}

	/** Resolves when what it missed has been sent. */
	async whenLive(): Promise<void> {
		while (this.#isCatchingUp && !this.#isClosed) await new Promise<void>((resolve) => this.#onLive.push(resolve));
	}

	close(): void {
		this.#isClosed = true;
		this.options.full?.close();
		this.#directed = [];
		this.#feed.remove(this);
		this.#resume?.();
		for (const go of this.#onLive.splice(0)) go();
	}

	/** The other end took something. */
	drained(): void {
		this.#stalledAt = 0;
		this.#resume?.();
		this.flush();
	}

	/** Called now and then: closes a connection that takes nothing. */
	checkStalled(now: number): void {
		const { pending } = this.sink;
		if (pending === 0 || pending < this.#stalledPending || this.#stalledAt === 0) {
			this.#stalledAt = pending === 0 ? 0 : now;
			this.#stalledPending = pending;
		} else if (now - this.#stalledAt >= stalledMs) this.sink.close(4408, "nothing was read for 60 seconds");
	}

	flush(): void {
		// Several pieces are one write.
		const isLong = this.#directed.length > 0 || this.#feed.ring.isSplitAfter(this.#position);
		if (isLong) this.sink.cork?.();
		this.#flush();
		if (isLong) this.sink.uncork?.();
	}

	#flush(): void {
		const { ring } = this.#feed;
		while (!this.#isCatchingUp && !this.#isClosed && !this.options.isPastOnly) {
			if (this.sink.pending > mostUnsent) return;
			if (this.#position < ring.start)
				return void this.catchUp(this.#seen, "slow_reader").catch(() => this.sink.close(1011, "the frames could not be replayed"));
			const [next] = this.#directed;
			const end = next ? Math.min(next.at, ring.end) : ring.end;
			if (this.#position < end) this.#writeFrames(end);
			else if (next) {
				this.#directed.shift();
				this.#writeWaiting();
				this.#write(next.bytes);
			} else return;
		}
	}

	/** Sends what was missed, then goes on live. Resolves when it is live; throws when `after` is not of this session. */
	async catchUp(after: number, reason: "ephemeral" | "slow_reader"): Promise<void> {
		this.#isCatchingUp = true;
		this.#writeWaiting();
		try {
			await this.#feed.replaying(async () => {
				if (this.#isClosed) return;
				const { frames, position, upTo } = await this.#feed.past.replay(after, reason);
				let batch: Buffer[] = [];
				let length = 0;
				for (const frame of frames) {
					if (this.#isClosed) return;
					const bytes = this.#bytesOfPast(frame);
					if (!bytes) continue;
					batch.push(bytes);
					length += bytes.length;
					if (length < replayLength) continue;
					this.#feed.counts.replayBytes += length;
					this.#write(Buffer.concat(batch));
					batch = [];
					length = 0;
					await this.#room();
				}
				this.#feed.counts.replayBytes += length;
				if (batch.length) this.#write(Buffer.concat(batch));
				this.#position = position;
				this.#seen = upTo;
			});
		} finally {
			this.#isCatchingUp = false;
			for (const go of this.#onLive.splice(0)) go();
		}
		this.flush();
	}

	/** A turn of the event loop at least, and until the other end took enough. */
	async #room(): Promise<void> {
		await new Promise<void>((resolve) => setImmediate(resolve));
		while (!this.#isClosed && this.sink.pending > replayLength) await new Promise<void>((resolve) => (this.#resume = resolve));
	}

	#bytesOfPast({ json, seq, type }: { json: string; seq?: number; type: string }): Buffer | undefined {
		const isFrame = seq !== undefined;
		const { filter, full, deltas } = this.options;
		if (isFrame && ((filter && !filter(type)) || this.hides(type))) return full && this.#encodedAll(full.push({ json, seq }, false));
		if (type === "snapshot" && this.sink.encoding === "lines") return undefined;
		if (type === "gap") {
			// Frames that are not kept are not missing where none are wanted.
			if (deltas === false && json.includes('"durableLost":false')) return undefined;
			this.#feed.countGap(json);
		}
		// A snapshot stays as it is, and tells what the next updates go on from.
		return (isFrame || type === "snapshot") && full
			? this.#encodedAll(full.push({ json, seq }))
			: encoded(json, this.sink.encoding, this.#feed.ring.sessionId, seq);
	}

	#writeFrames(end: number): void {
		const { ring } = this.#feed;
		const from = this.#position;
		const { to, types } = ring.span(from, end);
		this.#position = to;
		this.#seen = Math.max(this.#seen, (ring.at(to - 1) as RingFrame).seq);
		if (this.#isPlain(types)) {
			this.#feed.counts.frames += to - from;
			this.#write(ring.bytes(from, to, this.sink.encoding));
		} else this.#writeChosen(from, to);
	}

	/** Whether it gets all frames of these types, unchanged. */
	#isPlain(types: ReadonlySet<string>): boolean {
		const { filter, deltas, full } = this.options;
		if (filter || deltas === false || full) return false;
		for (const type of types) if (this.hides(type)) return false;
		return true;
	}

	#writeChosen(from: number, to: number): void {
		const { ring } = this.#feed;
		const { filter, deltas, full } = this.options;
		const parts: Buffer[] = [];
		for (let position = from; position < to; position++) {
			const frame = ring.at(position) as RingFrame;
			const isWanted = (deltas !== false || frame.isDurable) && (!filter || filter(frame.type)) && !this.hides(frame.type);
			const bytes = full ? this.#encodedAll(full.push(frame, isWanted)) : isWanted ? ring.bytesAt(position, this.sink.encoding) : undefined;
			if (bytes) parts.push(bytes);
		}
		this.#feed.counts.frames += parts.length;
		if (parts.length) this.#write(Buffer.concat(parts));
	}

	/** Writes the delta that waits, before anything else that comes. */
	#writeWaiting(): void {
		const bytes = this.#encodedAll(this.options.full?.take() ?? []);
		if (bytes && !this.#isClosed) this.#write(bytes);
	}

	#encodedAll(frames: readonly SpokenFrame[]): Buffer | undefined {
		const parts = frames.map(({ json, seq }) => encoded(json, this.sink.encoding, this.#feed.ring.sessionId, seq));
		return parts.length > 1 ? Buffer.concat(parts) : parts[0];
	}

	#write(bytes: Buffer): void {
		this.#feed.counts.bytes += bytes.length;
		this.sink.write(bytes);
	}
}

export class Feed {
	readonly ring: Ring;
	readonly past: Past;
	readonly counts: FeedCounts;
	readonly #readers = new Set<Reader>();
	readonly #replays: Slots;
	#isScheduled = false;

	constructor(sessionId: string, past: Past, shared: { counts: FeedCounts; replays: Slots }) {
		this.ring = new Ring(sessionId);
		this.past = past;
		this.counts = shared.counts;
		this.#replays = shared.replays;
	}

	get readers(): ReadonlySet<Reader> {
		return this.#readers;
	}

	add(reader: Reader): void {
		if (this.#readers.size === 0) this.ring.skip();
		this.#readers.add(reader);
	}

	remove(reader: Reader): void {
		this.#readers.delete(reader);
	}

	/** Readers get it with everything else of this turn of the event loop. */
	push(frame: RingFrame): void {
		this.ring.add(frame);
		this.#schedule();
	}

	pushDeltas(run: DeltaRun): void {
		this.ring.addDeltas(run);
		this.#schedule();
	}

	#schedule(): void {
		if (this.#isScheduled || this.#readers.size === 0) return;
		this.#isScheduled = true;
		setImmediate(() => {
			this.#isScheduled = false;
			for (const reader of this.#readers) reader.flush();
		});
	}

	/** A frame without a number, for every reader. */
	announce(frame: object): void {
		const json = JSON.stringify(frame);
		for (const reader of this.#readers) reader.send(json);
	}

	replaying<T>(work: () => Promise<T>): Promise<T> {
		return this.#replays.within(work);
	}

	countGap(json: string): void {
		const reason = /"reason":"(\w+)"/.exec(json)?.[1] ?? "unknown";
		this.counts.gaps.set(reason, (this.counts.gaps.get(reason) ?? 0) + 1);
	}
}

/** At most so many at once; the others wait in order. */
export class Slots {
	#free: number;
	#waiting: (() => void)[] = [];

	constructor(count: number) {
		this.#free = count;
	}

	async within<T>(work: () => Promise<T>): Promise<T> {
		if (this.#free > 0) this.#free--;
		else await new Promise<void>((resolve) => this.#waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = this.#waiting.shift();
			if (next) next();
			else this.#free++;
		}
	}
}
