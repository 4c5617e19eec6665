-- pg_regress --inputdir=tests/sql/postgres bloomset
create extension bloomset;
create table users (id integer, name text);
insert into users select n, 'user' || n from generate_series(1, 100000) n;
create table filters as select 'users' as part, bloomset_agg(name order by id) as filter from users;
select length(filter::bytea), jsonb_pretty(bloomset_info(filter)) from filters;
select bloomset_contains(filter, 'user7'), filter @> 'user7', filter @> 'nobody' from filters;
select bloomset_contains(filter, null), bloomset_contains(null, 'user7') from filters;
-- keys are text, bytea, integers, dates and UUIDs
select f @> 5, f @> 5::smallint, f @> 5::bigint, f @> '\x0500000000000000'::bytea, f @> 6
from (select bloomset_agg(5) as f) as five;
select f @> date '2026-11-25', f @> 20782, f @> date '2026-11-26'
from (select bloomset_agg(date '2026-11-25') as f) as day;
select f @> uuid '550e8400-e29b-41d4-a716-446655440000', f @> '\x550e8400e29b41d4a716446655440000'::bytea
from (select bloomset_agg(uuid '550e8400-e29b-41d4-a716-446655440000') as f) as uuid;
select bloomset_agg(date 'infinity');
select bloomset_agg(1.5);
-- rate, kind, capacity
select bloomset_info(bloomset_agg(id, 0.001))->>'planned_fpr' < '0.001',
       bloomset_info(bloomset_agg(id, null, 'fuse'))->>'kind',
       bloomset_info(bloomset_agg(id, 0.01, null, 5000000))->>'capacity' from users;
select bloomset_agg(id, '1%')::bytea = bloomset_agg(id, 0.01)::bytea from users;
-- what users call
\df
-- union
select count(*) from users, (select bloomset_merge(f) as f from
  (select bloomset_agg(id, 0.01, 'bloom', 100000) as f from users group by id % 7) as parts) as everything where f @> id;
select bloomset_union(bloomset_agg(id), bloomset_agg(id, 0.01, 'fuse')) from users;
-- errors
select 'text'::bloomset;
select '\x89424c4f4f4d0d0a'::bloomset;
select bloomset_agg(id, 1.5) from users;
select bloomset_agg(id, 0.01, 'bloo') from users;
select bloomset_agg(id, 0.01, 'bloom', 0) from users;
select bloomset_agg(id, 0.01, 'bloom', 1000000000000) from users;
-- the plan of parallel workers
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
explain (costs off) select bloomset_agg(name) from users;
drop extension bloomset;
drop extension bloomset cascade;
