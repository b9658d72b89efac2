/** The statements. Each is one round trip and one transaction; the epoch in its condition is the fence. */
import { reasons, sharedDeathsAllowed } from "../shared.ts";
import { lockKey, quoted } from "./migrate.ts";

const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

export type Statements = ReturnType<typeof statementsFor>;

export function statementsFor(schema: string) {
	const s = quoted(schema);
	const reclaimLock = `hashtextextended(${text(lockKey(schema, "reclaim"))}, 0)`;
	const claimed = `r.id, r.epoch, r.day::text as day, r.spec, r.key, r.attempts, r.max_attempts, r.budget, r.session_lines, r.event_lines, r.usd, r.tokens,
	to_json(r.started_at) #>> '{}' as started_at, extract(epoch from now() - r.started_at) * 1000 as elapsed_ms`;
	/** Where the log is cut for the next epoch: at the newest checkpoint. */
	const newestCheckpoint = (ids: string) =>
		`select distinct on (c.run_id) c.run_id, c.session_lines, c.event_lines, c.patch from ${s}.checkpoint c join ${ids} p on p.id = c.run_id and p.day = c.day order by c.run_id, c.n desc`;
	const note = (taken: string, worker: string) =>
		`insert into ${s}.takeover (run_id, epoch, worker, session_cut, event_cut, session_from, event_from)
    select t.id, t.epoch, ${worker}, coalesce(cp.session_lines, 0), coalesce(cp.event_lines, 0), t.session_lines, t.event_lines
    from ${taken} t left join cp on cp.run_id = t.id where t.epoch > 1`;
	const endedReceipt = (reason: string) =>
		`json_build_object('runId', e.id, 'key', e.key, 'epoch', e.epoch, 'attempts', e.attempts, 'status', ${reason}, 'finishedAt', now(), 'reason', e.reason)::text`;

	const heldBy = (worker: string) => `(select count(*)::int from ${s}.run h where h.worker = ${worker} and h.state = 'running')`;
	/** Whether the worker $1 holds a run that is under suspicion of killing its workers: then it gets no second one. */
	const holdsSuspect = `exists (select 1 from ${s}.run h where h.worker = $1 and h.state = 'running' and h.shared_deaths >= ${sharedDeathsAllowed})`;

	return {
		/** No row: a twin has not committed yet; ask again. */
		submit: `with ins as (insert into ${s}.run (id, key, key_digest, lane, priority, spec, batch, budget, needs, max_attempts)
    values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) on conflict (key) do nothing returning id)
select id, true as fresh, true as same from ins union all select id, false, key_digest = $3 from ${s}.run where key = $2 and not exists (select 1 from ins)`,

		/** The same for many. A key without a row is submitted by another at the same time, or is in the list already. */
		submitMany: `with given as (select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[])
    as g (id, key, digest, lane, priority, spec, batch, budget, needs, max_attempts)),
ins as (insert into ${s}.run (id, key, key_digest, lane, priority, spec, batch, budget, needs, max_attempts)
    select id, key, decode(digest, 'hex'), lane, priority, spec, batch, budget, array(select json_array_elements_text(needs::json)), max_attempts from given
    on conflict (key) do nothing returning id, key)
select g.key, i.id, true as fresh, true as same from given g join ins i on i.id = g.id
union all select g.key, r.id, false, r.key_digest = decode(g.digest, 'hex') from given g join ${s}.run r on r.key = g.key`,

		/** So that the next claim knows how many wait. */
		analyze: `analyze ${s}.run`,

		register: `insert into ${s}.worker (id, host, labels, slots, version) values ($1,$2,$3,$4,$5) on conflict (id) do nothing`,

		/** $1 worker, $2 labels, $3 lanes or null. The lane's row lock makes its ceiling exact. */
		claim: `with pick as (select r.id, r.lane, r.day from ${s}.run r join ${s}.lane l on l.name = r.lane where r.state = 'queued' and r.available_at <= now()
    and r.needs <@ $2::text[] and ($3::text[] is null or r.lane = any($3::text[])) and l.running < l.max_running and l.paused_until <= now()
    and (r.shared_deaths < ${sharedDeathsAllowed} or not ${holdsSuspect})
    order by r.priority desc, r.id limit 1 for update of r skip locked),
room as (update ${s}.lane l set running = running + 1 from pick where l.name = pick.lane and l.running < l.max_running returning l.name),
cp as (${newestCheckpoint("pick")}),
taken as (update ${s}.run r set state = 'running', epoch = epoch + 1, attempts = attempts + 1, worker = $1, started_at = coalesce(started_at, now())
    from pick, room where r.id = pick.id returning ${claimed}),
noted as (${note("taken", "$1")})
select * from taken`,

		/**
		 * $1 worker, $2 labels, $3 lease in ms, $4 lanes or null. Ends runs that are cancelled or out of attempts, takes over one other. A death that the
		 * run has shared counts only when it is under suspicion.
		 */
		reclaim: `with lk as materialized (select pg_try_advisory_xact_lock(${reclaimLock}) as ok),
dead as (update ${s}.worker w set gone = true, held = ${heldBy("w.id")}
    where (select ok from lk) and not gone and seen_at < now() - $3::float8 * interval '1 ms' returning id, held),
pick as (select r.id, r.day, r.lane, d.counts, d.spent, r.cancel_at is not null as cancelled
    from ${s}.run r join ${s}.worker w on w.id = r.worker left join dead on dead.id = w.id,
    lateral (select coalesce(dead.held, w.held, 1) <= 1 or r.shared_deaths >= ${sharedDeathsAllowed} as counts) c,
    lateral (select c.counts, c.counts and r.attempts >= r.max_attempts as spent) d
    where (select ok from lk) and r.state = 'running' and (w.gone or dead.id is not null) and r.needs <@ $2::text[]
    and ($4::text[] is null or r.lane = any($4::text[]))
    and (d.spent or r.cancel_at is not null or r.shared_deaths + (not d.counts)::int < ${sharedDeathsAllowed} or not ${holdsSuspect})
    order by r.id limit 1 for update of r skip locked),
cp as (${newestCheckpoint("pick")}),
ended as (update ${s}.run r set state = 'done', epoch = epoch + 1, finished_at = now() from pick p where r.id = p.id and (p.spent or p.cancelled)
    returning r.id, r.key, r.epoch, r.attempts, r.lane, p.cancelled,
    case when p.cancelled then ${text(reasons.cancelledLate)} else ${text(reasons.died)} || coalesce(' ' || r.why, '') end as reason),
freed as (update ${s}.lane set running = running - 1 from ended where lane.name = ended.lane),
told as (insert into ${s}.result (run_id, epoch, status, patch, receipt) select e.id, e.epoch, case when e.cancelled then 'cancelled' else 'lost' end,
    cp.patch, ${endedReceipt("case when e.cancelled then 'cancelled' else 'lost' end")} from ended e left join cp on cp.run_id = e.id),
unheld as (delete from ${s}.hold using ended where hold.run_id = ended.id returning hold.budget, hold.usd, hold.tokens),
repaid as (update ${s}.budget set held_usd = held_usd - unheld.usd, held_tokens = held_tokens - unheld.tokens from unheld where budget.id = unheld.budget),
taken as (update ${s}.run r set epoch = epoch + 1, attempts = attempts + p.counts::int, shared_deaths = shared_deaths + (not p.counts)::int, worker = $1
    from pick p where r.id = p.id and not (p.spent or p.cancelled)
    returning ${claimed}),
noted as (${note("taken", "$1")})
select taken.*, (select count(*) from ended)::int as ended from (select 1) as one left join taken on true`,

		/**
		 * $1 run, $2 epoch, $3 and $4 new lines, $5 to $7 number, tree and patch of a checkpoint, $8 and $9 lines that were there before, $10 and $11
		 * dollars and tokens spent. No row: fenced, or done before.
		 */
		commit: `with r as (update ${s}.run set session_lines = session_lines + cardinality($3::text[]), event_lines = event_lines + cardinality($4::text[]),
    usd = usd + $10::numeric, tokens = tokens + $11::bigint
    where id = $1 and epoch = $2 and state = 'running' and session_lines = $8::bigint and event_lines = $9::bigint
    returning day, session_lines, event_lines, cancel_at, budget),
s as (insert into ${s}.log select r.day, $1, 0, r.session_lines - cardinality($3::text[]) + t.n, $2, t.b from r, unnest($3::text[]) with ordinality t(b, n)),
e as (insert into ${s}.log select r.day, $1, 1, r.event_lines - cardinality($4::text[]) + t.n, $2, t.b from r, unnest($4::text[]) with ordinality t(b, n)),
c as (insert into ${s}.checkpoint select r.day, $1, $5::int, $2, r.session_lines, r.event_lines, $6::text, $7::bytea from r where $6::text is not null
    on conflict (day, run_id, n) do nothing),
m as (update ${s}.checkpoint k set session_lines = r.session_lines, event_lines = r.event_lines from r
    where k.day = r.day and k.run_id = $1 and k.n = $5::int and $6::text is null),
old as (delete from ${s}.checkpoint k using r where k.day = r.day and k.run_id = $1 and k.n <= $5::int - 2 and $6::text is not null),
had as (select h.usd, h.tokens from ${s}.hold h, r where h.run_id = $1 and $10::numeric + $11::bigint > 0 for update of h),
less as (update ${s}.hold h set usd = greatest(h.usd - $10::numeric, 0), tokens = greatest(h.tokens - $11::bigint, 0) from had where h.run_id = $1),
paid as (update ${s}.budget b set spent_usd = spent_usd + $10::numeric, spent_tokens = spent_tokens + $11::bigint,
    held_usd = held_usd - least(coalesce((select usd from had), 0), $10::numeric),
    held_tokens = held_tokens - least(coalesce((select tokens from had), 0), $11::bigint)
    from r where b.id = r.budget and $10::numeric + $11::bigint > 0)
select cancel_at is not null as cancel from r`,

		/** Whether a commit that gave no row had been made before: $3 and $4 are the lines that there would be. */
		committed: `select cancel_at is not null as cancel from ${s}.run where id = $1 and epoch = $2 and state = 'running' and session_lines = $3 and event_lines = $4`,

		renew: `update ${s}.worker set seen_at = now() where id = $1 and not gone returning draining,
  (select coalesce(array_agg(id), '{}') from ${s}.run where worker = $1 and state = 'running' and cancel_at is not null) as cancel,
  (select coalesce(json_agg(json_build_object('runId', id, 'epoch', epoch)), '[]') from ${s}.run where worker = $1 and state = 'running') as held,
  (select coalesce(sum(running), 0)::int from ${s}.lane) as running,
  (select coalesce(json_agg(json_build_object('provider', provider, 'rpm', rpm, 'tpm', tpm, 'pausedMs',
    case when paused_until > now() then (extract(epoch from paused_until - now()) * 1000)::bigint else 0 end)), '[]') from ${s}.rate) as rates`,

		leave: `update ${s}.worker set gone = true, held = ${heldBy("$1")} where id = $1 and not gone`,

		/** $5 and $6: spent since the last commit. */
		finish: `with r as (update ${s}.run set state = 'done', finished_at = now(), usd = usd + $5::numeric, tokens = tokens + $6::bigint
    where id = $1 and epoch = $2 and state = 'running' returning id, lane, budget, started_at),
l as (update ${s}.lane set running = running - 1 from r where lane.name = r.lane),
h as (delete from ${s}.hold using r where hold.run_id = r.id returning hold.usd, hold.tokens),
b as (update ${s}.budget set held_usd = held_usd - coalesce((select usd from h), 0), held_tokens = held_tokens - coalesce((select tokens from h), 0),
    spent_usd = spent_usd + $5::numeric, spent_tokens = spent_tokens + $6::bigint from r where budget.id = r.budget)
insert into ${s}.result (run_id, epoch, status, patch, receipt)
select r.id, $2, $3, $7, $4 from r returning run_id`,

		finished: `select 1 from ${s}.result where run_id = $1 and epoch = $2`,

		/** $3 delay in ms, $4 attempts to give back, $5 why. */
		requeue: `with r as (update ${s}.run set state = 'queued', epoch = epoch + 1, attempts = attempts - $4::int, available_at = now() + $3::float8 * interval '1 ms', why = $5
    where id = $1 and epoch = $2 and state = 'running' and cancel_at is null returning id, lane),
l as (update ${s}.lane set running = running - 1 from r where lane.name = r.lane),
h as (delete from ${s}.hold using r where hold.run_id = r.id returning hold.budget, hold.usd, hold.tokens),
b as (update ${s}.budget set held_usd = held_usd - h.usd, held_tokens = held_tokens - h.tokens from h where budget.id = h.budget)
select id from r`,

		/** $3 and $4 more. When that is too much, what the run holds goes back, except $5 and $6: a run that waits holds nothing else, so those that do will go on. */
		hold: `with r as (select id, budget from ${s}.run where id = $1 and epoch = $2 and state = 'running' for update),
had as (select h.usd, h.tokens from ${s}.hold h, r where h.run_id = r.id for update of h),
l as (select b.* from ${s}.budget b, r where b.id = r.budget for update of b),
f as (select l.id, coalesce(had.usd, 0) as usd, coalesce(had.tokens, 0) as tokens,
    (l.max_usd is null or l.spent_usd + l.held_usd + $3::numeric <= l.max_usd)
    and (l.max_tokens is null or l.spent_tokens + l.held_tokens + $4::bigint <= l.max_tokens) as fits,
    l.held_usd > coalesce(had.usd, 0) or l.held_tokens > coalesce(had.tokens, 0) as others from l left join had on true),
b as (update ${s}.budget b set held_usd = held_usd + case when f.fits then $3::numeric else least(f.usd, $5::numeric) - f.usd end,
    held_tokens = held_tokens + case when f.fits then $4::bigint else least(f.tokens, $6::bigint) - f.tokens end from f where b.id = f.id),
more as (insert into ${s}.hold (run_id, epoch, budget, usd, tokens) select $1, $2, f.id, $3::numeric, $4::bigint from f where f.fits
    on conflict (run_id) do update set usd = hold.usd + excluded.usd, tokens = hold.tokens + excluded.tokens, epoch = excluded.epoch),
less as (update ${s}.hold h set usd = least(h.usd, $5::numeric), tokens = least(h.tokens, $6::bigint) from f where h.run_id = $1 and not f.fits)
select fits, others from f`,

		pin: `update ${s}.run set spec = $3 where id = $1 and epoch = $2 and state = 'running' returning id`,

		checkpoint: `select n, tree, patch, session_lines, event_lines from ${s}.checkpoint where day = $1::date and run_id = $2 order by n desc limit 1`,
		wholeLog: `select file, line, body from ${s}.log where day = $1::date and run_id = $2 order by file, line`,

		/** Queued ones end at once; those at work are asked to. `ended` and `asked` count both. */
		cancel: `with sel as (select id, state from ${s}.run where (id = any($1::text[]) or batch = $2::text) and state <> 'done' for update),
ended as (update ${s}.run r set state = 'done', epoch = epoch + 1, finished_at = now() from sel where r.id = sel.id and r.state in ('queued', 'parked')
    returning r.id, r.key, r.epoch, r.attempts, ${text(reasons.cancelledEarly)} as reason, r.day),
cp as (${newestCheckpoint("ended")}),
told as (insert into ${s}.result (run_id, epoch, status, patch, receipt) select e.id, e.epoch, 'cancelled', cp.patch, ${endedReceipt("'cancelled'")}
    from ended e left join cp on cp.run_id = e.id),
asked as (update ${s}.run r set cancel_at = coalesce(r.cancel_at, now()) from sel where r.id = sel.id and r.state = 'running' returning r.id)
select (select count(*) from ended)::int as ended, (select count(*) from asked)::int as asked`,

		list: `select r.id, r.key, r.batch, r.lane, r.priority, r.state, p.status, r.epoch, r.attempts, r.worker, r.needs, r.budget, r.cancel_at is not null as cancelled, r.usd, r.tokens,
    r.session_lines, r.event_lines, to_json(r.created_at) #>> '{}' as created_at, to_json(r.started_at) #>> '{}' as started_at,
    to_json(r.finished_at) #>> '{}' as finished_at, extract(epoch from coalesce(r.finished_at, now()) - r.created_at) * 1000 as age_ms,
    p.receipt::json ->> 'sandbox' as sandbox, r.spec
    from ${s}.run r left join ${s}.result p on p.run_id = r.id
    where ($1::text[] is null or r.id = any($1::text[])) and ($2::text is null or r.batch = $2) and ($3::text is null or r.lane = $3)
    and ($4::text is null or r.state = $4) and ($5::text is null or r.id < $5) order by r.id desc limit $6`,

		count: `select case when r.state = 'done' then p.status else r.state end as name, count(*)::int as n from ${s}.run r left join ${s}.result p on p.run_id = r.id
    where ($1::text is null or r.batch = $1) and ($2::text is null or r.lane = $2) group by 1`,

		result: `select run_id, epoch, status, patch, receipt, to_json(finished_at) #>> '{}' as finished_at from ${s}.result where run_id = $1`,
		lines: `select line, epoch, body from ${s}.log where day = (select day from ${s}.run where id = $1) and run_id = $1 and file = $2 and line > $3 order by line limit $4`,
		takeovers: `select epoch, worker, session_cut, event_cut, session_from, event_from, to_json(at) #>> '{}' as at from ${s}.takeover where run_id = $1 order by epoch`,

		workers: `select w.id, w.host, w.labels, w.slots, w.version, to_json(w.started_at) #>> '{}' as started_at, w.draining, w.gone,
    extract(epoch from now() - w.seen_at) * 1000 as seen_ms, (select count(*)::int from ${s}.run r where r.worker = w.id and r.state = 'running') as running
    from ${s}.worker w where not w.gone or w.seen_at > now() - interval '1 hour' order by w.gone, w.id`,
		drain: `update ${s}.worker set draining = true where id = $1 and not gone returning id`,

		lanes: `select l.name, l.max_running, l.running, (select count(*)::int from ${s}.run r where r.lane = l.name and r.state = 'queued') as queued,
    case when l.paused_until > now() then extract(epoch from l.paused_until - now()) * 1000 else 0 end as paused_ms from ${s}.lane l order by 1`,
		setLane: `insert into ${s}.lane as l (name, max_running, paused_until) values ($1, coalesce($2::int, 1000000), coalesce(now() + $3::float8 * interval '1 ms', '-infinity'))
    on conflict (name) do update set max_running = coalesce($2::int, l.max_running), paused_until = coalesce(now() + $3::float8 * interval '1 ms', l.paused_until)`,

		budgets: `select * from ${s}.budget order by id`,
		/** $2 and $4: whether the ceiling is changed. */
		setBudget: `insert into ${s}.budget as b (id, max_usd, max_tokens) values ($1, $3::numeric, $5::bigint)
    on conflict (id) do update set max_usd = case when $2 then $3::numeric else b.max_usd end, max_tokens = case when $4 then $5::bigint else b.max_tokens end`,

		rates: `select provider, rpm, tpm, case when paused_until > now() then extract(epoch from paused_until - now()) * 1000 else 0 end as paused_ms from ${s}.rate order by 1`,
		setRate: `insert into ${s}.rate as r (provider, rpm, tpm, paused_until) values ($1, $3::int, $5::int, coalesce(now() + $6::float8 * interval '1 ms', '-infinity'))
    on conflict (provider) do update set rpm = case when $2 then $3::int else r.rpm end, tpm = case when $4 then $5::int else r.tpm end,
    paused_until = coalesce(greatest(r.paused_until, now() + $6::float8 * interval '1 ms'), r.paused_until)`,

		knownLane: `select 1 from ${s}.lane where name = $1`,
	};
}
