/**
 * The order of commands. Serial ones run one after another, background ones start in order, interrupts run at once. While the host does not
 * read, no further command starts; above a bound its input is paused.
 */
interface Job {
	/** Starts the work; a promise only if it takes its time. */
	run: () => void | Promise<void>;
	/** Whether the jobs after it wait for its end. */
	holdsLane: boolean;
	size: number;
	/** An abort that is read while it waits ends it: it then need not wait any longer. */
	isAbortable: boolean;
}

export interface LaneFlow {
	flow: {
		readonly isOpen: boolean;
		whenOpen(): Promise<void>;
		/** Bytes (roughly) that the host has not taken yet. */
		readonly waiting: number;
	};
	/** Asks the sender of commands to pause, or to go on. */
	pauseInput?: (paused: boolean) => void;
}

/** Above this many bytes of commands that have not started and of answers that wait, input is paused. */
const maxUnhandled = 32 * 1024 * 1024;
/** What a command costs while it waits, besides its text: half of it is the room that the garbage collector takes. */
const jobOverhead = 512;

export class Lanes {
	#out: LaneFlow;
	#jobs: Job[] = [];
	#isLaneHeld = false;
	#isPumping = false;
	#isWaitingForRoom = false;
	#unhandled = 0;
	#isPaused = false;
	#open = new Set<Promise<void>>();

	constructor(out: LaneFlow) {
		this.#out = out;
	}

	/** Starts work in its turn. `size`: what it costs in bytes while it waits. */
	enqueue(run: () => void | Promise<void>, holdsLane: boolean, size = 0, isAbortable = false): void {
		// Nearly every command starts at once.
		if (this.#jobs.length === 0 && !this.#isPumping && !this.#isLaneHeld && this.#out.flow.isOpen) {
			this.#isPumping = true;
			this.#start(run, holdsLane);
			this.#isPumping = false;
			if (this.#jobs.length) this.#pump();
			return;
		}
		this.#jobs.push({ run, holdsLane, size, isAbortable });
		this.#count(size + jobOverhead);
		this.#pump();
	}

	/** Starts what an abort ends and what still waits. Returns whether there was any. */
	releaseAborted(): boolean {
		// While the pump runs, it holds on to its list; what waits then starts in a moment anyway.
		const released = this.#isPumping ? [] : this.#jobs.filter(({ isAbortable }) => isAbortable);
		if (released.length === 0) return false;
		this.#jobs = this.#jobs.filter(({ isAbortable }) => !isAbortable);
		for (const { run, size } of released) {
			this.#count(-size - jobOverhead);
			this.track(run());
		}
		return true;
	}

	/** Serial and background commands wait for this. */
	hold(until: Promise<void>): void {
		this.enqueue(() => until, true);
	}

	/** Runs work in its turn among the serial commands. The lane continues whether it succeeds or not. */
	inTurn<T>(work: () => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			this.enqueue(async () => {
				await work().then(resolve, reject);
			}, true);
		});
	}

	/** Counts work as open until it has ended. */
	track(work: void | Promise<void>): void {
		if (!work) return;
		this.#open.add(work);
		void work.then(() => this.#open.delete(work));
	}

	/** The host may have taken, or been given, more to read. */
	weigh(): void {
		this.#count(0);
	}

	/** Resolves when all work has ended. */
	async finished(): Promise<void> {
		while (this.#jobs.length || this.#open.size) {
			this.#pump();
			await (this.#open.size ? Promise.race(this.#open) : this.#out.flow.whenOpen());
		}
	}

	#pump(): void {
		if (this.#isPumping) return;
		this.#isPumping = true;
		let done = 0;
		while (done < this.#jobs.length && !this.#isLaneHeld && this.#hasRoom()) {
			const job = this.#jobs[done++] as Job;
			this.#count(-job.size - jobOverhead);
			this.#start(job.run, job.holdsLane);
		}
		if (done) this.#jobs = this.#jobs.slice(done);
		this.#isPumping = false;
	}

	#start(run: Job["run"], holdsLane: boolean): void {
		const work = run();
		if (!work) return;
		this.track(work);
		if (!holdsLane) return;
		this.#isLaneHeld = true;
		void work.then(() => {
			this.#isLaneHeld = false;
			this.#pump();
		});
	}

	/** Whether another command may start now. If not, the lane continues when the host has read enough. */
	#hasRoom(): boolean {
		const { flow } = this.#out;
		if (flow.isOpen) return true;
		if (!this.#isWaitingForRoom) {
			this.#isWaitingForRoom = true;
			void flow.whenOpen().then(() => {
				this.#isWaitingForRoom = false;
				this.#pump();
			});
		}
		return false;
	}

	#count(bytes: number): void {
		this.#unhandled += bytes;
		const { flow, pauseInput } = this.#out;
		if (!pauseInput) return;
		const mustPause = this.#unhandled + flow.waiting > maxUnhandled;
		if (mustPause === this.#isPaused) return;
		this.#isPaused = mustPause;
		pauseInput(mustPause);
		// Answers leave without any command: look again when there is room.
		if (mustPause) void flow.whenOpen().then(() => this.#count(0));
	}
}
