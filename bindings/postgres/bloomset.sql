-- A value has the bytes of a filter file. Stored out of line it is not compressed, because a query
-- reads parts of it.
\echo Use "CREATE EXTENSION bloomset" to load this file. \quit

create type bloomset;
create function bloomset_in(cstring) returns bloomset as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomset_out(bloomset) returns cstring as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomset_receive(internal) returns bloomset as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomset_send(bloomset) returns bytea as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create type bloomset (
  input = bloomset_in, output = bloomset_out, receive = bloomset_receive, send = bloomset_send,
  storage = external);

create function bloomset(bytea) returns bloomset as 'MODULE_PATHNAME', 'bloomset_from_bytea' language c immutable strict parallel safe;
create cast (bytea as bloomset) with function bloomset(bytea);
create cast (bloomset as bytea) without function;

create function bloomset_info(bloomset) returns jsonb as 'MODULE_PATHNAME' language c immutable strict parallel safe;

create function bloomset_combine(internal, internal) returns internal as 'MODULE_PATHNAME' language c immutable parallel safe;
create function bloomset_serialize(internal) returns bytea as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomset_deserialize(bytea, internal) returns internal as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomset_build(internal) returns bloomset as 'MODULE_PATHNAME' language c immutable parallel safe;

-- The same functions for each type of keys. bloomset_agg(key [, rate [, kind [, capacity]]])
do $$
declare
  key record;
  settings text;
begin
  for key in select * from (values ('text', 'text'), ('bytea', 'bytea'), ('bigint', 'integer'), ('date', 'date')) as keys (type, name) loop
    execute format('create function may_contain(filter bloomset, key %s) returns boolean '
                   'as ''MODULE_PATHNAME'', ''bloomset_may_contain_%s'' language c immutable strict parallel safe',
                   key.type, key.name);
    execute format('create operator @> (leftarg = bloomset, rightarg = %s, function = may_contain, '
                   'restrict = contsel, join = contjoinsel)', key.type);
    foreach settings in array array['', ', rate float8', ', rate float8, kind text',
                                    ', rate float8, kind text, capacity bigint'] loop
      execute format('create function bloomset_add(internal, key %s%s) returns internal '
                     'as ''MODULE_PATHNAME'', ''bloomset_add_%s'' language c immutable parallel safe',
                     key.type, settings, key.name);
      execute format('create aggregate bloomset_agg(key %s%s) (sfunc = bloomset_add, stype = internal, '
                     'finalfunc = bloomset_build, combinefunc = bloomset_combine, serialfunc = bloomset_serialize, '
                     'deserialfunc = bloomset_deserialize, parallel = safe)', key.type, settings);
    end loop;
  end loop;
end
$$;

create function bloomset_union(bloomset, bloomset) returns bloomset as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create aggregate bloomset_merge(bloomset) (
  sfunc = bloomset_union, stype = bloomset, combinefunc = bloomset_union, parallel = safe);
