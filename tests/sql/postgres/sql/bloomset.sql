-- pg_regress --inputdir=tests/sql/postgres bloomery
create extension bloomery;
create table users (id integer, name text);
insert into users select n, 'user' || n from generate_series(1, 100000) n;
create table filters as select 'users' as part, bloomery_agg(name order by id) as filter from users;
select length(filter::bytea), jsonb_pretty(bloomery_info(filter)) from filters;
select may_contain(filter, 'user7'), filter @> 'user7', filter @> 'nobody' from filters;
select may_contain(filter, null), may_contain(null, 'user7') from filters;
-- keys are text, bytea, integers and dates
select f @> 5, f @> 5::smallint, f @> 5::bigint, f @> '\x0500000000000000'::bytea, f @> 6
from (select bloomery_agg(5) as f) as five;
select f @> date '2026-11-25', f @> 20782, f @> date '2026-11-26'
from (select bloomery_agg(date '2026-11-25') as f) as day;
select bloomery_agg(date 'infinity');
select bloomery_agg(1.5);
-- rate, kind, capacity
select bloomery_info(bloomery_agg(id, 0.001))->>'planned_fpr' < '0.001',
       bloomery_info(bloomery_agg(id, null, 'fuse'))->>'kind',
       bloomery_info(bloomery_agg(id, 0.01, null, 5000000))->>'capacity' from users;
-- union
select count(*) from users, (select bloomery_merge(f) as f from
  (select bloomery_agg(id, 0.01, 'bloom', 100000) as f from users group by id % 7) as parts) as everything where f @> id;
select bloomery_union(bloomery_agg(id), bloomery_agg(id, 0.01, 'fuse')) from users;
-- errors
select 'text'::bloomery;
select '\x89424c4f4f4d0d0a'::bloomery;
select bloomery_agg(id, 1.5) from users;
select bloomery_agg(id, 0.01, 'bloo') from users;
select bloomery_agg(id, 0.01, 'bloom', 0) from users;
select bloomery_agg(id, 0.01, 'bloom', 1000000000000) from users;
-- the plan of parallel workers
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
explain (costs off) select bloomery_agg(name) from users;
drop extension bloomery;
drop extension bloomery cascade;
