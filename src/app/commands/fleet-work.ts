/** `bowline fleet work`: puts a worker together from the settings of this machine, and runs it until it is drained. */
import { cpus, hostname } from "node:os";
import { join } from "node:path";
import { Mirrors } from "../../fleet/checkout.ts";
import { listenFor } from "../../fleet/file/control.ts";
import { ownFileQueue } from "../../fleet/file/queue.ts";
import { checkLease } from "../../fleet/lease.ts";
import type { QueuePlace } from "../../fleet/open.ts";
import { type Claim, QueueError, type RunQueue } from "../../fleet/queue.ts";
import type { RunParts, RunShells } from "../../fleet/run.ts";
import { Worker } from "../../fleet/worker.ts";
import { printableLine } from "../../lib/printable.ts";
import { redactor } from "../../lib/redact.ts";
import { Shell } from "../../lib/shell/index.ts";
import { UsageError } from "../../lib/usage-error.ts";
import { version } from "../../lib/version.ts";
import { Models } from "../../live/models.ts";
import { Secrets } from "../../live/secrets.ts";
import { Shells } from "../../live/shells.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import { Git } from "../../snapshots/git.ts";
import { type RunSandbox, runSandbox } from "./fleet-sandbox.ts";
import { agentSettings, workerSettings } from "./fleet-settings.ts";

export interface WorkFlags {
	slots?: number;
	labels: readonly string[];
	lanes?: readonly string[];
	once: boolean;
}

/** The queue's credentials are not for agents, and neither is a second source of settings: they get the worker's settings in a file. */
const ownVariables = /^(PG[A-Z]|BOWLINE_SETTINGS$)/;

export async function runWorker(workspace: Workspace, place: QueuePlace, flags: WorkFlags): Promise<void> {
	const { settings, userDirectory, env } = workspace;
	const lease = { leaseMs: settings.get("fleet.leaseMs"), renewMs: settings.get("fleet.renewMs") };
	const problem = checkLease(lease);
	if (problem !== undefined) throw new UsageError(problem);
	const slots = flags.slots ?? settings.get("fleet.slots") ?? Math.max(1, Math.floor(cpus().length / 2));
	if (!Number.isInteger(slots) || slots < 1) throw new UsageError(`--slots must be a whole number, 1 or more, not ${slots}.`);
	const log = (text: string) => void process.stderr.write(`${new Date().toISOString()} ${printableLine(text)}\n`);
	const environment = Object.fromEntries(Object.entries(env).filter(([name]) => !ownVariables.test(name)));
	const agentShell = new Shell({ cwd: userDirectory, environment: () => environment, redact: redactor(() => []) });
	const git = new Git({ shell: async () => agentShell, environment: () => environment }, "/");
	const directory = join(userDirectory, "fleet-work");
	const cache = settings.get("fleet.cacheDir") ?? join(userDirectory, "cache", "git");
	const settingsWith = (own: RunSandbox["settings"]) => workerSettings(settings, { sandbox: own, mirror: cache });
	// Before the queue is opened, so that a worker that must not start holds nothing.
	const sandbox = await runSandbox({ workspace, git, environment, directory, settingsWith });
	log(sandbox.text);
	const { queue, close } = await openForWork(place, slots);
	const worker = new Worker({
		queue,
		facts: {
			host: hostname(),
			labels: [...new Set([`os:${process.platform}`, ...(sandbox.isProven ? ["sandbox"] : []), ...flags.labels])],
			...(flags.lanes ? { lanes: flags.lanes } : {}),
			slots,
			version,
		},
		...lease,
		drainMs: settings.get("fleet.drainMs"),
		directory,
		once: flags.once,
		log,
		parts: {
			git,
			mirrors: new Mirrors(git, cache, settings.get("fleet.cacheBytes")),
			agentShell,
			program: [process.execPath, process.argv[1] as string],
			settingsOf: ({ mirror, spec }) => agentSettings(settings, { sandbox: sandbox.settings, mirror, wished: spec.settings, variables: spec.env }),
			environmentOf: ({ claim }) => environmentOf(workspace, environment, claim),
			shellsOf,
			verification: {
				enabled: false,
				requireForIsolated: false,
				defaultProfile: settings.get("task.verification.defaultProfile"),
				maxRetries: settings.get("task.verification.maxRetries"),
				profiles: settings.get("task.verification.profiles"),
				failureContextLineLimit: settings.get("task.verification.failureContextLineLimit"),
			},
			limits: { stallMs: settings.get("fleet.stallMs"), patchBytes: settings.get("fleet.patchBytes"), commitEveryMs: 2000 },
			worker: { host: hostname(), version },
			log,
		},
	});
	const drain = () => worker.drain();
	process.on("SIGTERM", drain);
	process.on("SIGINT", drain);
	try {
		await worker.run();
	} finally {
		await agentShell.close();
		await close();
	}
}

async function openForWork({ url, schema, directory }: QueuePlace, slots: number): Promise<{ queue: RunQueue; close(): Promise<void> }> {
	if (url !== undefined) {
		const { openPostgresQueue } = await import("../../fleet/postgres/queue.ts");
		const queue = await openPostgresQueue({ url, schema, connections: Math.min(20, slots + 2) });
		return { queue, close: () => queue.close() };
	}
	const start = performance.now();
	for (;;) {
		const owned = ownFileQueue(directory);
		if ("queue" in owned) {
			const server = await listenFor(owned.queue, directory);
			return {
				queue: owned.queue,
				async close() {
					server.close();
					owned.release();
				},
			};
		}
		// A command that asks something has it for a moment; a worker keeps it.
		if (performance.now() - start > 3000)
			throw new QueueError(
				"owned",
				`Process ${owned.holder ?? "?"} works on the fleet in ${directory}. One worker at a time works there, with as many --slots as you like; for more set fleet.url.`,
			);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

/** A variable of the allow-list is given to the runs that name it, and to no others. */
function environmentOf(
	{ settings }: Workspace,
	environment: Record<string, string | undefined>,
	{ runId, epoch, spec }: Claim,
): ReturnType<RunParts["environmentOf"]> {
	const allowed = settings.get("fleet.env.allow");
	const refused = (spec.env ?? []).filter((name) => !allowed.includes(name));
	if (refused.length > 0)
		return { problem: `The run asks for ${refused.join(", ")}, which this worker does not give out. Add it to fleet.env.allow there.` };
	const hidden = new Set(allowed.filter((name) => !spec.env?.includes(name)));
	const visible = Object.entries(environment).filter(([name]) => !hidden.has(name));
	return { environment: { ...Object.fromEntries(visible), BOWLINE_RUN_ID: runId, BOWLINE_RUN_EPOCH: String(epoch) } };
}

/** Commands of setup and verification see what the agent's commands see. */
async function shellsOf({ cwd, environment, settings }: Parameters<RunParts["shellsOf"]>[0]): Promise<RunShells> {
	const env = { ...environment, BOWLINE_SETTINGS: JSON.stringify(settings) } as NodeJS.ProcessEnv;
	const workspace = await openWorkspace({ options: { hermetic: true }, isRpc: true, cwd, env });
	await workspace.sandbox?.open();
	const models = new Models(workspace, {}, () => undefined);
	const secrets = new Secrets(() => models.registry(), models.knownSecrets);
	const shells = new Shells(workspace, secrets, () => ({}));
	return {
		outside: () => shells.hostShell(),
		inside: () => shells.shell(),
		async close() {
			await shells.close(async () => undefined);
			await workspace.sandbox?.close();
			await models.close();
		},
	};
}
