-- A value has the bytes of a filter file. Stored out of line it is not compressed, because a query
-- reads parts of it.
\echo Use "CREATE EXTENSION bloomery" to load this file. \quit

create type bloomery;
create function bloomery_in(cstring) returns bloomery as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomery_out(bloomery) returns cstring as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomery_receive(internal) returns bloomery as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomery_send(bloomery) returns bytea as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create type bloomery (
  input = bloomery_in, output = bloomery_out, receive = bloomery_receive, send = bloomery_send,
  storage = external);

create function bloomery(bytea) returns bloomery as 'MODULE_PATHNAME', 'bloomery_from_bytea' language c immutable strict parallel safe;
create cast (bytea as bloomery) with function bloomery(bytea);
create cast (bloomery as bytea) without function;

create function bloomery_info(bloomery) returns jsonb as 'MODULE_PATHNAME' language c immutable strict parallel safe;

create function bloomery_combine(internal, internal) returns internal as 'MODULE_PATHNAME' language c immutable parallel safe;
create function bloomery_serialize(internal) returns bytea as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomery_deserialize(bytea, internal) returns internal as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomery_build(internal) returns bloomery as 'MODULE_PATHNAME' language c immutable parallel safe;

-- The same functions for each type of keys. bloomery_agg(key [, rate [, kind [, capacity]]])
do $$
declare
  key record;
  settings text;
begin
  for key in select * from (values ('text', 'text'), ('bytea', 'bytea'), ('bigint', 'integer'), ('date', 'date')) as keys (type, name) loop
    execute format('create function may_contain(filter bloomery, key %s) returns boolean '
                   'as ''MODULE_PATHNAME'', ''bloomery_may_contain_%s'' language c immutable strict parallel safe',
                   key.type, key.name);
    execute format('create operator @> (leftarg = bloomery, rightarg = %s, function = may_contain, '
                   'restrict = contsel, join = contjoinsel)', key.type);
    foreach settings in array array['', ', rate float8', ', rate float8, kind text',
                                    ', rate float8, kind text, capacity bigint'] loop
      execute format('create function bloomery_add(internal, key %s%s) returns internal '
                     'as ''MODULE_PATHNAME'', ''bloomery_add_%s'' language c immutable parallel safe',
                     key.type, settings, key.name);
      execute format('create aggregate bloomery_agg(key %s%s) (sfunc = bloomery_add, stype = internal, '
                     'finalfunc = bloomery_build, combinefunc = bloomery_combine, serialfunc = bloomery_serialize, '
                     'deserialfunc = bloomery_deserialize, parallel = safe)', key.type, settings);
    end loop;
  end loop;
end
$$;

create function bloomery_union(bloomery, bloomery) returns bloomery as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create aggregate bloomery_merge(bloomery) (
  sfunc = bloomery_union, stype = bloomery, combinefunc = bloomery_union, parallel = safe);
