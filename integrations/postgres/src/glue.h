/* What the parts of the extension share. Here C++ has no place: ereport() leaves by longjmp. */
#ifndef BLOOMSET_POSTGRES_GLUE_H
#define BLOOMSET_POSTGRES_GLUE_H

#include <postgres.h>

#include <fmgr.h>
#include <utils/date.h>
#include <utils/uuid.h>
#if PG_VERSION_NUM >= 160000 /* postgres.h had its contents */
#include <varatt.h>
#endif

#include "bridge.h"

/* Raises the SQL error of a failure. */
void glue_raise(const struct bridge_failure* failure) pg_attribute_noreturn();

/* Memory of the current context, of any size, or NULL. */
void* glue_allocate(size_t size);

/* The number of bytes of a value in memory. The server's macro mixes signed and unsigned numbers. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline size_t glue_size(const struct varlena* value) { return VARSIZE_ANY_EXHDR(value); }
#pragma GCC diagnostic pop

/* The bytes of a value in memory. */
struct bridge_bytes glue_bytes(const struct varlena* value);

/* A text as a key: its UTF-8. */
struct bridge_bytes glue_text(const struct varlena* text);

/* An integer as a key: its 8 bytes, little-endian, in `word`. */
struct bridge_bytes glue_integer(int64 value, char* word);

/* A UUID as a key: its 16 bytes, in the order of its text. */
struct bridge_bytes glue_uuid(const pg_uuid_t* uuid);

/* A date as a key: the days since 1970-01-01, as an integer. */
struct bridge_bytes glue_date(DateADT date, char* word);

#endif
