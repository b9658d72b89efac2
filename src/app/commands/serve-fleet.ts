/** The fleet's queue for `bowline serve --fleet`: its refusals become answers over HTTP. */

import { randomBytes } from "node:crypto";
import { isAbsolute } from "node:path";
import { openQueue } from "../../fleet/open.ts";
import { queueErrorCode } from "../../fleet/queue.ts";
import { readSubmission, SpecError, toSubmission } from "../../fleet/spec.ts";
import type { Workspace } from "../../live/workspace.ts";
import type { FleetRun } from "../../protocol/serve.ts";
import type { Fleet } from "../../serve/fleet/source.ts";
import { Refusal } from "../../serve/refusal.ts";
import { queuePlaceOf } from "../queue-place.ts";

function refusalOf(error: unknown): unknown {
	if (error instanceof SpecError) return new Refusal("bad_field", error.message, { status: 422 });
	const code = queueErrorCode(error);
	return code === undefined ? error : new Refusal(code, (error as Error).message);
}

async function asked<T>(work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (error) {
		throw refusalOf(error);
	}
}

/** Relative to what? A path must be the same for the server and the workers. */
function checkPlace(url: string): void {
	const isRemote = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) || /^[^/]+:/.test(url);
	if (!isRemote && !isAbsolute(url)) throw new SpecError("run.repo.url must be a url, or a path in full.");
}

export async function fleetOf(workspace: Workspace): Promise<Fleet> {
	const queue = await openQueue({ ...queuePlaceOf(workspace), connections: 4 });
	const maxAttempts = workspace.settings.get("fleet.maxAttempts");
	const random = () => randomBytes(8).toString("hex");
	return {
		name: queue.name,
		async submit(body, key) {
			return asked(
				(async () => {
					const input = readSubmission(body);
					checkPlace(input.repo.url);
					const [submitted] = await queue.submit([toSubmission({ ...(key === undefined ? {} : { key }), ...input }, { maxAttempts, random })]);
					return submitted as { runId: string; fresh: boolean };
				})(),
			);
		},
		async cancel(runId) {
			await asked(queue.cancel({ ids: [runId] }));
		},
		list: (filter) => asked(queue.list(filter)) as unknown as Promise<FleetRun[]>,
		count: (filter) => asked(queue.count(filter)) as Promise<Record<string, number>>,
		result: (runId) => asked(queue.result(runId)),
		lines: (runId, file, after, limit) => asked(queue.lines(runId, file, after, limit)),
		takeovers: (runId) => asked(queue.takeovers(runId)),
		workers: () => asked(queue.workers()),
		lanes: () => asked(queue.lanes()),
		close: () => queue.close(),
	};
}
