/* The library for C code of a PostgreSQL server, which leaves functions by longjmp.
 *
 * No function here calls the server, except for allocate(), which returns NULL instead of leaving.
 * No exception leaves a function. Functions that fail return false, and a sentence in `failure`. */
#ifndef BLOOMSET_POSTGRES_BRIDGE_H
#define BLOOMSET_POSTGRES_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bridge_code {
  bridge_bad_bytes,
  bridge_bad_argument,
  bridge_unsupported,
  bridge_too_large,
  bridge_no_memory,
  bridge_cancelled,
};

struct bridge_failure {
  enum bridge_code code;
  char sentence[1024];
};

struct bridge_bytes {
  const char* data;
  size_t size;
};

/* Memory of the server for `size` bytes, or NULL. */
typedef void* (*bridge_allocate)(size_t size);

/* Succeeds if the bytes are a filter that SQL can use. */
bool bridge_check(struct bridge_bytes value, struct bridge_failure* failure);

uint64_t bridge_hash(struct bridge_bytes key);

/* What an aggregate makes of its keys. */
struct bridge_plan {
  double fpr;
  uint64_t capacity; /* 0: the keys are counted */
  uint16_t kind;     /* its number in files */
};

/* NULL or no bytes: the default. */
bool bridge_make_plan(struct bridge_bytes rate, struct bridge_bytes kind, const int64_t* capacity,
                      struct bridge_plan* plan, struct bridge_failure* failure);

/* A value of the server: its header of 4 bytes is not filled in; `size` includes it. */
struct bridge_value {
  char* data;
  size_t size;
};

/* Fails with bridge_cancelled soon after is_cancelled() returns true. */
bool bridge_build(const struct bridge_plan* plan, const uint64_t* hashes, size_t count,
                  bool (*is_cancelled)(void), bridge_allocate allocate, struct bridge_value* value,
                  struct bridge_failure* failure);
/* The first is not verified again if it `is_own`: a result of this function. */
bool bridge_merge(struct bridge_bytes first, bool is_own, struct bridge_bytes second,
                  bridge_allocate allocate, struct bridge_value* value,
                  struct bridge_failure* failure);
/* JSON that ends in a zero byte. */
bool bridge_info(struct bridge_bytes value, bridge_allocate allocate, char** json,
                 struct bridge_failure* failure);

/* A filter over a value that stays in memory until bridge_close(). */
struct bridge_filter;

/* Bytes of a value. */
struct bridge_range {
  size_t offset;
  size_t size;
};

/* Whether a query of such a filter reads only the beginning and one short range. `beginning` is the
 * value's first bridge_beginning bytes. */
enum { bridge_beginning = 128 };
bool bridge_reads_ranges(struct bridge_bytes beginning);

/* NULL if it fails. Without `is_complete`, only the beginning is there yet: for a filter that
 * reads ranges. */
struct bridge_filter* bridge_open(struct bridge_bytes value, bool is_complete,
                                  struct bridge_failure* failure);
void bridge_close(struct bridge_filter* filter);
bool bridge_may_contain(const struct bridge_filter* filter, struct bridge_bytes key);
/* The bytes beside the beginning that a query of this key reads, of a filter that reads ranges. */
struct bridge_range bridge_range_of(const struct bridge_filter* filter, struct bridge_bytes key);

#ifdef __cplusplus
}
#endif

#endif
