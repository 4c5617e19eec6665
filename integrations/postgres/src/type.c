/* The type: a value has the bytes of a filter file. */
#include <postgres.h>

#include <fmgr.h>
#include <lib/stringinfo.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/builtins.h>
#include <utils/jsonb.h>
#include <utils/memutils.h>

#include "glue.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(bloomset_in);
PG_FUNCTION_INFO_V1(bloomset_out);
PG_FUNCTION_INFO_V1(bloomset_receive);
PG_FUNCTION_INFO_V1(bloomset_send);
PG_FUNCTION_INFO_V1(bloomset_from_bytea);
PG_FUNCTION_INFO_V1(bloomset_info);

void glue_raise(const struct bridge_failure* failure) {
  int code = ERRCODE_FEATURE_NOT_SUPPORTED;
  switch (failure->code) {
    case bridge_bad_bytes:
      code = ERRCODE_INVALID_BINARY_REPRESENTATION;
      break;
    case bridge_bad_argument:
      code = ERRCODE_INVALID_PARAMETER_VALUE;
      break;
    case bridge_too_large:
      code = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
      break;
    case bridge_no_memory:
      code = ERRCODE_OUT_OF_MEMORY;
      break;
    case bridge_cancelled:
      CHECK_FOR_INTERRUPTS(); /* raises the server's own error */
      code = ERRCODE_QUERY_CANCELED;
      break;
    case bridge_unsupported:
      break;
  }
  ereport(ERROR, (errcode(code), errmsg("bloomset: %s", failure->sentence)));
}

void* glue_allocate(size_t size) {
  return palloc_extended(size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

struct bridge_bytes glue_bytes(const struct varlena* value) {
  return (struct bridge_bytes){VARDATA_ANY(value), glue_size(value)};
}

struct bridge_bytes glue_text(const struct varlena* text) {
  const struct bridge_bytes bytes = glue_bytes(text);
  const char* const converted = pg_server_to_any(bytes.data, (int)bytes.size, PG_UTF8);
  if (converted == bytes.data) return bytes;
  return (struct bridge_bytes){converted, strlen(converted)};
}

struct bridge_bytes glue_integer(int64 value, char* word) {
  for (int i = 0; i < 8; ++i) word[i] = (char)((uint64)value >> (8 * i));
  return (struct bridge_bytes){word, 8};
}

struct bridge_bytes glue_uuid(const pg_uuid_t* uuid) {
  return (struct bridge_bytes){(const char*)uuid->data, UUID_LEN};
}

struct bridge_bytes glue_date(DateADT date, char* word) {
  if (DATE_NOT_FINITE(date)) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloomset: an infinite date is not a key; leave it out with isfinite()")));
  }
  return glue_integer((int64)date + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE), word);
}

/* The value, if it is a filter. */
static struct varlena* checked(struct varlena* value) {
  struct bridge_failure failure;
  if (!bridge_check(glue_bytes(value), &failure)) glue_raise(&failure);
  return value;
}

/* Text is hexadecimal, as bytea's. */
Datum bloomset_in(PG_FUNCTION_ARGS) {
  const Datum bytes = DirectFunctionCall1(byteain, PG_GETARG_DATUM(0));
  PG_RETURN_POINTER(checked(DatumGetByteaP(bytes)));
}

Datum bloomset_out(PG_FUNCTION_ARGS) {
  const struct bridge_bytes bytes = glue_bytes(PG_GETARG_VARLENA_PP(0));
  char* text = NULL;
  if (2 * bytes.size + 3 > MaxAllocSize) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("bloomset: a filter of %zu bytes is too large for its text form; "
                           "read it in the binary format",
                           bytes.size)));
  }
  text = palloc(2 * bytes.size + 3);
  text[0] = '\\';
  text[1] = 'x';
  text[2 + hex_encode(bytes.data, bytes.size, text + 2)] = '\0';
  PG_RETURN_CSTRING(text);
}

Datum bloomset_receive(PG_FUNCTION_ARGS) {
  StringInfo buffer = (StringInfo)PG_GETARG_POINTER(0);
  return PointerGetDatum(
      checked(DatumGetByteaP(DirectFunctionCall1(bytearecv, PointerGetDatum(buffer)))));
}

Datum bloomset_send(PG_FUNCTION_ARGS) {
  PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
}

Datum bloomset_from_bytea(PG_FUNCTION_ARGS) {
  PG_RETURN_POINTER(checked(PG_GETARG_VARLENA_PP(0)));
}

Datum bloomset_info(PG_FUNCTION_ARGS) {
  struct bridge_failure failure;
  char* json = NULL;
  if (!bridge_info(glue_bytes(PG_GETARG_VARLENA_PP(0)), glue_allocate, &json, &failure)) {
    glue_raise(&failure);
  }
  return DirectFunctionCall1(
      jsonb_in, CStringGetDatum(pg_any_to_server(json, (int)strlen(json), PG_UTF8)));
}
