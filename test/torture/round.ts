/** One round: a plan is played and judged; a plan that finds something is made as short as it can be. */
import { check } from "./check.ts";
import type { Plan } from "./plan.ts";
import { type Played, play } from "./play.ts";
import { World } from "./world.ts";

export interface Round {
	plan: Plan;
	played: Played;
	problems: string[];
}

/** How a plan is played and judged. */
export type PlayRound = (root: string, plan: Plan) => Promise<Round>;

export async function round(root: string, plan: Plan): Promise<Round> {
	const world = new World();
	try {
		const played = await play(root, plan, world);
		return { plan, played, problems: check(played, world) };
	} finally {
		world.remove();
	}
}

/** The subject of a problem, without the names in it. */
const sortOf = (problem: string) => problem.replace(/["'`].*?["'`]|[/\w.-]*\d[/\w.-]*/g, "…").slice(0, 60);

/** Leaves out whatever is not needed for the same sort of problem, until time is up. */
export async function shortest(found: Round, root: string, withinMs: number, again: PlayRound = round): Promise<Round> {
	const deadline = performance.now() + withinMs;
	const sort = sortOf(found.problems[0] ?? "");
	let best = found;
	const isBetter = async (plan: Plan): Promise<boolean> => {
		if (performance.now() > deadline) return false;
		const tried = await again(root, plan);
		if (!tried.problems.some((problem) => sortOf(problem) === sort)) return false;
		best = tried;
		return true;
	};
	for (let size = Math.ceil(best.plan.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
		for (let at = 0; at < best.plan.steps.length && performance.now() < deadline; ) {
			const steps = best.plan.steps.toSpliced(at, size);
			if (!(await isBetter({ ...best.plan, steps }))) at += size;
		}
	}
	for (let at = best.plan.replies.length - 1; at >= 0; at--) {
		const { replies } = best.plan;
		if (await isBetter({ ...best.plan, replies: replies.toSpliced(at, 1) })) continue;
		await isBetter({ ...best.plan, replies: replies.with(at, { words: 1, calls: [], ending: { kind: "end" } }) });
	}
	for (const at of (best.plan.approvals ?? []).keys()) {
		const approvals = best.plan.approvals?.toSpliced(at, 1);
		if (approvals?.length) await isBetter({ ...best.plan, approvals });
	}
	if (best.plan.flags.length) await isBetter({ ...best.plan, flags: [] });
	if (best.plan.model !== "scripted") await isBetter({ ...best.plan, model: "scripted" });
	return best;
}

/** Everything that a person needs to understand and repeat it. */
export function report({ plan, played, problems }: Round): string {
	const lines = [`seed ${plan.seed}`, ...problems.map((problem) => `  ${problem}`), "plan:", JSON.stringify(plan), "trace:"];
	for (const [index, { trace, pid, stderr }] of played.lives.entries()) {
		const began = trace[0]?.at ?? 0;
		lines.push(`process ${index + 1} (${pid})`);
		for (const { at, way, frame } of trace) lines.push(`${(at - began).toFixed(0).padStart(7)} ${way} ${JSON.stringify(frame).slice(0, 400)}`);
		if (stderr) lines.push(`stderr: ${stderr.slice(-3000)}`);
	}
	return lines.join("\n");
}
