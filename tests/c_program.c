/* The C interface in a C11 program. Prints failures, and exits with their number. */

#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int failures = 0;

static void expect(bool so, const char* what, int line) {
  if (so) return;
  ++failures;
  printf("line %d: not so: %s\n", line, what);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

#define KEYS 3000

static char texts[2 * KEYS][24];
static bloomery_key keys[2 * KEYS]; /* the first half are members */

static void make_keys(void) {
  for (int i = 0; i < 2 * KEYS; ++i) {
    keys[i].size = (size_t)sprintf(texts[i], "user%d@example.com", i);
    keys[i].data = texts[i];
  }
}

/* Asks for all keys: no member may be missing, and few non-members may pass. */
static void expect_members(const bloomery_filter* filter, int line) {
  static bool answers[2 * KEYS];
  expect(bloomery_may_contain_batch(filter, keys, 2 * KEYS, answers, NULL) == BLOOMERY_OK, "asked",
         line);
  int found = 0, passed = 0;
  for (int i = 0; i < KEYS; ++i) found += answers[i];
  for (int i = KEYS; i < 2 * KEYS; ++i) {
    passed += answers[i];
    expect(answers[i] == bloomery_may_contain(filter, keys[i].data, keys[i].size), "one as many",
           line);
  }
  expect(found == KEYS, "all members found", line);
  expect(passed < KEYS / 20, "few non-members pass at 1%", line);
}

static void every_kind_is_built_stored_and_asked(const char* folder) {
  bloomery_error error = {.struct_size = sizeof error};
  for (size_t k = 0; bloomery_kind_name(k) != NULL; ++k) {
    const char* kind = bloomery_kind_name(k);
    EXPECT(strlen(bloomery_kind_summary(kind)) > 10);
    const bloomery_request wanted = {.struct_size = sizeof wanted, .kind = kind, .fpr = 0.01};
    bloomery_filter* filter = NULL;
    EXPECT(bloomery_build(&wanted, keys, KEYS, &filter, &error) == BLOOMERY_OK);
    if (filter == NULL) {
      printf("%s: %s\n", kind, error.message);
      continue;
    }
    expect_members(filter, __LINE__);

    char path[512];
    snprintf(path, sizeof path, "%s/%s.bloom", folder, kind);
    EXPECT(bloomery_save(filter, path, false, &error) == BLOOMERY_OK);
    EXPECT(bloomery_save(filter, path, false, &error) == BLOOMERY_EXISTS);
    EXPECT(error.status == BLOOMERY_EXISTS && strstr(error.message, path) != NULL);
    EXPECT(bloomery_save(filter, path, true, NULL) == BLOOMERY_OK);

    bloomery_filter *mapped = NULL, *loaded = NULL, *copy = NULL, *again = NULL;
    EXPECT(bloomery_open(path, &mapped, &error) == BLOOMERY_OK);
    EXPECT(bloomery_load(path, &loaded, &error) == BLOOMERY_OK);
    EXPECT(bloomery_copy(mapped, &copy, &error) == BLOOMERY_OK);
    expect_members(mapped, __LINE__);
    expect_members(loaded, __LINE__);
    expect_members(copy, __LINE__);
    EXPECT(bloomery_insert(mapped, "a", 1, NULL, &error) == BLOOMERY_UNSUPPORTED);

    void *bytes = NULL, *same = NULL;
    size_t size = 0, same_size = 0;
    EXPECT(bloomery_to_bytes(filter, &bytes, &size, &error) == BLOOMERY_OK);
    EXPECT(bloomery_from_bytes(bytes, size, &again, &error) == BLOOMERY_OK);
    EXPECT(bloomery_to_bytes(again, &same, &same_size, &error) == BLOOMERY_OK);
    EXPECT(size == same_size && memcmp(bytes, same, size) == 0);
    ((char*)bytes)[size - 1] ^= 1;
    bloomery_filter* none = NULL;
    EXPECT(bloomery_from_bytes(bytes, size, &none, &error) == BLOOMERY_CORRUPT);
    EXPECT(bloomery_from_bytes(bytes, 10, &none, &error) == BLOOMERY_CORRUPT);
    EXPECT(none == NULL);
    bloomery_free(bytes);
    bloomery_free(same);

    bloomery_info_report info = {.struct_size = sizeof info};
    EXPECT(bloomery_info(loaded, &info, &error) == BLOOMERY_OK);
    EXPECT(strcmp(info.kind, kind) == 0);
    /* Some kinds count every key, some only those that were certainly new. */
    EXPECT(info.count > KEYS * 9 / 10 && info.count <= KEYS);
    EXPECT(info.current_fpr > 0 && info.current_fpr < 0.02);
    EXPECT(info.struct_size == sizeof info);
    bloomery_close(mapped);
    bloomery_close(loaded);
    bloomery_close(copy);
    bloomery_close(again);
    bloomery_close(filter);
  }
}

static void a_filter_is_changed(void) {
  bloomery_error error = {.struct_size = sizeof error};
  const bloomery_request wanted = {
      .struct_size = sizeof wanted, .capacity = 2 * KEYS, .fpr = 0.01, .deletable = true};
  bloomery_filter *a = NULL, *b = NULL;
  EXPECT(bloomery_create(&wanted, &a, &error) == BLOOMERY_OK);
  EXPECT(bloomery_create(&wanted, &b, &error) == BLOOMERY_OK);
  bool is_new = false;
  EXPECT(bloomery_insert(a, "alice", 5, &is_new, &error) == BLOOMERY_OK && is_new);
  EXPECT(bloomery_insert(a, "alice", 5, &is_new, &error) == BLOOMERY_OK && !is_new);
  EXPECT(bloomery_insert(a, NULL, 0, &is_new, &error) == BLOOMERY_OK && is_new);
  EXPECT(bloomery_may_contain(a, "", 0));
  size_t done = 0;
  uint64_t inserted = 0;
  EXPECT(bloomery_insert_batch(b, keys, KEYS, &done, &inserted, &error) == BLOOMERY_OK);
  EXPECT(done == KEYS && inserted > KEYS * 9 / 10);
  EXPECT(bloomery_merge(a, b, &error) == BLOOMERY_OK);
  expect_members(a, __LINE__);

  const bloomery_key two[] = {{"alice", 5}, {"never there", 11}};
  uint64_t counts[2] = {9, 9};
  EXPECT(bloomery_count(a, two, 2, counts, &error) == BLOOMERY_OK);
  EXPECT(counts[0] == 2 && counts[1] == 0);
  bool erased[2] = {false, true};
  EXPECT(bloomery_erase(a, two, 2, erased, &error) == BLOOMERY_OK);
  EXPECT(erased[0] && !erased[1]);
  EXPECT(bloomery_count(a, two, 1, counts, &error) == BLOOMERY_OK && counts[0] == 1);
  bloomery_close(a);
  bloomery_close(b);
}

static void filters_are_folded(void) {
  bloomery_error error = {.struct_size = sizeof error};
  const bloomery_option foldable = {"foldable", "yes"};
  const bloomery_request wanted = {.struct_size = sizeof wanted,
                                   .capacity = 100 * KEYS,
                                   .fpr = 0.01,
                                   .options = &foldable,
                                   .option_count = 1};
  bloomery_filter *large = NULL, *small = NULL;
  EXPECT(bloomery_create(&wanted, &large, &error) == BLOOMERY_OK);
  EXPECT(bloomery_insert_batch(large, keys, KEYS, NULL, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_fold(large, 0, 0.01, &small, &error) == BLOOMERY_OK);
  expect_members(small, __LINE__);
  bloomery_info_report report = {.struct_size = sizeof report};
  EXPECT(bloomery_info(small, &report, &error) == BLOOMERY_OK);
  EXPECT(report.current_fpr <= 0.01 && report.bytes < KEYS * 2);
  bloomery_close(small);
  EXPECT(bloomery_fold(large, 2, 0, &small, &error) == BLOOMERY_OK);
  EXPECT(bloomery_merge(small, large, &error) == BLOOMERY_OK);
  EXPECT(bloomery_merge(large, small, &error) == BLOOMERY_OK);
  expect_members(large, __LINE__);
  uint64_t folded_bytes = 0;
  EXPECT(bloomery_info(large, &report, &error) == BLOOMERY_OK);
  folded_bytes = report.bytes;
  EXPECT(bloomery_info(small, &report, &error) == BLOOMERY_OK);
  EXPECT(report.bytes == folded_bytes);
  bloomery_close(small);
  small = NULL;
  EXPECT(bloomery_fold(large, 1000003, 0, &small, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(bloomery_fold(large, 0, 1e-300, &small, &error) == BLOOMERY_FULL);
  EXPECT(small == NULL);
  bloomery_close(large);
}

/* Numbers in an array are keys of eight bytes, as C++ callers' integers are. */
static void numbers_are_keys_of_fixed_size(void) {
  static uint64_t numbers[5000];
  static bool answers[5000];
  for (uint64_t i = 0; i < 5000; ++i) numbers[i] = i * i;
  const bloomery_request wanted = {.struct_size = sizeof wanted, .capacity = 5000, .fpr = 0.001};
  bloomery_filter* filter = NULL;
  EXPECT(bloomery_create(&wanted, &filter, NULL) == BLOOMERY_OK);
  size_t done = 0;
  EXPECT(bloomery_insert_fixed(filter, numbers, 8, 5000, &done, NULL, NULL) == BLOOMERY_OK);
  EXPECT(done == 5000);
  EXPECT(bloomery_may_contain_fixed(filter, numbers, 8, 5000, answers, NULL) == BLOOMERY_OK);
  int found = 0;
  for (int i = 0; i < 5000; ++i) found += answers[i];
  EXPECT(found == 5000);
  bloomery_close(filter);
}

static void failures_are_sentences(void) {
  bloomery_error error = {.struct_size = sizeof error};
  bloomery_filter* filter = NULL;
  EXPECT(bloomery_open("/no/such/file.bloom", &filter, &error) == BLOOMERY_NOT_FOUND);
  EXPECT(strstr(error.message, "/no/such/file.bloom") != NULL);
  bloomery_request wanted = {
      .struct_size = sizeof wanted, .kind = "blooom", .capacity = 10, .fpr = 0.01};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(strstr(error.message, "blooom") != NULL);
  wanted = (bloomery_request){.struct_size = sizeof wanted, .capacity = 10, .fpr = 2};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  wanted = (bloomery_request){
      .struct_size = sizeof wanted, .kind = "ribbon", .capacity = 10, .fpr = 0.01};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_UNSUPPORTED);
  const bloomery_option no_such = {"no_such", "1"};
  wanted = (bloomery_request){.struct_size = sizeof wanted,
                              .kind = "bloom",
                              .capacity = 10,
                              .fpr = 0.01,
                              .options = &no_such,
                              .option_count = 1};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(filter == NULL);

  wanted = (bloomery_request){
      .struct_size = sizeof wanted, .kind = "cuckoo", .capacity = 100, .fpr = 0.01};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_OK);
  size_t done = 0;
  EXPECT(bloomery_insert_batch(filter, keys, 2 * KEYS, &done, NULL, &error) == BLOOMERY_FULL);
  EXPECT(done >= 100 && done < KEYS);
  for (size_t i = 0; i < done; ++i)
    EXPECT(bloomery_may_contain(filter, keys[i].data, keys[i].size));
  bloomery_close(filter);
}

static void plans_are_made(void) {
  bloomery_error error = {.struct_size = sizeof error};
  bloomery_request wanted = {.struct_size = sizeof wanted, .capacity = 1000000, .fpr = 0.01};
  bloomery_plan_report report = {.struct_size = sizeof report};
  EXPECT(bloomery_plan(&wanted, &report, &error) == BLOOMERY_OK);
  EXPECT(strcmp(report.kind, "blocked_bloom") == 0 && report.planned_fpr <= 0.01);
  EXPECT(report.bits > 9000000 && report.bits < 11000000);
  wanted.unchanging = true;
  EXPECT(bloomery_plan(&wanted, &report, &error) == BLOOMERY_OK &&
         strcmp(report.kind, "ribbon") == 0);
  /* A caller of an older header knows less of the structure, and only that is written. */
  bloomery_plan_report old = {.struct_size = offsetof(bloomery_plan_report, bits), .bits = 77};
  EXPECT(bloomery_plan(&wanted, &old, &error) == BLOOMERY_OK && old.capacity == 1000000 &&
         old.bits == 77);
  old.struct_size = 0;
  EXPECT(bloomery_plan(&wanted, &old, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(strstr(error.message, "sizeof(bloomery_plan_report)") != NULL);
}

/* Rates that 64-bit hashes cannot give. */
static void low_rates_have_128_bits(void) {
  bloomery_error error = {.struct_size = sizeof error};
  const char* const kinds[] = {"bloom", "blocked_bloom", "fuse", "ribbon"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    bloomery_request wanted = {
        .struct_size = sizeof wanted, .kind = kinds[i], .capacity = 500000000, .fpr = 1e-12};
    bloomery_plan_report plan = {.struct_size = sizeof plan};
    EXPECT(bloomery_plan(&wanted, &plan, &error) == BLOOMERY_OK);
    EXPECT(plan.hash_bits == 128 && plan.planned_fpr <= 1e-12);
    wanted = (bloomery_request){
        .struct_size = sizeof wanted, .kind = kinds[i], .fpr = 1e-12, .hash = "xxh3-2x64"};
    bloomery_filter* filter = NULL;
    EXPECT(bloomery_build(&wanted, keys, KEYS, &filter, &error) == BLOOMERY_OK);
    expect_members(filter, __LINE__);
    EXPECT(!bloomery_may_contain(filter, "never there", 11));
    bloomery_info_report info = {.struct_size = sizeof info};
    EXPECT(bloomery_info(filter, &info, &error) == BLOOMERY_OK);
    EXPECT(strcmp(info.hash, "xxh3-2x64") == 0);
    bloomery_close(filter);
    wanted.hash = "md5";
    EXPECT(bloomery_build(&wanted, keys, KEYS, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  }
}

/* Where neither the rate nor both others are given, it is that of the command line and of Python.
 */
static void the_default_rate_is_one_percent(void) {
  bloomery_error error = {.struct_size = sizeof error};
  const bloomery_request wanted[] = {
      {.struct_size = sizeof *wanted, .capacity = 1000000},
      {.struct_size = sizeof *wanted, .bits = 10000000},
      {.struct_size = sizeof *wanted, .capacity = 1000, .deletable = true},
      {.struct_size = sizeof *wanted, .kind = "expandable"},
      {.struct_size = sizeof *wanted, .kind = "ribbon", .capacity = 1000000},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    bloomery_plan_report report = {.struct_size = sizeof report};
    EXPECT(bloomery_plan(&wanted[i], &report, &error) == BLOOMERY_OK);
    EXPECT(report.planned_fpr > 0.003 && report.planned_fpr <= 0.01);
  }
  const bloomery_request both = {.struct_size = sizeof both, .capacity = 1000000, .bits = 20000000};
  bloomery_plan_report report = {.struct_size = sizeof report};
  EXPECT(bloomery_plan(&both, &report, &error) == BLOOMERY_OK && report.planned_fpr < 0.0002);
  bloomery_filter *made = NULL, *built = NULL;
  EXPECT(bloomery_create(&wanted[0], &made, &error) == BLOOMERY_OK);
  const bloomery_request nothing = {.struct_size = sizeof nothing, .kind = "ribbon"};
  EXPECT(bloomery_build(&nothing, keys, KEYS, &built, &error) == BLOOMERY_OK);
  expect_members(built, __LINE__);
  bloomery_close(made);
  bloomery_close(built);
}

/* A caller of a newer header has larger structures. */
static void newer_structures_are_taken_if_their_new_fields_are_zero(void) {
  struct {
    bloomery_error known;
    uint64_t newer[3];
  } error = {.known = {.struct_size = sizeof error}};
  struct {
    bloomery_request known;
    uint64_t newer;
  } wanted = {.known = {.struct_size = sizeof wanted, .capacity = 1000}};
  struct {
    bloomery_plan_report known;
    uint64_t newer;
  } plan = {.known = {.struct_size = sizeof plan}};
  struct {
    bloomery_info_report known;
    uint64_t newer;
  } info = {.known = {.struct_size = sizeof info}};
  bloomery_filter* filter = NULL;
  EXPECT(bloomery_plan(&wanted.known, &plan.known, &error.known) == BLOOMERY_OK);
  EXPECT(plan.known.capacity == 1000 && plan.known.struct_size == sizeof plan && plan.newer == 0);
  EXPECT(bloomery_create(&wanted.known, &filter, &error.known) == BLOOMERY_OK);
  EXPECT(bloomery_info(filter, &info.known, &error.known) == BLOOMERY_OK);
  EXPECT(info.known.capacity == 1000 && info.newer == 0);

  bloomery_filter* none = NULL;
  wanted.newer = 1;
  EXPECT(bloomery_create(&wanted.known, &none, &error.known) == BLOOMERY_UNSUPPORTED);
  EXPECT(error.known.status == BLOOMERY_UNSUPPORTED && error.known.struct_size == sizeof error);
  EXPECT(strstr(error.known.message, "bloomery_request") != NULL && error.newer[0] == 0);
  EXPECT(bloomery_plan(&wanted.known, &plan.known, NULL) == BLOOMERY_UNSUPPORTED);
  EXPECT(bloomery_build(&wanted.known, keys, 9, &none, NULL) == BLOOMERY_UNSUPPORTED);
  wanted.newer = 0;
  plan.newer = info.newer = UINT64_C(1) << 63;
  EXPECT(bloomery_plan(&wanted.known, &plan.known, &error.known) == BLOOMERY_UNSUPPORTED);
  EXPECT(bloomery_info(filter, &info.known, &error.known) == BLOOMERY_UNSUPPORTED);
  error.newer[2] = 1;
  EXPECT(bloomery_create(&wanted.known, &none, &error.known) == BLOOMERY_UNSUPPORTED);
  EXPECT(strstr(error.known.message, "bloomery_error") != NULL);
  error.newer[2] = 0;

  const size_t no_sizes[] = {0, 8, sizeof wanted.known - 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; ++i) {
    wanted.known.struct_size = no_sizes[i];
    EXPECT(bloomery_create(&wanted.known, &none, &error.known) == BLOOMERY_INVALID_ARGUMENT);
    EXPECT(strstr(error.known.message, "sizeof(bloomery_request)") != NULL);
    bloomery_error unset = {.struct_size = no_sizes[i], .message = "as it was"};
    EXPECT(bloomery_open("/no/such/file", &none, &unset) == BLOOMERY_INVALID_ARGUMENT);
    EXPECT(strcmp(unset.message, "as it was") == 0);
  }
  EXPECT(none == NULL);
  bloomery_close(filter);
}

/* The call failed as one with a NULL does, and said which pointer it was. */
static void expect_null(bloomery_status status, const bloomery_error* error, const char* name,
                        int line) {
  expect(status == BLOOMERY_INVALID_ARGUMENT && error->status == status, "NULL is an error", line);
  expect(strncmp(error->message, name, strlen(name)) == 0, error->message, line);
}
#define NULL_IS(name, call) expect_null((call), &error, name, __LINE__)

static void null_is_an_error_where_a_pointer_is_needed(void) {
  bloomery_error error = {.struct_size = sizeof error};
  const bloomery_request wanted = {.struct_size = sizeof wanted, .capacity = 100, .counting = true};
  bloomery_plan_report plan = {.struct_size = sizeof plan};
  bloomery_info_report info = {.struct_size = sizeof info};
  bloomery_filter *f = NULL, *made = NULL;
  EXPECT(bloomery_create(&wanted, &f, &error) == BLOOMERY_OK);
  const bloomery_key some[] = {{"ann", 3}, {NULL, 0}, {NULL, 2}};
  bool answers[3];
  uint64_t counts[3];
  void* bytes = NULL;
  size_t size = 0;

  EXPECT(bloomery_kind_summary(NULL) == NULL);
  NULL_IS("request ", bloomery_plan(NULL, &plan, &error));
  NULL_IS("report ", bloomery_plan(&wanted, NULL, &error));
  NULL_IS("request ", bloomery_create(NULL, &made, &error));
  NULL_IS("filter ", bloomery_create(&wanted, NULL, &error));
  NULL_IS("request ", bloomery_build(NULL, some, 2, &made, &error));
  NULL_IS("keys ", bloomery_build(&wanted, NULL, 2, &made, &error));
  NULL_IS("keys[2] ", bloomery_build(&wanted, some, 3, &made, &error));
  NULL_IS("filter ", bloomery_build(&wanted, some, 2, NULL, &error));
  NULL_IS("path ", bloomery_open(NULL, &made, &error));
  NULL_IS("filter ", bloomery_open("/dev/null", NULL, &error));
  NULL_IS("path ", bloomery_load(NULL, &made, &error));
  NULL_IS("filter ", bloomery_load("/dev/null", NULL, &error));
  NULL_IS("filter ", bloomery_save(NULL, "/dev/null", true, &error));
  NULL_IS("path ", bloomery_save(f, NULL, true, &error));
  NULL_IS("filter ", bloomery_to_bytes(NULL, &bytes, &size, &error));
  NULL_IS("bytes ", bloomery_to_bytes(f, NULL, &size, &error));
  NULL_IS("size ", bloomery_to_bytes(f, &bytes, NULL, &error));
  NULL_IS("bytes ", bloomery_from_bytes(NULL, 64, &made, &error));
  NULL_IS("filter ", bloomery_from_bytes("none", 4, NULL, &error));
  EXPECT(bloomery_from_bytes(NULL, 0, &made, &error) == BLOOMERY_CORRUPT);
  NULL_IS("filter ", bloomery_copy(NULL, &made, &error));
  NULL_IS("copy ", bloomery_copy(f, NULL, &error));
  NULL_IS("filter ", bloomery_info(NULL, &info, &error));
  NULL_IS("report ", bloomery_info(f, NULL, &error));
  NULL_IS("filter ", bloomery_insert(NULL, "ann", 3, NULL, &error));
  NULL_IS("the keys ", bloomery_insert(f, NULL, 3, NULL, &error));
  NULL_IS("filter ", bloomery_insert_batch(NULL, some, 2, NULL, NULL, &error));
  NULL_IS("keys ", bloomery_insert_batch(f, NULL, 2, NULL, NULL, &error));
  size_t done = 9;
  uint64_t inserted = 9;
  NULL_IS("keys[2] ", bloomery_insert_batch(f, some, 3, &done, &inserted, &error));
  EXPECT(done == 0 && inserted == 0);
  NULL_IS("filter ", bloomery_insert_fixed(NULL, "ann", 3, 1, NULL, NULL, &error));
  NULL_IS("the keys ", bloomery_insert_fixed(f, NULL, 3, 1, NULL, NULL, &error));
  NULL_IS("filter ", bloomery_may_contain_batch(NULL, some, 2, answers, &error));
  NULL_IS("keys ", bloomery_may_contain_batch(f, NULL, 2, answers, &error));
  NULL_IS("keys[2] ", bloomery_may_contain_batch(f, some, 3, answers, &error));
  NULL_IS("answers ", bloomery_may_contain_batch(f, some, 2, NULL, &error));
  NULL_IS("filter ", bloomery_may_contain_fixed(NULL, "ann", 3, 1, answers, &error));
  NULL_IS("the keys ", bloomery_may_contain_fixed(f, NULL, 3, 1, answers, &error));
  NULL_IS("answers ", bloomery_may_contain_fixed(f, "ann", 3, 1, NULL, &error));
  NULL_IS("filter ", bloomery_erase(NULL, some, 2, answers, &error));
  NULL_IS("keys ", bloomery_erase(f, NULL, 2, answers, &error));
  NULL_IS("keys[2] ", bloomery_erase(f, some, 3, answers, &error));
  NULL_IS("filter ", bloomery_count(NULL, some, 2, counts, &error));
  NULL_IS("keys ", bloomery_count(f, NULL, 2, counts, &error));
  NULL_IS("counts ", bloomery_count(f, some, 2, NULL, &error));
  NULL_IS("filter ", bloomery_merge(NULL, f, &error));
  NULL_IS("other ", bloomery_merge(f, NULL, &error));
  NULL_IS("filter ", bloomery_fold(NULL, 2, 0, &made, &error));
  NULL_IS("folded ", bloomery_fold(f, 2, 0, NULL, &error));
  NULL_IS("filter ", bloomery_intersect(NULL, f, &error));
  NULL_IS("other ", bloomery_intersect(f, NULL, &error));
  EXPECT(bloomery_merge(f, NULL, NULL) == BLOOMERY_INVALID_ARGUMENT);
  /* An answer that cannot be "certainly not" is the safe one. */
  EXPECT(bloomery_may_contain(NULL, "ann", 3) && bloomery_may_contain(f, NULL, 3));
  EXPECT(!bloomery_may_contain(f, "ann", 3));

  const bloomery_option options[] = {{"counter_bits", "8"}, {NULL, "1"}, {"counter_bits", NULL}};
  bloomery_request with_options = {.struct_size = sizeof with_options,
                                   .kind = "counting_bloom",
                                   .capacity = 10,
                                   .option_count = 1};
  NULL_IS("options ", bloomery_create(&with_options, &made, &error));
  with_options.options = options + 1;
  NULL_IS("options[0] ", bloomery_create(&with_options, &made, &error));
  with_options.options = options + 2;
  NULL_IS("options[0] ", bloomery_create(&with_options, &made, &error));
  EXPECT(made == NULL);

  /* None are needed where there is nothing. */
  EXPECT(bloomery_may_contain_batch(f, NULL, 0, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_may_contain_fixed(f, NULL, 8, 0, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_insert_batch(f, NULL, 0, NULL, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_erase(f, NULL, 0, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_count(f, NULL, 0, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_insert_fixed(f, NULL, 0, 2, NULL, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_may_contain_fixed(f, NULL, 0, 2, answers, &error) == BLOOMERY_OK && answers[1]);
  EXPECT(bloomery_may_contain_batch(f, some, 2, answers, &error) == BLOOMERY_OK && answers[1]);
  EXPECT(bloomery_build(&wanted, NULL, 0, &made, &error) == BLOOMERY_OK);
  bloomery_close(made);
  bloomery_close(f);
}

/* Leaves room for so much memory beside what is in use; SIZE_MAX is as much as there is. */
static void limit_memory_to(size_t room) {
  size_t pages = 0;
  FILE* const used = fopen("/proc/self/statm", "r");
  EXPECT(used != NULL && fscanf(used, "%zu", &pages) == 1);
  if (used != NULL) fclose(used);
  struct rlimit limit;
  EXPECT(getrlimit(RLIMIT_AS, &limit) == 0);
  limit.rlim_cur = room == SIZE_MAX ? limit.rlim_max : pages * 4096 + room;
  EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* There is room for one and a half. To copy a mapped filter is to load it, which in kinds of
 * several parts has both forms for a moment. */
static void a_copy_needs_the_memory_of_one_filter(const char* folder) {
  bloomery_error error = {.struct_size = sizeof error};
  for (size_t k = 0; bloomery_kind_name(k) != NULL; ++k) {
    const char* kind = bloomery_kind_name(k);
    const bool parts = strcmp(kind, "expandable") == 0 || strcmp(kind, "scalable_bloom") == 0;
    const bloomery_request wanted = {
        .struct_size = sizeof wanted, .kind = kind, .capacity = 30000000};
    bloomery_filter* filters[2] = {NULL, NULL};
    const bloomery_status made = bloomery_create(&wanted, &filters[0], &error);
    if (made == BLOOMERY_UNSUPPORTED) continue; /* built once from its keys */
    EXPECT(made == BLOOMERY_OK);
    char path[512];
    snprintf(path, sizeof path, "%s/large.bloom", folder);
    EXPECT(bloomery_save(filters[0], path, true, &error) == BLOOMERY_OK);
    EXPECT(bloomery_open(path, &filters[1], &error) == BLOOMERY_OK);
    bloomery_info_report info = {.struct_size = sizeof info};
    EXPECT(bloomery_info(filters[0], &info, &error) == BLOOMERY_OK && info.bytes > 30000000);
    for (int mapped = 0; mapped < 2; ++mapped) {
      void* bytes = NULL;
      size_t size = 0;
      bloomery_filter* copy = NULL;
      limit_memory_to(info.bytes / 2 * (parts && mapped ? 5 : 3));
      EXPECT(bloomery_copy(filters[mapped], &copy, &error) == BLOOMERY_OK);
      limit_memory_to(SIZE_MAX);
      limit_memory_to(info.bytes / 2 * 3);
      EXPECT(bloomery_to_bytes(filters[mapped], &bytes, &size, &error) == BLOOMERY_OK);
      limit_memory_to(SIZE_MAX);
      EXPECT(size > info.bytes);
      EXPECT(bloomery_insert(copy, "ann", 3, NULL, &error) == BLOOMERY_OK);
      bloomery_free(bytes);
      bloomery_close(copy);
      bloomery_close(filters[mapped]);
    }
  }
}

static void a_secret_key_opens_and_nothing_else_does(const char* folder) {
  bloomery_error error = {.struct_size = sizeof error};
  unsigned char key[BLOOMERY_KEY_SIZE], other[BLOOMERY_KEY_SIZE];
  EXPECT(bloomery_new_key(key, &error) == BLOOMERY_OK);
  EXPECT(bloomery_new_key(other, &error) == BLOOMERY_OK);
  EXPECT(memcmp(key, other, sizeof key) != 0);
  bloomery_request wanted = {.struct_size = sizeof wanted, .capacity = 100, .key = key};
  char path[4096];
  snprintf(path, sizeof path, "%s/keyed", folder);
  bloomery_filter* filter = NULL;
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_OK);
  EXPECT(bloomery_insert(filter, "ann", 3, NULL, &error) == BLOOMERY_OK);
  EXPECT(bloomery_save(filter, path, true, &error) == BLOOMERY_OK);
  void* bytes = NULL;
  size_t size = 0;
  EXPECT(bloomery_to_bytes(filter, &bytes, &size, &error) == BLOOMERY_OK);
  bloomery_close(filter);
  bloomery_info_report report = {.struct_size = sizeof report};
  EXPECT(bloomery_file_info(path, &report, &error) == BLOOMERY_OK);
  EXPECT(report.capacity == 100 && report.count == 1 && !strcmp(report.kind, "blocked_bloom"));
  EXPECT(bloomery_file_info("no such file", &report, &error) == BLOOMERY_NOT_FOUND);

  for (int writable = 0; writable < 2; ++writable) {
    EXPECT(bloomery_open_keyed(path, key, writable != 0, &filter, &error) == BLOOMERY_OK);
    EXPECT(bloomery_may_contain(filter, "ann", 3));
    bloomery_close(filter);
    filter = NULL;
    EXPECT(bloomery_open_keyed(path, other, writable != 0, &filter, &error) ==
           BLOOMERY_INVALID_ARGUMENT);
    EXPECT(strstr(error.message, "secret key") != NULL && filter == NULL);
  }
  EXPECT(bloomery_open(path, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(bloomery_from_bytes(bytes, size, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(bloomery_from_bytes_keyed(bytes, size, key, &filter, &error) == BLOOMERY_OK);
  EXPECT(bloomery_may_contain(filter, "ann", 3));
  bloomery_close(filter);
  bloomery_free(bytes);
  wanted.seed = 1;
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
}

int main(int count, char** arguments) {
  if (count != 2) {
    puts("usage: c_program FOLDER");
    return 2;
  }
  EXPECT(bloomery_c_version() == BLOOMERY_C_VERSION);
  make_keys();
  every_kind_is_built_stored_and_asked(arguments[1]);
  a_filter_is_changed();
  filters_are_folded();
  numbers_are_keys_of_fixed_size();
  failures_are_sentences();
  plans_are_made();
  low_rates_have_128_bits();
  the_default_rate_is_one_percent();
  newer_structures_are_taken_if_their_new_fields_are_zero();
  null_is_an_error_where_a_pointer_is_needed();
  a_copy_needs_the_memory_of_one_filter(arguments[1]);
  a_secret_key_opens_and_nothing_else_does(arguments[1]);
  bloomery_free(NULL);
  bloomery_close(NULL);
  if (failures == 0) puts("the C interface holds");
  return failures == 0 ? 0 : 1;
}
