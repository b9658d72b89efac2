/** A private PostgreSQL in a folder of its own, on a unix socket; none where it is not installed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

/** Where the programs of the server are. */
export function postgresPrograms(): string | undefined {
	const debian = "/usr/lib/postgresql";
	const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
	const places = [...versions.map((version) => join(debian, version, "bin")), ...(process.env.PATH ?? "").split(":")];
	return places.find((place) => existsSync(join(place, "initdb")) && existsSync(join(place, "postgres")));
}

/** Postgres refuses to run as root. */
function otherUser(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	for (const name of ["postgres", "nobody"]) {
		const line = readFileSync("/etc/passwd", "utf8")
			.split("\n")
			.find((each) => each.startsWith(`${name}:`));
		const [, , uid, gid] = line?.split(":") ?? [];
		if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
	}
	throw new Error("There is no user postgres or nobody to run PostgreSQL as.");
}

export interface Cluster {
	/** Another database of its own with every call, empty or with what another one holds. */
	database(like?: string): Promise<string>;
	/** As a crash: nothing is written down before it ends. */
	crash(): Promise<void>;
	start(): Promise<void>;
	remove(): Promise<void>;
	/** Its tcp port, for tests that stand in between. */
	port: number;
	/** The certificate, where it speaks TLS. */
	certificate: string;
}

export interface ClusterOptions {
	/** For tests of crashes. */
	durable?: boolean;
	/** Speaks TLS, too, with a certificate for `localhost` that it signs itself. */
	tls?: boolean;
}

export async function startCluster({ durable = false, tls = false }: ClusterOptions = {}): Promise<Cluster> {
	const programs = postgresPrograms();
	if (programs === undefined) throw new Error("PostgreSQL is not installed.");
	const folder = mkdtempSync(join(tmpdir(), "bl-pg-"));
	const user = otherUser();
	const data = join(folder, "data");
	mkdirSync(data, { mode: 0o700 });
	if (user) for (const each of [folder, data]) chownSync(each, user.uid, user.gid);
	const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
	execFileSync(join(programs, "initdb"), ["-D", data, "-U", "bowline", "-A", "trust", "-N", "--locale=C", "-E", "UTF8"], {
		...user,
		env,
		cwd: folder,
		stdio: "pipe",
	});
	const certificate = join(folder, "server.crt");
	if (tls) {
		const key = join(folder, "server.key");
		const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"];
		execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, ...subject], { stdio: "pipe" });
		chmodSync(key, 0o600);
		if (user) for (const each of [key, certificate]) chownSync(each, user.uid, user.gid);
	}
	const fast = durable ? [] : ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
	const settings = [
		"listen_addresses='127.0.0.1'",
		"port=0",
		`unix_socket_directories='${folder}'`,
		"max_connections=200",
		"shared_buffers=32MB",
		"logging_collector=off",
		...(tls ? ["ssl=on", `ssl_cert_file='${certificate}'`, `ssl_key_file='${join(folder, "server.key")}'`] : []),
		...fast,
	];
	const port = await freePort();
	settings[1] = `port=${port}`;
	writeFileSync(join(data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
	let server: ChildProcess | undefined;
	const url = (name: string) => `postgres://bowline@127.0.0.1:${port}/${name}`;

	const serve = () => spawn(join(programs as string, "postgres"), ["-D", data], { ...user, env, cwd: folder, stdio: "ignore" });
	/** A test process that ends early takes the server with it. */
	const clear = () => {
		server?.kill("SIGQUIT");
		rmSync(folder, { recursive: true, force: true });
	};
	process.once("exit", clear);

	async function start(): Promise<void> {
		server = serve();
		const deadline = Date.now() + 60_000;
		for (;;) {
			const client = new pg.Client({ connectionString: url("postgres") });
			client.on("error", () => undefined);
			try {
				await client.connect();
				await client.end();
				return;
			} catch (error) {
				if (Date.now() > deadline) throw new Error(`PostgreSQL does not start: ${(error as Error).message}`);
				await new Promise((resolve) => setTimeout(resolve, 100));
				// Its port was taken for a moment, or the memory of the one before is not free yet.
				if (server.exitCode !== null) server = serve();
			}
		}
	}

	async function stop(signal: NodeJS.Signals): Promise<void> {
		const gone = server;
		if (!gone || gone.exitCode !== null || gone.signalCode !== null) return;
		const exited = new Promise((resolve) => gone.once("exit", resolve));
		gone.kill(signal);
		await exited;
	}

	try {
		await start();
	} catch (error) {
		clear();
		throw error;
	}
	let databases = 0;
	return {
		port,
		certificate,
		async database(like) {
			const name = `fleet_${++databases}`;
			const client = new pg.Client({ connectionString: url("postgres") });
			await client.connect();
			const from = like === undefined ? "template1" : new URL(like).pathname.slice(1);
			await client.query(`create database ${name} template ${from}`);
			await client.end();
			return url(name);
		},
		crash: () => stop("SIGQUIT"),
		start,
		async remove() {
			await stop("SIGQUIT");
			process.off("exit", clear);
			rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
		},
	};
}

async function freePort(): Promise<number> {
	const { createServer } = await import("node:net");
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as { port: number };
	await new Promise((resolve) => server.close(resolve));
	return port;
}
