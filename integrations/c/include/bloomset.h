#ifndef BLOOMSET_H
#define BLOOMSET_H

/* Bloomset's C interface: every kind of filter behind one handle. C99 and later, C++ too.
 *
 *     bloomset_request wanted = {.struct_size = sizeof wanted, .capacity = 1000000};
 *     bloomset_filter *seen = NULL;
 *     bloomset_error error = {.struct_size = sizeof error};
 *     if (bloomset_create(&wanted, &seen, &error) != BLOOMSET_OK) puts(error.message);
 *     bloomset_insert(seen, "alice@example.com", 17, NULL, NULL);
 *     if (bloomset_may_contain(seen, "bob@example.com", 15)) ask_the_database();
 *     bloomset_close(seen);
 *
 * Link with `pkg-config --cflags --libs bloomset-c`, or CMake's bloomset::c.
 *
 * Failures    A call returns a status. If it fails, it writes one sentence to *error, unless error
 *             is NULL, and does not change its other results. No call throws or exits.
 * NULL        A NULL pointer is BLOOMSET_INVALID_ARGUMENT, unless its comment allows it. Keys,
 *             answers and bytes may be NULL if their number is 0.
 * Memory      No call keeps a pointer that it was given. The caller releases handles with
 *             bloomset_close and byte strings with bloomset_free. Other text is static.
 * Keys        Any bytes, also none. The files are those of the command line and C++.
 * Threads     Calls with a `const bloomset_filter *` may run at once on one filter. Other calls
 *             need exclusive access to their filter.
 * ABI         Functions and constants are only ever added. Structures grow only at their end.
 *             bloomset_key and bloomset_option never grow, because they are used in arrays.
 * Structures  The caller sets struct_size to sizeof, and unused members to 0. An older library
 *             accepts a newer structure if the members that it does not know are 0. Otherwise it
 *             returns BLOOMSET_UNSUPPORTED. A wrong struct_size is BLOOMSET_INVALID_ARGUMENT. No
 *             sentence is written if error->struct_size is wrong. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
/* Shows a function in a shared library. */
#define BLOOMSET_API __attribute__((visibility("default")))
#else
#define BLOOMSET_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It grows with every addition. */
#define BLOOMSET_C_VERSION 1

/* The bytes of a secret key. */
#define BLOOMSET_KEY_SIZE 16

/* The version of the linked library, at least BLOOMSET_C_VERSION unless the library is older. */
BLOOMSET_API unsigned bloomset_c_version(void);

/* The outcome of a call. */
typedef enum bloomset_status {
  BLOOMSET_OK = 0,
  BLOOMSET_INVALID_ARGUMENT = 1, /* a parameter is out of range, or parameters contradict */
  BLOOMSET_NOT_FOUND = 2,        /* the file does not exist */
  BLOOMSET_EXISTS = 3,           /* the file exists, and `replace` is false */
  BLOOMSET_CORRUPT = 4,          /* the bytes are damaged */
  BLOOMSET_UNSUPPORTED = 5,      /* a newer version, an unknown kind, an operation it lacks */
  BLOOMSET_INCOMPATIBLE = 6,     /* two filters that cannot be combined */
  BLOOMSET_FULL = 7,             /* no room for the key */
  BLOOMSET_IO = 8,               /* the operating system refused a read or a write */
  BLOOMSET_OUT_OF_MEMORY = 9
} bloomset_status;

/* The failure of a call. */
typedef struct bloomset_error {
  size_t struct_size; /* sizeof(bloomset_error), set by the caller */
  bloomset_status status;
  char message[500]; /* one sentence, cut if it is longer */
} bloomset_error;

/* A filter of any kind. */
typedef struct bloomset_filter bloomset_filter;

/* The bytes of a key. */
typedef struct bloomset_key {
  const void* data;
  size_t size;
} bloomset_key;

/* A parameter that only some kinds have, as `bloomset plan --help` lists them. */
typedef struct bloomset_option {
  const char* name;
  const char* value;
} bloomset_option;

/* A request for a filter. 0 and NULL mean that the planner finds the value. Give two of capacity,
 * fpr and bits. If fewer are given and fpr is 0, the rate is 1%. */
typedef struct bloomset_request {
  size_t struct_size; /* sizeof(bloomset_request), set by the caller */
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
  const bloomset_option* options;
  size_t option_count;
  const void* key;  /* NULL, or the BLOOMSET_KEY_SIZE bytes of a secret key; then seed is 0 */
  const char* hash; /* "xxh3", "xxh3-2x64" or, with a key, "siphash" or "siphash-2x64"; NULL: by the
                     * rate and the key. Those with 2x64 have 128 bits, for very low rates */
} bloomset_request;

/* The plan of a filter. */
typedef struct bloomset_plan_report {
  size_t struct_size; /* sizeof(bloomset_plan_report), set by the caller */
  const char* kind;
  uint64_t capacity;
  uint64_t bits;
  uint64_t bytes;
  unsigned hashes; /* 0 if the kind has none */
  double planned_fpr;
  unsigned hash_bits; /* 64 or 128 */
} bloomset_plan_report;

/* The plan and the state of a filter. */
typedef struct bloomset_info_report {
  size_t struct_size; /* sizeof(bloomset_info_report), set by the caller */
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
  bool can_insert; /* the kind can; a mapped filter cannot be changed */
  bool can_erase;
  bool can_count;
  bool can_merge;
  bool can_intersect;
  bool can_grow;
  const char* hash; /* "xxh3", "siphash", "xxh3-2x64", "siphash-2x64", ... */
  bool can_fold;
  bool overfilled; /* the current rate exceeds the planned one by more than chance explains */
} bloomset_info_report;

/* Kinds of filter ----------------------------------------------------------------------------- */

/* The name of kind `number`, counted from 0. NULL beyond the last. */
BLOOMSET_API const char* bloomset_kind_name(size_t number);
/* One line about a kind. NULL for an unknown name, and for NULL. */
BLOOMSET_API const char* bloomset_kind_summary(const char* kind);

/* The plan for a request, without making a filter. Takes microseconds to milliseconds. */
BLOOMSET_API bloomset_status bloomset_plan(const bloomset_request* request,
                                           bloomset_plan_report* report, bloomset_error* error);

/* Making, storing ----------------------------------------------------------------------------- */

/* Makes an empty filter. BLOOMSET_UNSUPPORTED for kinds that are built once from all keys. */
BLOOMSET_API bloomset_status bloomset_create(const bloomset_request* request,
                                             bloomset_filter** filter, bloomset_error* error);

/* Makes a filter of these keys, of any kind but exact. A capacity of 0 means the number of keys. */
BLOOMSET_API bloomset_status bloomset_build(const bloomset_request* request,
                                            const bloomset_key* keys, size_t count,
                                            bloomset_filter** filter, bloomset_error* error);

/* Makes an exact filter: it answers the `count` members and the `other_count` other keys without an
 * error, and keys of neither at random. A key in both sets is a member, so the other keys may be
 * the whole universe. request->kind is NULL or "exact"; capacity, fpr and bits stay 0. */
BLOOMSET_API bloomset_status bloomset_build_exact(const bloomset_request* request,
                                                  const bloomset_key* members, size_t count,
                                                  const bloomset_key* others, size_t other_count,
                                                  bloomset_filter** filter, bloomset_error* error);

/* The same for a universe with partitions, such as issuers of certificates, which may have equal
 * rests of keys. Each key is a text with a tab after its partition, such as "Good CA\t03a1". A key
 * of a partition without members and others has no answer: see bloomset_covers. */
BLOOMSET_API bloomset_status
bloomset_build_partitioned_exact(const bloomset_request* request, const bloomset_key* members,
                                 size_t count, const bloomset_key* others, size_t other_count,
                                 bloomset_filter** filter, bloomset_error* error);

/* Maps a file read-only, without a copy. Calls that change its keys are BLOOMSET_UNSUPPORTED. No
 * program may change the file in place while it is open. A folder that `bloomset publish` wrote is
 * one filter, of its base and layers. */
BLOOMSET_API bloomset_status bloomset_open(const char* path, bloomset_filter** filter,
                                           bloomset_error* error);
/* Reads a file into memory. The filter can be changed. */
BLOOMSET_API bloomset_status bloomset_load(const char* path, bloomset_filter** filter,
                                           bloomset_error* error);
/* Writes a file atomically: the path always has the whole old file or the whole new one. */
BLOOMSET_API bloomset_status bloomset_save(const bloomset_filter* filter, const char* path,
                                           bool replace, bloomset_error* error);

/* Draws a secret key from the operating system's random source. Nobody who does not know a filter's
 * key can choose false positives. The key is not in the filter's file. */
BLOOMSET_API bloomset_status bloomset_new_key(void* key, bloomset_error* error);
/* As bloomset_open (writable: false) or bloomset_load (true), for a filter that may have a secret
 * key. BLOOMSET_INVALID_ARGUMENT if the filter has another. */
BLOOMSET_API bloomset_status bloomset_open_keyed(const char* path, const void* key, bool writable,
                                                 bloomset_filter** filter, bloomset_error* error);
/* As bloomset_from_bytes, for a filter that may have a secret key. */
BLOOMSET_API bloomset_status bloomset_from_bytes_keyed(const void* bytes, size_t size,
                                                       const void* key, bloomset_filter** filter,
                                                       bloomset_error* error);

/* The bytes of the filter's file. Release them with bloomset_free. */
BLOOMSET_API bloomset_status bloomset_to_bytes(const bloomset_filter* filter, void** bytes,
                                               size_t* size, bloomset_error* error);
/* Makes a filter in its own memory from such bytes, and checks all of them. */
BLOOMSET_API bloomset_status bloomset_from_bytes(const void* bytes, size_t size,
                                                 bloomset_filter** filter, bloomset_error* error);
BLOOMSET_API void bloomset_free(void* bytes); /* NULL is allowed */

/* A copy in its own memory. */
BLOOMSET_API bloomset_status bloomset_copy(const bloomset_filter* filter, bloomset_filter** copy,
                                           bloomset_error* error);
BLOOMSET_API void bloomset_close(bloomset_filter* filter); /* NULL is allowed */

/* Queries ------------------------------------------------------------------------------------- */

/* Whether the key may be a member; false is certain. True if the filter is NULL, or if the key is
 * NULL and its size is not 0. */
BLOOMSET_API bool bloomset_may_contain(const bloomset_filter* filter, const void* key, size_t size);
/* The same for many keys, several times as fast. answers[i] is the answer for keys[i]. */
BLOOMSET_API bloomset_status bloomset_may_contain_batch(const bloomset_filter* filter,
                                                        const bloomset_key* keys, size_t count,
                                                        bool* answers, bloomset_error* error);
/* The same for an array of keys of `size` bytes each, such as hashes, or integers of 64 bits. (In
 * other languages, the key of an integer of any width is its eight little-endian bytes.) */
BLOOMSET_API bloomset_status bloomset_may_contain_fixed(const bloomset_filter* filter,
                                                        const void* keys, size_t size, size_t count,
                                                        bool* answers, bloomset_error* error);

/* covered[i] tells whether the filter has an answer for keys[i]. Only a filter with partitions may
 * have none; bloomset_may_contain is then false and means nothing. */
BLOOMSET_API bloomset_status bloomset_covers(const bloomset_filter* filter,
                                             const bloomset_key* keys, size_t count, bool* covered,
                                             bloomset_error* error);

/* Fills *report. O(size of the filter). */
BLOOMSET_API bloomset_status bloomset_info(const bloomset_filter* filter,
                                           bloomset_info_report* report, bloomset_error* error);

/* The same for the filter in a file. No secret key is needed. Fails as bloomset_open does. */
BLOOMSET_API bloomset_status bloomset_file_info(const char* path, bloomset_info_report* report,
                                                bloomset_error* error);

/* Changes ------------------------------------------------------------------------------------- */

/* Inserts a key. *is_new, unless it is NULL, becomes true if the key was certainly not a member
 * before. BLOOMSET_FULL changes nothing. */
BLOOMSET_API bloomset_status bloomset_insert(bloomset_filter* filter, const void* key, size_t size,
                                             bool* is_new, bloomset_error* error);
/* Inserts in order, up to the first key without room (BLOOMSET_FULL). *done, unless it is NULL,
 * becomes the number of keys that are contained now, also after BLOOMSET_FULL. *inserted, unless it
 * is NULL, becomes the number of keys that were certainly new. */
BLOOMSET_API bloomset_status bloomset_insert_batch(bloomset_filter* filter,
                                                   const bloomset_key* keys, size_t count,
                                                   size_t* done, uint64_t* inserted,
                                                   bloomset_error* error);
/* The same for keys that lie one after the other, `size` bytes each. */
BLOOMSET_API bloomset_status bloomset_insert_fixed(bloomset_filter* filter, const void* keys,
                                                   size_t size, size_t count, size_t* done,
                                                   uint64_t* inserted, bloomset_error* error);

/* Erases each key once. erased[i], unless erased is NULL, is false if keys[i] is certainly not a
 * member. Erase only keys that were inserted: erasing a non-member may remove a member. */
BLOOMSET_API bloomset_status bloomset_erase(bloomset_filter* filter, const bloomset_key* keys,
                                            size_t count, bool* erased, bloomset_error* error);
/* Makes the answer "no" for keys that are not members but pass as members; *changed, unless changed
 * is NULL, is the number of new exceptions. At most 4096 go with the filter into its file. A member
 * among the keys is denied from then on. Inserting a key ends its exception. */
BLOOMSET_API bloomset_status bloomset_add_exceptions(bloomset_filter* filter,
                                                     const bloomset_key* keys, size_t count,
                                                     uint64_t* changed, bloomset_error* error);
/* Ends the exceptions of these keys. */
BLOOMSET_API bloomset_status bloomset_remove_exceptions(bloomset_filter* filter,
                                                        const bloomset_key* keys, size_t count,
                                                        uint64_t* changed, bloomset_error* error);
/* Counts copies: counts[i] is the number of inserts of keys[i] minus its erases. It is never too
 * low, up to the kind's largest count. */
BLOOMSET_API bloomset_status bloomset_count(const bloomset_filter* filter, const bloomset_key* keys,
                                            size_t count, uint64_t* counts, bloomset_error* error);

/* The union with another filter of the same kind and parameters, in place. Filters of kind
 * expandable need only the same seed, if the union can keep the rate of `filter`. Filters of kind
 * blocked_bloom or bloom may differ in size: `filter` is then folded to the largest size that
 * divides both.
 * Fails with BLOOMSET_INCOMPATIBLE, and changes nothing, if the rate of the union would be above
 * the higher planned rate of both. */
BLOOMSET_API bloomset_status bloomset_merge(bloomset_filter* filter, const bloomset_filter* other,
                                            bloomset_error* error);
/* The intersection with another filter of the same kind and parameters, in place. */
BLOOMSET_API bloomset_status bloomset_intersect(bloomset_filter* filter,
                                                const bloomset_filter* other,
                                                bloomset_error* error);

/* A smaller filter of the same keys: with `factor`, the one that is so many times smaller; the
 * factor must divide the size. If `factor` is 0, the smallest whose rate is at most `fpr`. Kinds
 * bloom and blocked_bloom. Fails with BLOOMSET_FULL if the rate is above `fpr` already. */
BLOOMSET_API bloomset_status bloomset_fold(const bloomset_filter* filter, uint64_t factor,
                                           double fpr, bloomset_filter** folded,
                                           bloomset_error* error);

/* More about a filter ------------------------------------------------------------------------- */

/* All figures of a filter as a JSON object, with the names of `bloomset info --json`. Release the
 * text with bloomset_free. O(size of the filter). */
BLOOMSET_API bloomset_status bloomset_info_json(const bloomset_filter* filter, char** json,
                                                bloomset_error* error);
/* The same for the filter in a file. No secret key is needed. Fails as bloomset_open does. */
BLOOMSET_API bloomset_status bloomset_file_info_json(const char* path, char** json,
                                                     bloomset_error* error);

#ifdef __cplusplus
}
#endif

#endif
