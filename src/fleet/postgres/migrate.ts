/** The tables, and how they come to be: each step is applied once, in order, under a lock of the whole database. */
import type { ClientBase } from "pg";
import { QueueError } from "../queue.ts";

/** Its first number changes when older workers must not go on. */
export const schemaVersion = { major: 1, minor: 3 } as const;

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** One list of statements per minor version. `s` is the schema. */
const steps: readonly ((s: string) => string)[] = [
	(s) => `
create table ${s}.lane (name text primary key, max_running int not null default 1000000,
  running int not null default 0 check (running >= 0), paused_until timestamptz not null default '-infinity') with (fillfactor = 50);
create table ${s}.budget (id text primary key, max_usd numeric, max_tokens bigint, spent_usd numeric not null default 0, spent_tokens bigint not null default 0,
  held_usd numeric not null default 0, held_tokens bigint not null default 0) with (fillfactor = 50);
create table ${s}.worker (id text primary key, host text not null, labels text[] not null, slots int not null, version text not null,
  started_at timestamptz not null default now(), seen_at timestamptz not null default now(), draining boolean not null default false,
  gone boolean not null default false) with (fillfactor = 50);
create table ${s}.run (id text primary key, day date not null default current_date, key text not null unique, key_digest bytea not null, batch text,
  lane text not null references ${s}.lane, priority smallint not null default 0,
  state text not null default 'queued' check (state in ('queued','running','parked','done')),
  epoch int not null default 0, attempts int not null default 0, max_attempts int not null default 5, available_at timestamptz not null default now(),
  worker text references ${s}.worker, cancel_at timestamptz, needs text[] not null default '{}', budget text references ${s}.budget, spec text not null,
  session_lines bigint not null default 0, event_lines bigint not null default 0, usd numeric not null default 0, tokens bigint not null default 0,
  why text, created_at timestamptz not null default now(), started_at timestamptz, finished_at timestamptz) with (fillfactor = 70);
create index run_ready on ${s}.run (lane, priority desc, id) where state = 'queued';
create index run_order on ${s}.run (priority desc, id) where state = 'queued';
create index run_held on ${s}.run (worker) where state = 'running';
create index run_batch on ${s}.run (batch, id);
create table ${s}.log (day date not null, run_id text not null, file smallint not null, line bigint not null, epoch int not null, body text not null,
  primary key (day, run_id, file, line)) partition by range (day);
create table ${s}.checkpoint (day date not null, run_id text not null, n int not null, epoch int not null, session_lines bigint not null,
  event_lines bigint not null, tree text not null, patch bytea not null, primary key (day, run_id, n)) partition by range (day);
create table ${s}.takeover (run_id text not null references ${s}.run, epoch int not null, worker text not null, session_cut bigint not null,
  event_cut bigint not null, session_from bigint not null, event_from bigint not null, at timestamptz not null default now(), primary key (run_id, epoch));
create table ${s}.result (run_id text primary key references ${s}.run, epoch int not null, status text not null, patch bytea, receipt text not null,
  finished_at timestamptz not null default now());
create table ${s}.hold (run_id text primary key references ${s}.run, epoch int not null, budget text not null references ${s}.budget,
  usd numeric not null, tokens bigint not null);
create table ${s}.rate (provider text primary key, rpm int, tpm int, paused_until timestamptz not null default '-infinity');
alter table ${s}.run set (autovacuum_vacuum_scale_factor = 0.02);
insert into ${s}.lane (name) values ('default');`,
	// Workers make partitions, and need no right to make other tables for it.
	(s) => `
create function ${s}.make_partitions(label text, first date, next date) returns void language plpgsql security definer set search_path = pg_catalog as $body$
begin
  execute format('create table if not exists ${forFormat(s)}.%I partition of ${forFormat(s)}.log for values from (%L) to (%L)', 'log_' || label, first, next);
  execute format('create table if not exists ${forFormat(s)}.%I partition of ${forFormat(s)}.checkpoint for values from (%L) to (%L)', 'checkpoint_' || label, first, next);
end $body$;
revoke execute on function ${s}.make_partitions(text, date, date) from public;
do $body$ begin
  alter table ${s}.log alter column body set compression lz4;
exception when feature_not_supported then null;
end $body$;`,
	// How many runs a worker held when it died, and how often a run has shared such a worker.
	(s) => `
alter table ${s}.worker add column held int;
alter table ${s}.run add column shared_deaths int not null default 0;`,
];

/** Inside of a text, as a pattern of `format`. */
function forFormat(name: string): string {
	return name.replaceAll("'", "''").replaceAll("%", "%%").replaceAll("$body$", "");
}

/** Names of this fleet's locks: two fleets in one database do not wait for each other. */
export const lockKey = (schema: string, what: string) => `bowline fleet ${schema} ${what}`;

/** Creates what is missing, and says what it did. */
export async function migrate(client: ClientBase, schema: string): Promise<string[]> {
	const s = quoted(schema);
	const done: string[] = [];
	await client.query("begin");
	try {
		await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [lockKey(schema, "migrate")]);
		const existing = await client.query("select 1 from pg_namespace where nspname = $1", [schema]);
		if (existing.rowCount === 0) {
			await client.query(`create schema ${s}`);
			done.push(`created schema ${schema}`);
		}
		await client.query(`create table if not exists ${s}.meta (major int not null, minor int not null)`);
		const found = await versionOf(client, schema);
		if (found && found.major !== schemaVersion.major) throw otherVersion(schema, found.major);
		const from = found?.minor ?? 0;
		for (let minor = from; minor < schemaVersion.minor; minor++) {
			await client.query((steps[minor] as (s: string) => string)(s));
			done.push(`applied step ${minor + 1}`);
		}
		if (!found) await client.query(`insert into ${s}.meta values ($1, $2)`, [schemaVersion.major, schemaVersion.minor]);
		else if (from < schemaVersion.minor) await client.query(`update ${s}.meta set minor = $1`, [schemaVersion.minor]);
		const days = await makePartitions(client, schema);
		if (days > 0) done.push(`made partitions for ${days} days`);
		await client.query("commit");
	} catch (error) {
		await client.query("rollback");
		throw error;
	}
	return done;
}

async function versionOf(client: ClientBase, schema: string): Promise<{ major: number; minor: number } | undefined> {
	const { rows } = await client.query(`select major, minor from ${quoted(schema)}.meta`);
	return rows[0] as { major: number; minor: number } | undefined;
}

function otherVersion(schema: string, major: number): QueueError {
	return new QueueError(
		"other_version",
		`The schema ${schema} is of version ${major}, and this program works with version ${schemaVersion.major}. Use a program of that version, or another fleet.schema.`,
	);
}

/** Refuses a schema that is missing or of another major version. */
export async function checkVersion(client: ClientBase, schema: string): Promise<void> {
	let found: { major: number; minor: number } | undefined;
	try {
		found = await versionOf(client, schema);
	} catch (error) {
		// No such schema, or no such table.
		if (!["3F000", "42P01"].includes((error as { code?: string }).code ?? "")) throw error;
	}
	if (!found) throw new QueueError("not_initialised", `There is no fleet in schema ${schema}. Run: bowline fleet init`);
	if (found.major !== schemaVersion.major) throw otherVersion(schema, found.major);
	if (found.minor < schemaVersion.minor)
		throw new QueueError("not_initialised", `The schema ${schema} is older than this program. Run: bowline fleet init`);
}

const daysAhead = 7;

/** Partitions for today and the week ahead, and for days that are named. Other workers may do the same at the same time. */
export async function makePartitions(client: ClientBase, schema: string, days: readonly string[] = []): Promise<number> {
	const s = quoted(schema);
	await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [lockKey(schema, "partitions")]);
	const { rows } = await client.query(
		`select d::date::text as day, (d::date + 1)::text as next, to_char(d, 'YYYYMMDD') as label from (
			select generate_series(current_date, current_date + $1::int, interval '1 day') as d union select unnest($2::date[])::timestamp) as wanted
			where to_regclass(format('%I.%I', $3::text, 'log_' || to_char(d, 'YYYYMMDD'))) is null`,
		[daysAhead, days, schema],
	);
	for (const { day, next, label } of rows as { day: string; next: string; label: string }[])
		await client.query(`select ${s}.make_partitions($1, $2, $3)`, [label, day, next]);
	return rows.length;
}

/** Drops the partitions of days before, except those of runs that have not ended. */
export async function dropPartitions(client: ClientBase, schema: string, days: number): Promise<string[]> {
	const s = quoted(schema);
	await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [lockKey(schema, "partitions")]);
	const { rows } = await client.query(
		`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
			where n.nspname = $1 and c.relname ~ '^(log|checkpoint)_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < current_date - $2::int
			and not exists (select 1 from ${s}.run r where r.state <> 'done' and r.day = to_date(right(c.relname, 8), 'YYYYMMDD')) order by 1`,
		[schema, days],
	);
	const names = (rows as { name: string }[]).map(({ name }) => name);
	for (const name of names) await client.query(`drop table ${s}.${quoted(name)}`);
	return names;
}

/** Roles with fewer rights than the owner's. Printed by `fleet init --roles`, never run automatically. */
export const roleStatements = (schema: string): string => {
	const s = quoted(schema);
	return `create role fleet_read nologin;
create role fleet_submit nologin in role fleet_read;
create role fleet_work nologin in role fleet_submit;
grant usage on schema ${s} to fleet_read;
grant select on all tables in schema ${s} to fleet_read;
alter default privileges in schema ${s} grant select on tables to fleet_read;
grant insert on ${s}.run to fleet_submit;
grant insert, update, delete on all tables in schema ${s} to fleet_work;
grant execute on function ${s}.make_partitions(text, date, date) to fleet_work;
alter default privileges in schema ${s} grant insert, update, delete on tables to fleet_work;
`;
};
