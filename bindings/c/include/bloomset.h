#ifndef BLOOMERY_H
#define BLOOMERY_H

/* Bloomery's C interface: every kind of filter behind one handle. C99 and later, C++ too.
 *
 *     bloomery_request wanted = {.struct_size = sizeof wanted, .capacity = 1000000};
 *     bloomery_filter *seen = NULL;
 *     bloomery_error error = {.struct_size = sizeof error};
 *     if (bloomery_create(&wanted, &seen, &error) != BLOOMERY_OK) puts(error.message);
 *     bloomery_insert(seen, "alice@example.com", 17, NULL, NULL);
 *     if (bloomery_may_contain(seen, "bob@example.com", 15)) ask_the_database();
 *     bloomery_close(seen);
 *
 * Link with `pkg-config --cflags --libs bloomery-c`, or CMake's bloomery::c.
 *
 * Failures    A call returns a status. If it fails, it writes one sentence to *error, unless error
 *             is NULL, and does not change its other results. No call throws or exits.
 * NULL        A NULL pointer is BLOOMERY_INVALID_ARGUMENT, unless its comment allows it. Keys,
 *             answers and bytes may be NULL if their number is 0.
 * Memory      No call keeps a pointer that it was given. The caller releases handles with
 *             bloomery_close and byte strings with bloomery_free. Other text is static.
 * Keys        Any bytes, also none. The files are those of the command line and C++.
 * Threads     Calls with a `const bloomery_filter *` may run at once on one filter. Other calls
 *             need exclusive access to their filter.
 * ABI         Functions and constants are only ever added. Structures grow only at their end.
 *             bloomery_key and bloomery_option never grow, because they are used in arrays.
 * Structures  The caller sets struct_size to sizeof, and unused members to 0. An older library
 *             accepts a newer structure if the members that it does not know are 0. Otherwise it
 *             returns BLOOMERY_UNSUPPORTED. A wrong struct_size is BLOOMERY_INVALID_ARGUMENT. No
 *             sentence is written if error->struct_size is wrong. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
/* Shows a function in a shared library. */
#define BLOOMERY_API __attribute__((visibility("default")))
#else
#define BLOOMERY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It grows with every addition. */
#define BLOOMERY_C_VERSION 1

/* The bytes of a secret key. */
#define BLOOMERY_KEY_SIZE 16

/* The version of the linked library, at least BLOOMERY_C_VERSION unless the library is older. */
BLOOMERY_API unsigned bloomery_c_version(void);

/* The outcome of a call. */
typedef enum bloomery_status {
  BLOOMERY_OK = 0,
  BLOOMERY_INVALID_ARGUMENT = 1, /* a parameter is out of range, or parameters contradict */
  BLOOMERY_NOT_FOUND = 2,        /* the file does not exist */
  BLOOMERY_EXISTS = 3,           /* the file exists, and `replace` is false */
  BLOOMERY_CORRUPT = 4,          /* the bytes are damaged */
  BLOOMERY_UNSUPPORTED = 5,      /* a newer version, an unknown kind, an operation it lacks */
  BLOOMERY_INCOMPATIBLE = 6,     /* two filters that cannot be combined */
  BLOOMERY_FULL = 7,             /* no room for the key */
  BLOOMERY_IO = 8,               /* the operating system refused a read or a write */
  BLOOMERY_OUT_OF_MEMORY = 9
} bloomery_status;

/* The failure of a call. */
typedef struct bloomery_error {
  size_t struct_size; /* sizeof(bloomery_error), set by the caller */
  bloomery_status status;
  char message[500]; /* one sentence, cut if it is longer */
} bloomery_error;

/* A filter of any kind. */
typedef struct bloomery_filter bloomery_filter;

/* The bytes of a key. */
typedef struct bloomery_key {
  const void* data;
  size_t size;
} bloomery_key;

/* A parameter that only some kinds have, as `bloomery plan --help` lists them. */
typedef struct bloomery_option {
  const char* name;
  const char* value;
} bloomery_option;

/* A request for a filter. 0 and NULL mean that the planner finds the value. Give two of capacity,
 * fpr and bits. If fewer are given and fpr is 0, the rate is 1%. */
typedef struct bloomery_request {
  size_t struct_size; /* sizeof(bloomery_request), set by the caller */
  const char* kind;   /* "bloom", ...; NULL: blocked_bloom, or the best kind for the needs below */
  uint64_t capacity;
  double fpr;    /* of false positives at capacity, between 0 and 1 */
  uint64_t bits; /* at most */
  unsigned hashes;
  bool deletable; /* the needs: properties that the filter must have */
  bool counting;
  bool growing;
  bool unchanging;
  uint64_t seed; /* of the hash function; any value, also 0 */
  const bloomery_option* options;
  size_t option_count;
  const void* key;  /* NULL, or the BLOOMERY_KEY_SIZE bytes of a secret key; then seed is 0 */
  const char* hash; /* "xxh3", "xxh3-2x64" or, with a key, "siphash" or "siphash-2x64"; NULL: by the
                     * rate and the key. Those with 2x64 have 128 bits, for very low rates */
} bloomery_request;

/* The plan of a filter. */
typedef struct bloomery_plan_report {
  size_t struct_size; /* sizeof(bloomery_plan_report), set by the caller */
  const char* kind;
  uint64_t capacity;
  uint64_t bits;
  uint64_t bytes;
  unsigned hashes; /* 0 if the kind has none */
  double planned_fpr;
  unsigned hash_bits; /* 64 or 128 */
} bloomery_plan_report;

/* The plan and the state of a filter. */
typedef struct bloomery_info_report {
  size_t struct_size; /* sizeof(bloomery_info_report), set by the caller */
  const char* kind;
  uint64_t capacity;
  uint64_t bits;
  uint64_t bytes;
  unsigned hashes;
  double planned_fpr;
  double current_fpr;
  uint64_t count;        /* copies, or keys that were certainly new */
  double estimated_size; /* distinct keys, estimated from the bits; infinite if unknown */
  double fill;           /* in [0, 1] */
  uint64_t seed;
  bool can_insert;
  bool can_erase;
  bool can_count;
  bool can_merge;
  bool can_intersect;
  bool can_grow;
  const char* hash; /* "xxh3", "siphash", "xxh3-2x64", "siphash-2x64", ... */
} bloomery_info_report;

/* Kinds of filter ----------------------------------------------------------------------------- */

/* The name of kind `number`, counted from 0. NULL beyond the last. */
BLOOMERY_API const char* bloomery_kind_name(size_t number);
/* One line about a kind. NULL for an unknown name, and for NULL. */
BLOOMERY_API const char* bloomery_kind_summary(const char* kind);

/* The plan for a request, without making a filter. Takes microseconds to milliseconds. */
BLOOMERY_API bloomery_status bloomery_plan(const bloomery_request* request,
                                           bloomery_plan_report* report, bloomery_error* error);

/* Making, storing ----------------------------------------------------------------------------- */

/* Makes an empty filter. BLOOMERY_UNSUPPORTED for kinds that are built once from all keys. */
BLOOMERY_API bloomery_status bloomery_create(const bloomery_request* request,
                                             bloomery_filter** filter, bloomery_error* error);

/* Makes a filter of these keys, of any kind. A capacity of 0 means the number of keys. */
BLOOMERY_API bloomery_status bloomery_build(const bloomery_request* request,
                                            const bloomery_key* keys, size_t count,
                                            bloomery_filter** filter, bloomery_error* error);

/* Maps a file read-only, without a copy. Calls that change this filter are BLOOMERY_UNSUPPORTED. No
 * program may change the file in place while it is open. */
BLOOMERY_API bloomery_status bloomery_open(const char* path, bloomery_filter** filter,
                                           bloomery_error* error);
/* Reads a file into memory. The filter can be changed. */
BLOOMERY_API bloomery_status bloomery_load(const char* path, bloomery_filter** filter,
                                           bloomery_error* error);
/* Writes a file atomically: the path always has the whole old file or the whole new one. */
BLOOMERY_API bloomery_status bloomery_save(const bloomery_filter* filter, const char* path,
                                           bool replace, bloomery_error* error);

/* Draws a secret key from the operating system's random source. Nobody who does not know a filter's
 * key can choose false positives. The key is not in the filter's file. */
BLOOMERY_API bloomery_status bloomery_new_key(void* key, bloomery_error* error);
/* As bloomery_open (writable: false) or bloomery_load (true), for a filter that may have a secret
 * key. BLOOMERY_INVALID_ARGUMENT if the filter has another. */
BLOOMERY_API bloomery_status bloomery_open_keyed(const char* path, const void* key, bool writable,
                                                 bloomery_filter** filter, bloomery_error* error);
/* As bloomery_from_bytes, for a filter that may have a secret key. */
BLOOMERY_API bloomery_status bloomery_from_bytes_keyed(const void* bytes, size_t size,
                                                       const void* key, bloomery_filter** filter,
                                                       bloomery_error* error);

/* The bytes of the filter's file. Release them with bloomery_free. */
BLOOMERY_API bloomery_status bloomery_to_bytes(const bloomery_filter* filter, void** bytes,
                                               size_t* size, bloomery_error* error);
/* Makes a filter in its own memory from such bytes, and checks all of them. */
BLOOMERY_API bloomery_status bloomery_from_bytes(const void* bytes, size_t size,
                                                 bloomery_filter** filter, bloomery_error* error);
BLOOMERY_API void bloomery_free(void* bytes); /* NULL is allowed */

/* A copy in its own memory. */
BLOOMERY_API bloomery_status bloomery_copy(const bloomery_filter* filter, bloomery_filter** copy,
                                           bloomery_error* error);
BLOOMERY_API void bloomery_close(bloomery_filter* filter); /* NULL is allowed */

/* Queries ------------------------------------------------------------------------------------- */

/* Whether the key may be a member; false is certain. True if the filter is NULL, or if the key is
 * NULL and its size is not 0. */
BLOOMERY_API bool bloomery_may_contain(const bloomery_filter* filter, const void* key, size_t size);
/* The same for many keys, several times as fast. answers[i] is the answer for keys[i]. */
BLOOMERY_API bloomery_status bloomery_may_contain_batch(const bloomery_filter* filter,
                                                        const bloomery_key* keys, size_t count,
                                                        bool* answers, bloomery_error* error);
/* The same for an array of keys of `size` bytes each, such as integers or hashes. */
BLOOMERY_API bloomery_status bloomery_may_contain_fixed(const bloomery_filter* filter,
                                                        const void* keys, size_t size, size_t count,
                                                        bool* answers, bloomery_error* error);

/* Fills *report. O(size of the filter). */
BLOOMERY_API bloomery_status bloomery_info(const bloomery_filter* filter,
                                           bloomery_info_report* report, bloomery_error* error);

/* The same for the filter in a file. No secret key is needed. Fails as bloomery_open does. */
BLOOMERY_API bloomery_status bloomery_file_info(const char* path, bloomery_info_report* report,
                                                bloomery_error* error);

/* Changes ------------------------------------------------------------------------------------- */

/* Inserts a key. *is_new, unless it is NULL, becomes true if the key was certainly not a member
 * before. BLOOMERY_FULL changes nothing. */
BLOOMERY_API bloomery_status bloomery_insert(bloomery_filter* filter, const void* key, size_t size,
                                             bool* is_new, bloomery_error* error);
/* Inserts in order, up to the first key without room (BLOOMERY_FULL). *done, unless it is NULL,
 * becomes the number of keys that are contained now, also after BLOOMERY_FULL. *inserted, unless it
 * is NULL, becomes the number of keys that were certainly new. */
BLOOMERY_API bloomery_status bloomery_insert_batch(bloomery_filter* filter,
                                                   const bloomery_key* keys, size_t count,
                                                   size_t* done, uint64_t* inserted,
                                                   bloomery_error* error);
/* The same for keys that lie one after the other, `size` bytes each. */
BLOOMERY_API bloomery_status bloomery_insert_fixed(bloomery_filter* filter, const void* keys,
                                                   size_t size, size_t count, size_t* done,
                                                   uint64_t* inserted, bloomery_error* error);

/* Erases each key once. erased[i], unless erased is NULL, is false if keys[i] is certainly not a
 * member. Erase only keys that were inserted: erasing a non-member may remove a member. */
BLOOMERY_API bloomery_status bloomery_erase(bloomery_filter* filter, const bloomery_key* keys,
                                            size_t count, bool* erased, bloomery_error* error);
/* Counts copies: counts[i] is the number of inserts of keys[i] minus its erases. It is never too
 * low, up to the kind's largest count. */
BLOOMERY_API bloomery_status bloomery_count(const bloomery_filter* filter, const bloomery_key* keys,
                                            size_t count, uint64_t* counts, bloomery_error* error);

/* The union with another filter of the same kind and parameters, in place. Filters of kind
 * expandable need only the same seed, if the union can keep the rate of `filter`. Filters of kind
 * blocked_bloom or bloom may differ in size: `filter` is then folded to the greatest common size.
 * Fails with BLOOMERY_INCOMPATIBLE, and changes nothing, if the rate of the union would be above the
 * higher planned rate of both. */
BLOOMERY_API bloomery_status bloomery_merge(bloomery_filter* filter, const bloomery_filter* other,
                                            bloomery_error* error);
/* The intersection with another filter of the same kind and parameters, in place. */
BLOOMERY_API bloomery_status bloomery_intersect(bloomery_filter* filter,
                                                const bloomery_filter* other,
                                                bloomery_error* error);

/* A smaller filter of the same keys: with `factor`, the one that is so many times smaller; the
 * factor must divide the size. If `factor` is 0, the smallest whose rate is at most `fpr`. Kinds
 * bloom and blocked_bloom. Fails with BLOOMERY_FULL if the rate is above `fpr` already. */
BLOOMERY_API bloomery_status bloomery_fold(const bloomery_filter* filter, uint64_t factor,
                                           double fpr, bloomery_filter** folded,
                                           bloomery_error* error);

#ifdef __cplusplus
}
#endif

#endif
