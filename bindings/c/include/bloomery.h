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
 * Failures are a status, and one sentence in *error where error is not NULL; what a call would have
 * given is then untouched. NULL for another pointer is BLOOMERY_INVALID_ARGUMENT unless it says
 * otherwise; keys, answers and bytes may be NULL where their number is 0. No call throws, exits or
 * keeps a pointer that it was given. Handles and
 * byte strings that a call gives are the caller's, to be given back to bloomery_close and
 * bloomery_free; other text is static. Keys are any bytes, also none; a filter that was built here
 * is asked by `bloomery check` and the other way round.
 *
 * Threads: calls that take a `const bloomery_filter *` may run at once on one filter; others need
 * it to themselves. Different filters have nothing to do with each other.
 *
 * The binary interface: functions and constants are only ever added. Structures begin with their
 * size, as the caller knows it, and grow only at their end: the caller sets struct_size to sizeof,
 * and what else it does not set to 0. An older library takes a newer structure if all is 0 there
 * that it does not know, else it answers BLOOMERY_UNSUPPORTED. A wrong struct_size is
 * BLOOMERY_INVALID_ARGUMENT, as is that of an error, which then has no sentence. bloomery_key and
 * bloomery_option, which stand in arrays, never grow. */

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

/* Of this header. Grows with every addition. */
#define BLOOMERY_C_VERSION 1

/* Of the library that is linked: at least the header's if the library is not older. */
BLOOMERY_API unsigned bloomery_c_version(void);

/* The outcome of a call. */
typedef enum bloomery_status {
  BLOOMERY_OK = 0,
  BLOOMERY_INVALID_ARGUMENT = 1, /* a parameter is out of range, or parameters contradict */
  BLOOMERY_NOT_FOUND = 2,        /* the file does not exist */
  BLOOMERY_EXISTS = 3,           /* the file exists and was not to be replaced */
  BLOOMERY_CORRUPT = 4,          /* the bytes are damaged */
  BLOOMERY_UNSUPPORTED = 5,      /* a newer version, an unknown kind, an ability it lacks */
  BLOOMERY_INCOMPATIBLE = 6,     /* two filters that cannot be combined */
  BLOOMERY_FULL = 7,             /* no room for the key */
  BLOOMERY_IO = 8,               /* the operating system refused a read or a write */
  BLOOMERY_OUT_OF_MEMORY = 9
} bloomery_status;

/* The failure of a call. */
typedef struct bloomery_error {
  size_t struct_size; /* sizeof(bloomery_error), set by the caller */
  bloomery_status status;
  char message[500]; /* one sentence, cut where it is longer */
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

/* What is asked for: 0 and NULL mean "find it". Two of capacity, fpr and bits are enough; the rate
 * is 1% where neither it nor both others are given. */
typedef struct bloomery_request {
  size_t struct_size; /* sizeof(bloomery_request), set by the caller */
  const char* kind;   /* "bloom", ...; NULL is blocked_bloom, or what the needs below recommend */
  uint64_t capacity;
  double fpr;    /* of false positives at capacity, between 0 and 1 */
  uint64_t bits; /* at most */
  unsigned hashes;
  bool deletable; /* the needs: what the filter has to be able to do */
  bool counting;
  bool growing;
  bool unchanging;
  uint64_t seed;
  const bloomery_option* options;
  size_t option_count;
} bloomery_request;

/* The plan of a filter. */
typedef struct bloomery_plan_report {
  size_t struct_size; /* sizeof(bloomery_plan_report), set by the caller */
  const char* kind;
  uint64_t capacity;
  uint64_t bits;
  uint64_t bytes;
  unsigned hashes; /* 0 where the kind has none */
  double planned_fpr;
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
  uint64_t count;        /* copies, or keys that certainly were new */
  double estimated_size; /* distinct keys, from the bits; infinite if they do not tell */
  double fill;           /* in [0, 1] */
  uint64_t seed;
  bool can_insert;
  bool can_erase;
  bool can_count;
  bool can_merge;
  bool can_intersect;
  bool can_grow;
} bloomery_info_report;

/* Kinds of filter ----------------------------------------------------------------------------- */

/* The name of the kind of that number, from 0; NULL beyond the last. */
BLOOMERY_API const char* bloomery_kind_name(size_t number);
/* One line about it; NULL for an unknown name, and for NULL. */
BLOOMERY_API const char* bloomery_kind_summary(const char* kind);

/* What a request comes to, without making a filter. Microseconds to milliseconds. */
BLOOMERY_API bloomery_status bloomery_plan(const bloomery_request* request,
                                           bloomery_plan_report* report, bloomery_error* error);

/* Making, storing ----------------------------------------------------------------------------- */

/* An empty filter. Kinds that are built once from all keys are unsupported here. */
BLOOMERY_API bloomery_status bloomery_create(const bloomery_request* request,
                                             bloomery_filter** filter, bloomery_error* error);

/* A filter of these keys, of any kind. A capacity of 0 is the number of keys. */
BLOOMERY_API bloomery_status bloomery_build(const bloomery_request* request,
                                            const bloomery_key* keys, size_t count,
                                            bloomery_filter** filter, bloomery_error* error);

/* A file, mapped read-only: nothing is copied, and what writes is unsupported. The file must not be
 * changed in place while it is open. */
BLOOMERY_API bloomery_status bloomery_open(const char* path, bloomery_filter** filter,
                                           bloomery_error* error);
/* A file in memory of its own, to be changed. */
BLOOMERY_API bloomery_status bloomery_load(const char* path, bloomery_filter** filter,
                                           bloomery_error* error);
/* Writes a file: the old one or the new one, whole, at every moment. */
BLOOMERY_API bloomery_status bloomery_save(const bloomery_filter* filter, const char* path,
                                           bool replace, bloomery_error* error);

/* The bytes that a file would have, in memory to be given back to bloomery_free. */
BLOOMERY_API bloomery_status bloomery_to_bytes(const bloomery_filter* filter, void** bytes,
                                               size_t* size, bloomery_error* error);
/* A filter in memory of its own from such bytes, which are checked whole. */
BLOOMERY_API bloomery_status bloomery_from_bytes(const void* bytes, size_t size,
                                                 bloomery_filter** filter, bloomery_error* error);
BLOOMERY_API void bloomery_free(void* bytes); /* NULL is nothing */

/* A copy in memory of its own. */
BLOOMERY_API bloomery_status bloomery_copy(const bloomery_filter* filter, bloomery_filter** copy,
                                           bloomery_error* error);
BLOOMERY_API void bloomery_close(bloomery_filter* filter); /* NULL is nothing */

/* Asking -------------------------------------------------------------------------------------- */

/* Whether the key may be a member: false is certain. True where the filter is NULL, or the key is
 * and has a size. */
BLOOMERY_API bool bloomery_may_contain(const bloomery_filter* filter, const void* key, size_t size);
/* The same for many keys, several times as fast: answers[i] for keys[i]. */
BLOOMERY_API bloomery_status bloomery_may_contain_batch(const bloomery_filter* filter,
                                                        const bloomery_key* keys, size_t count,
                                                        bool* answers, bloomery_error* error);
/* Keys that lie one after the other, `size` bytes each: words, hashes. */
BLOOMERY_API bloomery_status bloomery_may_contain_fixed(const bloomery_filter* filter,
                                                        const void* keys, size_t size, size_t count,
                                                        bool* answers, bloomery_error* error);

/* Fills *report. O(size of the filter). */
BLOOMERY_API bloomery_status bloomery_info(const bloomery_filter* filter,
                                           bloomery_info_report* report, bloomery_error* error);

/* Changing ------------------------------------------------------------------------------------ */

/* Inserts a key. *is_new, where it is not NULL, says whether it certainly was none before.
 * BLOOMERY_FULL leaves everything as it was. */
BLOOMERY_API bloomery_status bloomery_insert(bloomery_filter* filter, const void* key, size_t size,
                                             bool* is_new, bloomery_error* error);
/* Inserts in order, up to the first key without room (BLOOMERY_FULL); *done, where it is not NULL,
 * is how many keys are contained now, also then, and *inserted how many were certainly new. */
BLOOMERY_API bloomery_status bloomery_insert_batch(bloomery_filter* filter,
                                                   const bloomery_key* keys, size_t count,
                                                   size_t* done, uint64_t* inserted,
                                                   bloomery_error* error);
/* The same for keys that lie one after the other, `size` bytes each. */
BLOOMERY_API bloomery_status bloomery_insert_fixed(bloomery_filter* filter, const void* keys,
                                                   size_t size, size_t count, size_t* done,
                                                   uint64_t* inserted, bloomery_error* error);

/* Erases each key once; erased[i], where erased is not NULL, is false for what certainly is no
 * member. To erase a key that is not one harms members, in every filter. */
BLOOMERY_API bloomery_status bloomery_erase(bloomery_filter* filter, const bloomery_key* keys,
                                            size_t count, bool* erased, bloomery_error* error);
/* How often each key was inserted and not erased: counts[i] for keys[i]; never too low up to what
 * the kind can count. */
BLOOMERY_API bloomery_status bloomery_count(const bloomery_filter* filter, const bloomery_key* keys,
                                            size_t count, uint64_t* counts, bloomery_error* error);

/* The union or intersection with another filter of the same kind and parameters, in place. Filters
 * of kind expandable need only have the same seed, and a union that keeps the first one's rate. */
BLOOMERY_API bloomery_status bloomery_merge(bloomery_filter* filter, const bloomery_filter* other,
                                            bloomery_error* error);
/* The intersection, under the same conditions. */
BLOOMERY_API bloomery_status bloomery_intersect(bloomery_filter* filter,
                                                const bloomery_filter* other,
                                                bloomery_error* error);

#ifdef __cplusplus
}
#endif

#endif
