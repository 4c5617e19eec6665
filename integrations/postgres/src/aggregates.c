/* bloomset_agg and bloomset_merge.
 *
 * The state of bloomset_agg is the keys' hashes, in the aggregate's memory context. The server sees
 * its size, and frees it. The state of bloomset_merge is a value. */
#include <postgres.h>

#include <fmgr.h>
#include <miscadmin.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>

#include "glue.h"

PG_FUNCTION_INFO_V1(bloomset_add_text);
PG_FUNCTION_INFO_V1(bloomset_add_bytea);
PG_FUNCTION_INFO_V1(bloomset_add_integer);
PG_FUNCTION_INFO_V1(bloomset_add_date);
PG_FUNCTION_INFO_V1(bloomset_add_uuid);
PG_FUNCTION_INFO_V1(bloomset_combine);
PG_FUNCTION_INFO_V1(bloomset_serialize);
PG_FUNCTION_INFO_V1(bloomset_deserialize);
PG_FUNCTION_INFO_V1(bloomset_build);
PG_FUNCTION_INFO_V1(bloomset_union);
PG_FUNCTION_INFO_V1(bloomset_merge_next);

struct key_state {
  struct bridge_plan plan;
  Size count;
  Size room;
  uint64* hashes;
};

/* A worker sends its state to the leader as bytes: this, then the hashes. */
struct sent_header {
  int32 varlena;
  uint32 kind;
  double fpr;
  uint64 capacity;
};

static MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context = NULL;
  if (!AggCheckCallContext(fcinfo, &context)) {
    elog(ERROR, "bloomset: this function works only within an aggregate");
  }
  return context;
}

static struct key_state* new_state(MemoryContext context, const struct bridge_plan* plan,
                                   Size room) {
  struct key_state* const state = MemoryContextAlloc(context, sizeof(*state));
  state->plan = *plan;
  state->count = 0;
  state->room = Max(room, 8);
  state->hashes = MemoryContextAllocHuge(context, state->room * sizeof(uint64));
  return state;
}

static void reserve(struct key_state* state, Size more) {
  if (more <= state->room - state->count) return;
  state->room = Max(2 * state->room, state->count + more);
  state->hashes = repalloc_huge(state->hashes, state->room * sizeof(uint64));
}

static void append(struct key_state* state, const void* hashes, Size count) {
  reserve(state, count);
  memcpy(state->hashes + state->count, hashes, count * sizeof(uint64));
  state->count += count;
}

/* The text of a rate: a number of any type, or a text such as 1%. */
static struct bridge_bytes rate_of(FunctionCallInfo fcinfo) {
  Oid output = InvalidOid;
  bool is_varlena = false;
  char* text = NULL;
  getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, 2), &output, &is_varlena);
  text = OidOutputFunctionCall(output, PG_GETARG_DATUM(2));
  return (struct bridge_bytes){text, strlen(text)};
}

/* Whether the server will end this statement. A reload of its settings, for example, does not. */
static bool is_cancelled(void) {
  return QueryCancelPending || ProcDiePending;
}

/* The plan in the arguments of the first row: state, key, rate, kind, capacity. */
static struct bridge_plan plan_of(FunctionCallInfo fcinfo) {
  const bool has_fpr = PG_NARGS() > 2 && !PG_ARGISNULL(2);
  const bool has_kind = PG_NARGS() > 3 && !PG_ARGISNULL(3);
  const bool has_capacity = PG_NARGS() > 4 && !PG_ARGISNULL(4);
  const int64_t capacity = has_capacity ? PG_GETARG_INT64(4) : 0;
  struct bridge_bytes rate = {NULL, 0};
  struct bridge_bytes kind = {NULL, 0};
  struct bridge_plan plan;
  struct bridge_failure failure;
  if (has_fpr) rate = rate_of(fcinfo);
  if (has_kind) kind = glue_bytes(PG_GETARG_VARLENA_PP(3));
  if (!bridge_make_plan(rate, kind, has_capacity ? &capacity : NULL, &plan, &failure)) {
    glue_raise(&failure);
  }
  return plan;
}

static struct key_state* state_of(FunctionCallInfo fcinfo) {
  MemoryContext const context = aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) {
    const struct bridge_plan plan = plan_of(fcinfo);
    return new_state(context, &plan, 0);
  }
  return (struct key_state*)PG_GETARG_POINTER(0);
}

static void add(struct key_state* state, struct bridge_bytes key) {
  reserve(state, 1);
  state->hashes[state->count++] = bridge_hash(key);
}

Datum bloomset_add_text(PG_FUNCTION_ARGS) {
  struct key_state* const state = state_of(fcinfo);
  if (!PG_ARGISNULL(1)) add(state, glue_text(PG_GETARG_VARLENA_PP(1)));
  PG_RETURN_POINTER(state);
}

Datum bloomset_add_bytea(PG_FUNCTION_ARGS) {
  struct key_state* const state = state_of(fcinfo);
  if (!PG_ARGISNULL(1)) add(state, glue_bytes(PG_GETARG_VARLENA_PP(1)));
  PG_RETURN_POINTER(state);
}

Datum bloomset_add_integer(PG_FUNCTION_ARGS) {
  struct key_state* const state = state_of(fcinfo);
  char word[8];
  if (!PG_ARGISNULL(1)) add(state, glue_integer(PG_GETARG_INT64(1), word));
  PG_RETURN_POINTER(state);
}

Datum bloomset_add_date(PG_FUNCTION_ARGS) {
  struct key_state* const state = state_of(fcinfo);
  char word[8];
  if (!PG_ARGISNULL(1)) add(state, glue_date(PG_GETARG_DATEADT(1), word));
  PG_RETURN_POINTER(state);
}

Datum bloomset_add_uuid(PG_FUNCTION_ARGS) {
  struct key_state* const state = state_of(fcinfo);
  if (!PG_ARGISNULL(1)) add(state, glue_uuid(PG_GETARG_UUID_P(1)));
  PG_RETURN_POINTER(state);
}

Datum bloomset_combine(PG_FUNCTION_ARGS) {
  MemoryContext const context = aggregate_context(fcinfo);
  struct key_state* state = PG_ARGISNULL(0) ? NULL : (struct key_state*)PG_GETARG_POINTER(0);
  const struct key_state* other = PG_ARGISNULL(1) ? NULL : (struct key_state*)PG_GETARG_POINTER(1);
  if (other != NULL) {
    if (state == NULL) state = new_state(context, &other->plan, other->count);
    append(state, other->hashes, other->count);
  }
  if (state == NULL) PG_RETURN_NULL();
  PG_RETURN_POINTER(state);
}

Datum bloomset_serialize(PG_FUNCTION_ARGS) {
  const struct key_state* const state = (struct key_state*)PG_GETARG_POINTER(0);
  const struct sent_header header = {0, state->plan.kind, state->plan.fpr, state->plan.capacity};
  const Size size = sizeof(header) + state->count * sizeof(uint64);
  char* sent = NULL;
  aggregate_context(fcinfo);
  if (!AllocSizeIsValid(size)) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("bloomset: a parallel worker has %zu keys, and can hand over 134 "
                           "million; set max_parallel_workers_per_gather to 0",
                           state->count)));
  }
  sent = palloc(size);
  memcpy(sent, &header, sizeof(header));
  memcpy(sent + sizeof(header), state->hashes, state->count * sizeof(uint64));
  SET_VARSIZE(sent, size);
  PG_RETURN_POINTER(sent);
}

Datum bloomset_deserialize(PG_FUNCTION_ARGS) {
  const char* const sent = (const char*)PG_GETARG_BYTEA_P(0); /* at a multiple of 4 */
  const Size count = (VARSIZE(sent) - sizeof(struct sent_header)) / sizeof(uint64);
  struct sent_header header;
  struct bridge_plan plan;
  struct key_state* state = NULL;
  aggregate_context(fcinfo);
  memcpy(&header, sent, sizeof(header));
  plan = (struct bridge_plan){header.fpr, header.capacity, (uint16)header.kind};
  state = new_state(CurrentMemoryContext, &plan, count);
  append(state, sent + sizeof(header), count);
  PG_RETURN_POINTER(state);
}

static Datum returned(const struct bridge_value* value) {
  SET_VARSIZE(value->data, value->size);
  return PointerGetDatum(value->data);
}

Datum bloomset_build(PG_FUNCTION_ARGS) {
  const struct key_state* state = NULL;
  struct bridge_value value;
  struct bridge_failure failure;
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  state = (struct key_state*)PG_GETARG_POINTER(0);
  if (!bridge_build(&state->plan, state->hashes, state->count, is_cancelled, glue_allocate, &value,
                    &failure)) {
    glue_raise(&failure);
  }
  return returned(&value);
}

/* The first filter of a group is verified here, since the union takes its state as its own. */
Datum bloomset_merge_next(PG_FUNCTION_ARGS) {
  struct bridge_failure failure;
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  }
  if (!PG_ARGISNULL(0)) return bloomset_union(fcinfo);
  if (!bridge_check(glue_bytes(PG_GETARG_VARLENA_PP(1)), &failure)) glue_raise(&failure);
  PG_RETURN_DATUM(PG_GETARG_DATUM(1));
}

Datum bloomset_union(PG_FUNCTION_ARGS) {
  const bool is_own = AggCheckCallContext(fcinfo, NULL);
  struct bridge_value value;
  struct bridge_failure failure;
  if (!bridge_merge(glue_bytes(PG_GETARG_VARLENA_PP(0)), is_own,
                    glue_bytes(PG_GETARG_VARLENA_PP(1)), glue_allocate, &value, &failure)) {
    glue_raise(&failure);
  }
  return returned(&value);
}
