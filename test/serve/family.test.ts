/** The clients of the family, unchanged, with another command: `bowline attach` instead of a process of their own. */
import { afterAll, beforeAll, describe, test } from "vitest";
import type { Client } from "../rpc/clients/client.ts";
import { FamilyClient, Omp18Client } from "../rpc/clients/family.ts";
import { EmacsClient, Pi15Client, PiClient } from "../rpc/clients/pi.ts";
import type { Door, Program } from "../rpc/clients/process.ts";
import { PythonClient } from "../rpc/clients/python.ts";
import { program, wholeSession } from "../rpc/clients/session.ts";
import { endServer, serve, type TestServer } from "./support.ts";

let server: TestServer;
let door: Door;

beforeAll(async () => {
	server = await serve({ isShared: true });
	door = { root: server.at.cwd, words: ["attach", "--new", "--mode", "rpc"], env: { HOME: server.at.user, BOWLINE_DIR: server.at.user } };
}, 60_000);
afterAll(() => endServer(server), 60_000);

const drives = (name: string, Kind: new (program: Program) => Client, ...flags: string[]) =>
	test(`${name} drives a whole session with ${flags.join(" ") || "no flag"}`, { timeout: 180_000 }, async () => {
		const client = new Kind({ ...program(flags), door });
		try {
			await wholeSession(client);
		} finally {
			await client.agent.dispose();
		}
	});

describe.concurrent("through attach", () => {
	drives("the client of pi 0.47", PiClient, "--dialect", "strict");
	drives("the client of pi 0.47", PiClient, "--dialect", "pi");
	drives("the client of pi 1.5", Pi15Client);
	drives("the client of pi 1.5", Pi15Client, "--dialect", "pi");
	drives("Emacs", EmacsClient, "--dialect", "pi", "--updates", "full");
	drives("the TypeScript client of omp", FamilyClient, "--interrupt-mode", "wait");
	drives("the client of omp 18", Omp18Client, "--dialect", "omp");
	drives("the Python client of omp", PythonClient, "--dialect", "omp");
	drives("a client that reads numbers", FamilyClient, "--seq");
});
