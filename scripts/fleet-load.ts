/** `npm run fleet-load -- [--clients 32] [--seconds 5]`: how much of each statement a PostgreSQL on this machine does per second. */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { initialise, openPostgresQueue } from "../src/fleet/postgres/queue.ts";
import type { Claim, Submission, WorkerFacts } from "../src/fleet/queue.ts";
import { startCluster } from "../test/fleet/cluster.ts";

const { values } = parseArgs({ options: { clients: { type: "string", default: "32" }, seconds: { type: "string", default: "5" } } });
const clients = Number(values.clients);
const cluster = await startCluster({ durable: true });
try {
	const url = await cluster.database();
	await initialise({ url, schema: "bowline_fleet" });
	const queue = await openPostgresQueue({ url, schema: "bowline_fleet", connections: clients, listen: false });
	const facts: WorkerFacts[] = Array.from({ length: clients }, (_, index) => ({ id: `w${index}`, host: "here", labels: [], slots: 1, version: "1" }));
	for (const worker of facts) await queue.register(worker);
	const submission = (key: string): Submission => ({
		key,
		spec: { repo: { url: "/r" }, prompt: "x".repeat(200) },
		lane: "default",
		priority: 0,
		needs: [],
		maxAttempts: 5,
	});

	/** Every client asks again and again. */
	const measure = async (name: string, act: (client: number) => Promise<boolean>) => {
		const end = performance.now() + Number(values.seconds) * 1000;
		const start = performance.now();
		let count = 0;
		await Promise.all(
			facts.map(async (_, client) => {
				while (performance.now() < end && (await act(client))) count++;
			}),
		);
		console.log(`${name}: ${Math.round((count / (performance.now() - start)) * 1000)} per second`);
	};

	const submitting = performance.now();
	await queue.submit(Array.from({ length: 10_000 }, (_, index) => submission(`k${index}`)));
	console.log(`submissions, 500 in a transaction: ${Math.round(10_000 / ((performance.now() - submitting) / 1000))} per second`);
	await measure("claims with their results, one lane", async (client) => {
		const claim = await queue.claim(facts[client] as WorkerFacts);
		return claim !== undefined && queue.finish(claim, { status: "completed", receipt: {} });
	});
	await queue.submit(Array.from({ length: clients }, (_, index) => submission(`c${index}`)));
	const claims = await Promise.all(facts.map((worker) => queue.claim(worker) as Promise<Claim>));
	const lines = claims.map(() => 0);
	const body = "y".repeat(2000);
	await measure("commits of three lines, 6 KB", async (client) => {
		const from = lines[client] as number;
		lines[client] = from + 3;
		const answer = await queue.commit(claims[client] as Claim, { from: { session: from, events: 0 }, session: [body, body, body], events: [] });
		return answer !== "fenced";
	});
	await measure("renewals, through one connection", async (client) => (await queue.renew(`w${client}`)) !== "gone");
	const looking = performance.now();
	await queue.list({ limit: 50 });
	await queue.count({});
	console.log(`status of 10,000 runs: ${Math.round(performance.now() - looking)} ms`);
	console.log(`load average: ${loadavg()[0]?.toFixed(1)}, ${clients} clients`);
	await queue.close();
} finally {
	await cluster.remove();
}
