/** The flags that only `bowline fleet` has. Not in the table of all flags, which every start loads. */
import type { Flag } from "../protocol/flags.ts";

export const fleetFlags = {
	repo: { value: "url|path", doc: "Of submit: the repository" },
	ref: { value: "ref", doc: "Of submit: a branch, a tag or a commit (default: the repository's HEAD)" },
	subdir: { value: "path", doc: "Of submit: where in the repository the agent works" },
	prompt: { value: "text", doc: "Of submit: what to do; - reads it from stdin" },
	"prompt-file": { value: "file", doc: "Of submit: a file with what to do" },
	from: { value: "file", doc: "Of submit: runs as lines of JSON" },
	key: { value: "key", doc: "Of submit: the same key gives the same run, however often it is sent" },
	lane: { value: "lane", repeats: true, doc: "Of submit and status: the lane. Of work: only these lanes" },
	priority: { value: "n", doc: "Of submit: -100 to 100; higher ones go first" },
	needs: { value: "label", repeats: true, doc: "Of submit: a label that the worker must have" },
	batch: { value: "name", doc: "Of submit, status and cancel: a name for many runs" },
	verify: { value: "profile|command", doc: "Of submit: a profile of the workers' settings, or a command that must succeed" },
	deliver: { value: "how", doc: "Of submit: patch (default), or branch: push the work" },
	setup: { value: "command", repeats: true, doc: "Of submit: prepares the checkout" },
	env: { value: "name", repeats: true, doc: "Of submit: a variable of the worker that the agent's commands see" },
	usd: { value: "n", doc: "Of submit: the run's ceiling in dollars. Of budgets set: the budget's" },
	tokens: { value: "n", doc: "The same in tokens" },
	wall: { value: "time", doc: "Of submit: the longest time, such as 30m" },
	budget: { value: "name", doc: "Of submit: the fleet's budget that pays" },
	wait: { doc: "Of submit: wait for the results; the exit code says how it went" },
	slots: { value: "n", doc: "Of work: runs at once (default: fleet.slots)" },
	label: { value: "label", repeats: true, doc: "Of work: a label of this worker" },
	once: { doc: "Of work: end when there is nothing left to do" },
	watch: { doc: "Of status: a table that follows what happens" },
	follow: { short: "f", doc: "Of logs: go on until the run has ended" },
	after: { value: "n", doc: "Of logs: only what follows this line of the conversation; with --json, frames with a higher number" },
	limit: { value: "n", doc: "Of status: how many runs (default: 50)" },
	patch: { doc: "Of result: print the patch" },
	receipt: { doc: "Of result: print the receipt" },
	apply: { doc: "Of result: apply the patch to a clean working tree, here or in the directory that follows" },
	max: { value: "n", doc: "Of lanes set: runs at once" },
	pause: { value: "time", doc: "Of lanes set and rates set: nothing new for so long; 0 ends a lane's pause" },
	rpm: { value: "n", doc: "Of rates set: requests per minute of the whole fleet; none removes it" },
	tpm: { value: "n", doc: "Of rates set: tokens per minute of the whole fleet; none removes it" },
	days: { value: "n", doc: "Of prune: keep logs of so many days (default: fleet.keepDays)" },
	roles: { doc: "Of init: print statements that make roles for less than everything" },
} as const satisfies Record<string, Flag>;

type Value<F> = F extends { repeats: true } ? string[] : F extends { value: string } ? string : true;
export type FleetOptions = { [Name in keyof typeof fleetFlags]?: Value<(typeof fleetFlags)[Name]> };
