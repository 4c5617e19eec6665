/* bloomset_contains: a query of many rows opens a filter once, and of a large stored filter it
 * reads only the pieces that its keys need. */
#include <postgres.h>

#include <access/detoast.h>
#include <access/heaptoast.h>
#include <fmgr.h>
#include <miscadmin.h>
#include <nodes/primnodes.h>
#include <utils/memutils.h>

#include "glue.h"

PG_FUNCTION_INFO_V1(bloomset_contains_text);
PG_FUNCTION_INFO_V1(bloomset_contains_bytea);
PG_FUNCTION_INFO_V1(bloomset_contains_integer);
PG_FUNCTION_INFO_V1(bloomset_contains_date);
PG_FUNCTION_INFO_V1(bloomset_contains_uuid);

/* Stored filters from this size on are read in pieces, which are the chunks of their table. */
#define PIECE TOAST_MAX_CHUNK_SIZE
#define MIN_PIECES 16
/* One piece takes as long as this many in a row. When the pieces that were read took as long as the
 * whole filter does, the rest is read at once: at most twice the time of the better way. */
#define PIECES_IN_A_ROW 4

/* A filter that was asked. */
struct asked {
  struct bridge_filter* filter; /* NULL: none */
  char* bytes;
  Size size;
  bool is_stored;                /* out of line, where this is: */
  struct varatt_external stored; /* The value's number is not used again while it can be seen. */
  bool* has;                     /* the pieces that were read; NULL: all */
  Size pieces;
  Size pieces_read;
  uint64 turn; /* of the last query */
};

/* Queries often ask few filters in turn, in a join. They are kept as far as work_mem goes, but at
 * least one is. */
#define MAX_KEPT 32
struct kept_filters {
  MemoryContextCallback at_end;
  MemoryContext context;
  uint64 turn;
  bool is_constant; /* the filter, in all calls */
  struct asked* constant;
  struct asked asked[MAX_KEPT];
};

static void forget(struct asked* asked) {
  bridge_close(asked->filter);
  asked->filter = NULL;
  if (asked->bytes != NULL) pfree(asked->bytes);
  asked->bytes = NULL;
  if (asked->has != NULL) pfree(asked->has);
  asked->has = NULL;
  asked->size = 0;
}

/* The memory of the context goes by itself. */
static void close_all(void* all) {
  struct kept_filters* const kept = all;
  for (int i = 0; i < MAX_KEPT; ++i) bridge_close(kept->asked[i].filter);
}

/* A constant of the plan is the same value in each row. A parameter is not: a variable of PL/pgSQL
 * may change between two calls. */
static bool has_constant_filter(const FmgrInfo* function) {
  const Node* const call = function->fn_expr;
  const List* arguments = NIL;
  if (call != NULL && IsA(call, FuncExpr)) arguments = ((const FuncExpr*)call)->args;
  if (call != NULL && IsA(call, OpExpr)) arguments = ((const OpExpr*)call)->args;
  return arguments != NIL && IsA(linitial(arguments), Const);
}

static struct kept_filters* kept_by(FmgrInfo* function) {
  struct kept_filters* kept = function->fn_extra;
  if (kept == NULL) {
    kept = MemoryContextAllocZero(function->fn_mcxt, sizeof(*kept));
    kept->context = function->fn_mcxt;
    kept->is_constant = has_constant_filter(function);
    kept->at_end.func = close_all;
    kept->at_end.arg = kept;
    MemoryContextRegisterResetCallback(function->fn_mcxt, &kept->at_end);
    function->fn_extra = kept;
  }
  return kept;
}

/* A free place for a filter of that size. */
static struct asked* place_for(struct kept_filters* kept, Size size) {
  for (;;) {
    struct asked* free = NULL;
    struct asked* oldest = NULL;
    Size total = size;
    for (struct asked* asked = kept->asked; asked != kept->asked + MAX_KEPT; ++asked) {
      total += asked->size;
      if (asked->filter == NULL) {
        forget(asked); /* what an error left */
        free = asked;
      } else if (oldest == NULL || asked->turn < oldest->turn) {
        oldest = asked;
      }
    }
    if (oldest == NULL || (free != NULL && total <= (Size)work_mem * 1024)) return free;
    forget(oldest);
  }
}

static void open_filter(struct asked* asked) {
  struct bridge_failure failure;
  asked->filter =
      bridge_open((struct bridge_bytes){asked->bytes, asked->size}, asked->has == NULL, &failure);
  if (asked->filter == NULL) glue_raise(&failure);
}

static struct asked* keep_whole(struct kept_filters* kept, struct bridge_bytes bytes) {
  struct asked* const asked = place_for(kept, bytes.size);
  asked->bytes = MemoryContextAlloc(kept->context, Max(bytes.size, 1));
  asked->size = bytes.size;
  memcpy(asked->bytes, bytes.data, bytes.size);
  open_filter(asked);
  return asked;
}

static void read_piece(struct asked* asked, struct varlena* value, Size piece) {
  struct varlena* const slice = detoast_attr_slice(value, (int32)(piece * PIECE), PIECE);
  memcpy(asked->bytes + piece * PIECE, VARDATA_ANY(slice),
         Min(glue_size(slice), asked->size - piece * PIECE));
  pfree(slice);
  asked->has[piece] = true;
  ++asked->pieces_read;
}

/* The filter, if it can be read in pieces. */
static struct asked* keep_pieces(struct kept_filters* kept, struct varlena* value,
                                 struct varatt_external stored) {
  const Size size = VARATT_EXTERNAL_GET_EXTSIZE(stored);
  const Size pieces = (size + PIECE - 1) / PIECE;
  struct asked* asked = NULL;
  if (VARATT_EXTERNAL_IS_COMPRESSED(stored) || pieces < MIN_PIECES) return NULL;
  asked = place_for(kept, size);
  asked->size = size;
  asked->pieces = pieces;
  asked->pieces_read = 0;
  asked->has = MemoryContextAllocZero(kept->context, pieces);
  asked->bytes = MemoryContextAlloc(kept->context, size);
  read_piece(asked, value, 0);
  if (bridge_reads_ranges((struct bridge_bytes){asked->bytes, bridge_beginning})) {
    open_filter(asked);
    return asked;
  }
  forget(asked);
  return NULL;
}

static struct asked* stored_filter(struct kept_filters* kept, struct varlena* value) {
  struct varatt_external stored;
  struct asked* asked = NULL;
  VARATT_EXTERNAL_GET_POINTER(stored, value);
  for (asked = kept->asked; asked != kept->asked + MAX_KEPT; ++asked) {
    if (asked->filter != NULL && asked->is_stored &&
        memcmp(&asked->stored, &stored, sizeof(stored)) == 0) {
      return asked;
    }
  }
  asked = keep_pieces(kept, value, stored);
  if (asked == NULL) {
    struct varlena* const whole = detoast_attr(value);
    asked = keep_whole(kept, glue_bytes(whole));
    pfree(whole);
  }
  asked->is_stored = true;
  asked->stored = stored;
  return asked;
}

static struct asked* filter_in_memory(struct kept_filters* kept, struct varlena* value) {
  struct varlena* whole = NULL;
  struct bridge_bytes bytes;
  struct asked* asked = kept->asked;
  if (kept->constant != NULL && kept->constant->filter != NULL) return kept->constant;
  whole = pg_detoast_datum_packed(value);
  bytes = glue_bytes(whole);
  while (asked != kept->asked + MAX_KEPT &&
         (asked->filter == NULL || asked->has != NULL || asked->size != bytes.size ||
          memcmp(asked->bytes, bytes.data, bytes.size) != 0)) {
    ++asked;
  }
  if (asked == kept->asked + MAX_KEPT) {
    asked = keep_whole(kept, bytes);
    asked->is_stored = false;
  }
  if (whole != value) pfree(whole);
  if (kept->is_constant) kept->constant = asked;
  return asked;
}

static void read_range(struct asked* asked, struct varlena* value, struct bridge_range range) {
  const Size end = (range.offset + range.size - 1) / PIECE;
  for (Size piece = range.offset / PIECE; piece <= end; ++piece) {
    if (!asked->has[piece]) read_piece(asked, value, piece);
  }
  if (asked->pieces_read * PIECES_IN_A_ROW >= asked->pieces) {
    struct varlena* const whole = detoast_attr(value);
    memcpy(asked->bytes, VARDATA_ANY(whole), Min(glue_size(whole), asked->size));
    pfree(whole);
    pfree(asked->has);
    asked->has = NULL;
  }
}

static Datum answer(FunctionCallInfo fcinfo, struct bridge_bytes key) {
  struct kept_filters* const kept = kept_by(fcinfo->flinfo);
  struct varlena* const value = (struct varlena*)PG_GETARG_POINTER(0);
  struct asked* const asked =
      VARATT_IS_EXTERNAL_ONDISK(value) ? stored_filter(kept, value) : filter_in_memory(kept, value);
  asked->turn = ++kept->turn;
  if (asked->has != NULL) read_range(asked, value, bridge_range_of(asked->filter, key));
  PG_RETURN_BOOL(bridge_may_contain(asked->filter, key));
}

Datum bloomset_contains_text(PG_FUNCTION_ARGS) {
  return answer(fcinfo, glue_text(PG_GETARG_VARLENA_PP(1)));
}

Datum bloomset_contains_bytea(PG_FUNCTION_ARGS) {
  return answer(fcinfo, glue_bytes(PG_GETARG_VARLENA_PP(1)));
}

Datum bloomset_contains_integer(PG_FUNCTION_ARGS) {
  char word[8];
  return answer(fcinfo, glue_integer(PG_GETARG_INT64(1), word));
}

Datum bloomset_contains_date(PG_FUNCTION_ARGS) {
  char word[8];
  return answer(fcinfo, glue_date(PG_GETARG_DATEADT(1), word));
}

Datum bloomset_contains_uuid(PG_FUNCTION_ARGS) {
  return answer(fcinfo, glue_uuid(PG_GETARG_UUID_P(1)));
}
