/** Counts of the server, and their text for Prometheus. No ids, names or paths are in labels. */
import type { IntervalHistogram } from "node:perf_hooks";
import type { FeedCounts } from "./feed.ts";

const startBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What is measured at the moment of asking. */
export interface Gauges {
	sessions: ReadonlyMap<string, number>;
	connections: ReadonlyMap<string, number>;
	lag: number;
}

export class Metrics {
	readonly feed: FeedCounts = { frames: 0, bytes: 0, gaps: new Map(), replayBytes: 0 };
	#starts = 0;
	#crashes = 0;
	#startSeconds = startBuckets.map(() => 0);
	#startSum = 0;
	#startCount = 0;
	#authFailures = new Map<string, number>();
	#requests = new Map<string, number>();
	#tokens = 0;
	#cost = 0;
	#delay: IntervalHistogram | undefined;
	#isClosed = false;

	/** Wakes the process fifty times a second, so it waits until there is a reader: the first look starts it, and finds zeros. */
	async #measureDelay(): Promise<void> {
		const { monitorEventLoopDelay } = await import("node:perf_hooks");
		if (this.#isClosed || this.#delay) return;
		this.#delay = monitorEventLoopDelay({ resolution: 20 });
		this.#delay.enable();
	}

	readonly meters = {
		onStart: (seconds: number) => {
			this.#starts++;
			this.#startSum += seconds;
			this.#startCount++;
			for (const [index, bound] of startBuckets.entries())
				if (seconds <= bound) this.#startSeconds[index] = (this.#startSeconds[index] as number) + 1;
		},
		onCrash: () => {
			this.#crashes++;
		},
		onUsage: (tokens: number, costUsd: number) => {
			this.#tokens += tokens;
			this.#cost += costUsd;
		},
	};

	onAuthFailure(why: string): void {
		this.#authFailures.set(why, (this.#authFailures.get(why) ?? 0) + 1);
	}

	onRequest(route: string, status: number): void {
		const key = `route="${route}",status="${status}"`;
		this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
	}

	close(): void {
		this.#isClosed = true;
		this.#delay?.disable();
	}

	text({ sessions, connections, lag }: Gauges): string {
		const lines: string[] = [];
		const metric = (name: string, type: string, help: string, values: Iterable<readonly [string, number]>) => {
			lines.push(`# HELP bowline_${name} ${help}`, `# TYPE bowline_${name} ${type}`);
			for (const [labels, value] of values) lines.push(`bowline_${name}${labels ? `{${labels}}` : ""} ${value}`);
		};
		const labelled = (label: string, values: ReadonlyMap<string, number>) => [...values].map(([key, value]) => [`${label}="${key}"`, value] as const);
		const { frames, bytes, gaps, replayBytes } = this.feed;
		metric("sessions", "gauge", "Sessions by state.", labelled("state", sessions));
		metric("agent_starts_total", "counter", "Agents that were started.", [["", this.#starts]]);
		metric("agent_crashes_total", "counter", "Agents that ended without being asked.", [["", this.#crashes]]);
		lines.push("# HELP bowline_agent_start_seconds Time until an agent was ready.", "# TYPE bowline_agent_start_seconds histogram");
		for (const [index, bound] of startBuckets.entries()) lines.push(`bowline_agent_start_seconds_bucket{le="${bound}"} ${this.#startSeconds[index]}`);
		lines.push(
			`bowline_agent_start_seconds_bucket{le="+Inf"} ${this.#startCount}`,
			`bowline_agent_start_seconds_sum ${this.#startSum}`,
			`bowline_agent_start_seconds_count ${this.#startCount}`,
		);
		metric("connections", "gauge", "Open connections.", labelled("kind", connections));
		metric("frames_out_total", "counter", "Frames that were sent to readers.", [["", frames]]);
		metric("bytes_out_total", "counter", "Bytes that were sent to readers.", [["", bytes]]);
		metric("reader_lag_frames_max", "gauge", "How many frames the slowest reader is late.", [["", lag]]);
		metric("gaps_total", "counter", "Gaps reported to readers.", labelled("reason", gaps));
		metric("replay_bytes_total", "counter", "Bytes that were sent again from event logs.", [["", replayBytes]]);
		metric("auth_failures_total", "counter", "Requests without a valid token.", labelled("why", this.#authFailures));
		metric("requests_total", "counter", "Requests by route and status.", this.#requests);
		const seconds = (value: number) => (Number.isFinite(value) ? value / 1e9 : 0);
		metric("event_loop_delay_seconds", "gauge", "How late the event loop turns, since the last look.", [
			['q="0.5"', seconds(this.#delay?.percentile(50) ?? 0)],
			['q="0.99"', seconds(this.#delay?.percentile(99) ?? 0)],
			['q="1"', seconds(this.#delay?.max ?? 0)],
		]);
		if (this.#delay) this.#delay.reset();
		else void this.#measureDelay();
		metric("tokens_total", "counter", "Tokens of runs that ended.", [["", this.#tokens]]);
		metric("cost_usd_total", "counter", "Dollars of runs that ended.", [["", this.#cost]]);
		return `${lines.join("\n")}\n`;
	}
}
