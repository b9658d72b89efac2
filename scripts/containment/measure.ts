/** Plays many cases and tasks in many configurations, a few at a time. */
import type { Case, ClassName, Task } from "./case.ts";
import type { Configuration } from "./configurations.ts";
import { Ground } from "./jail.ts";
import { control, controlTask, type Outcome, play, playTask } from "./play.ts";

export interface EffectResult {
	case: string;
	effect: string;
	class: ClassName;
	configuration: string;
	outcome: Outcome;
}

export interface TaskResult {
	task: string;
	configuration: string;
	works: boolean;
}

export interface Measured {
	effects: EffectResult[];
	tasks: TaskResult[];
	/** Effects and tasks that do not happen here even without the program. They count nowhere. */
	without: string[];
	/** Plays that did not come to their end, and why. */
	troubles: string[];
}

export interface Wanted {
	/** The program's entry file. */
	program: string;
	cases: readonly Case[];
	tasks: readonly Task[];
	configurations: readonly Configuration[];
	/** How many are played at once. */
	jobs: number;
	onDone?: (line: string) => void;
}

export const nothingYet = (): Measured => ({ effects: [], tasks: [], without: [], troubles: [] });

/** Adds to `measured` as it goes. */
export async function measure({ program, cases, tasks, configurations, jobs, onDone }: Wanted, measured: Measured = nothingYet()): Promise<Measured> {
	const ground = new Ground();
	const trouble = (name: string, configuration: string, why: string | undefined) => {
		if (why !== undefined) measured.troubles.push(`${name} (${configuration}): ${why}`);
	};
	const ofCase = async (each: Case) => {
		const happen = new Set(await control(ground, each));
		measured.without.push(...Object.keys(each.effects).flatMap((effect) => (happen.has(effect) ? [] : [`${each.name}: ${effect}`])));
		for (const configuration of happen.size > 0 ? configurations : []) {
			const { outcomes, trouble: why } = await play(program, ground, each, configuration);
			trouble(each.name, configuration.name, why);
			for (const [effect, outcome] of Object.entries(outcomes)) {
				if (!happen.has(effect)) continue;
				measured.effects.push({ case: each.name, effect, class: each.class, configuration: configuration.name, outcome });
				if (outcome === "out") onDone?.(`${configuration.name}: out: ${each.name}: ${effect}`);
			}
		}
	};
	const ofTask = async (task: Task) => {
		if (!(await controlTask(ground, task))) return void measured.without.push(task.name);
		for (const configuration of configurations) {
			const { works, trouble: why } = await playTask(program, ground, task, configuration);
			trouble(task.name, configuration.name, why);
			measured.tasks.push({ task: task.name, configuration: configuration.name, works });
			if (!works) onDone?.(`${configuration.name}: does not work: ${task.name}`);
		}
	};
	const failed = (name: string) => (error: unknown) => trouble(name, "control", String(error));
	const queue = [
		...cases.map((each) => () => ofCase(each).catch(failed(each.name))),
		...tasks.map((task) => () => ofTask(task).catch(failed(task.name))),
	];
	try {
		await Promise.all(
			Array.from({ length: jobs }, async () => {
				for (let next = queue.shift(); next; next = queue.shift()) await next();
			}),
		);
	} finally {
		ground.close();
	}
	return measured;
}
