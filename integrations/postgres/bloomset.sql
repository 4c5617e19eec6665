-- A value has the bytes of a filter file. Stored out of line it is not compressed, because a query
-- reads parts of it.
--
-- Functions that only the server calls are in a schema of their own, which no search path has. So psql's \df
-- lists those that users call.
\echo Use "CREATE EXTENSION bloomset" to load this file. \quit

create schema bloomset_internal;

create type bloomset;
create function bloomset_internal.input(cstring) returns bloomset as 'MODULE_PATHNAME', 'bloomset_in' language c immutable strict parallel safe;
create function bloomset_internal.output(bloomset) returns cstring as 'MODULE_PATHNAME', 'bloomset_out' language c immutable strict parallel safe;
create function bloomset_internal.receive(internal) returns bloomset as 'MODULE_PATHNAME', 'bloomset_receive' language c immutable strict parallel safe;
create function bloomset_internal.send(bloomset) returns bytea as 'MODULE_PATHNAME', 'bloomset_send' language c immutable strict parallel safe;
create type bloomset (
  input = bloomset_internal.input, output = bloomset_internal.output,
  receive = bloomset_internal.receive, send = bloomset_internal.send, storage = external);

create function bloomset(bytea) returns bloomset as 'MODULE_PATHNAME', 'bloomset_from_bytea' language c immutable strict parallel safe;
create cast (bytea as bloomset) with function bloomset(bytea);
create cast (bloomset as bytea) without function;

create function bloomset_info(bloomset) returns jsonb as 'MODULE_PATHNAME' language c immutable strict parallel safe;

create function bloomset_internal.combine(internal, internal) returns internal as 'MODULE_PATHNAME', 'bloomset_combine' language c immutable parallel safe;
create function bloomset_internal.serialize(internal) returns bytea as 'MODULE_PATHNAME', 'bloomset_serialize' language c immutable strict parallel safe;
create function bloomset_internal.deserialize(bytea, internal) returns internal as 'MODULE_PATHNAME', 'bloomset_deserialize' language c immutable strict parallel safe;
create function bloomset_internal.build(internal) returns bloomset as 'MODULE_PATHNAME', 'bloomset_build' language c immutable parallel safe;

-- The same functions for each type of keys. bloomset_agg(key [, rate [, kind [, capacity]]]), whose rate is
-- a number or a text. may_contain is another name of bloomset_contains.
do $$
declare
  key record;
  name text;
  settings text;
begin
  for key in select * from (values ('text', 'text'), ('bytea', 'bytea'), ('bigint', 'integer'), ('date', 'date'),
                                   ('uuid', 'uuid')) as keys (type, name) loop
    foreach name in array array['bloomset_contains', 'may_contain'] loop
      execute format('create function %s(filter bloomset, key %s) returns boolean '
                     'as ''MODULE_PATHNAME'', ''bloomset_contains_%s'' language c immutable strict parallel safe',
                     name, key.type, key.name);
    end loop;
    execute format('create operator @> (leftarg = bloomset, rightarg = %s, function = bloomset_contains, '
                   'restrict = contsel, join = contjoinsel)', key.type);
    foreach settings in array array['', ', rate "any"', ', rate "any", kind text',
                                    ', rate "any", kind text, capacity bigint'] loop
      execute format('create function bloomset_internal.add(internal, key %s%s) returns internal '
                     'as ''MODULE_PATHNAME'', ''bloomset_add_%s'' language c immutable parallel safe',
                     key.type, settings, key.name);
      execute format('create aggregate bloomset_agg(key %s%s) (sfunc = bloomset_internal.add, stype = internal, '
                     'finalfunc = bloomset_internal.build, combinefunc = bloomset_internal.combine, '
                     'serialfunc = bloomset_internal.serialize, deserialfunc = bloomset_internal.deserialize, '
                     'parallel = safe)', key.type, settings);
    end loop;
  end loop;
end
$$;

create function bloomset_union(bloomset, bloomset) returns bloomset as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function bloomset_internal.merge_next(bloomset, bloomset) returns bloomset
  as 'MODULE_PATHNAME', 'bloomset_merge_next' language c immutable parallel safe;
create aggregate bloomset_merge(bloomset) (
  sfunc = bloomset_internal.merge_next, stype = bloomset, combinefunc = bloomset_union, parallel = safe);
