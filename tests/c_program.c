/* The C interface in a C11 program. Prints failures, and exits with their number. */

#include <bloomset.h>
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
static bloomset_key keys[2 * KEYS]; /* the first half are members */

static void make_keys(void) {
  for (int i = 0; i < 2 * KEYS; ++i) {
    keys[i].size = (size_t)sprintf(texts[i], "user%d@example.com", i);
    keys[i].data = texts[i];
  }
}

/* Asks for all keys: no member may be missing, and few non-members may pass. */
static void expect_members(const bloomset_filter* filter, int line) {
  static bool answers[2 * KEYS];
  expect(bloomset_may_contain_batch(filter, keys, 2 * KEYS, answers, NULL) == BLOOMSET_OK, "asked",
         line);
  int found = 0, passed = 0;
  for (int i = 0; i < KEYS; ++i) found += answers[i];
  for (int i = KEYS; i < 2 * KEYS; ++i) {
    passed += answers[i];
    expect(answers[i] == bloomset_may_contain(filter, keys[i].data, keys[i].size), "one as many",
           line);
  }
  expect(found == KEYS, "all members found", line);
  expect(passed < KEYS / 20, "few non-members pass at 1%", line);
}

static void every_kind_is_built_stored_and_asked(const char* folder) {
  bloomset_error error = {.struct_size = sizeof error};
  for (size_t k = 0; bloomset_kind_name(k) != NULL; ++k) {
    const char* kind = bloomset_kind_name(k);
    EXPECT(strlen(bloomset_kind_summary(kind)) > 10);
    const bloomset_request wanted = {.struct_size = sizeof wanted, .kind = kind, .fpr = 0.01};
    bloomset_filter* filter = NULL;
    const bloomset_status built = bloomset_build(&wanted, keys, KEYS, &filter, &error);
    if (strcmp(kind, "exact") == 0) { /* it is built from two sets */
      EXPECT(built == BLOOMSET_UNSUPPORTED);
      continue;
    }
    EXPECT(built == BLOOMSET_OK);
    if (filter == NULL) {
      printf("%s: %s\n", kind, error.message);
      continue;
    }
    expect_members(filter, __LINE__);

    char path[512];
    snprintf(path, sizeof path, "%s/%s.bloom", folder, kind);
    EXPECT(bloomset_save(filter, path, false, &error) == BLOOMSET_OK);
    EXPECT(bloomset_save(filter, path, false, &error) == BLOOMSET_EXISTS);
    EXPECT(error.status == BLOOMSET_EXISTS && strstr(error.message, path) != NULL);
    EXPECT(bloomset_save(filter, path, true, NULL) == BLOOMSET_OK);

    bloomset_filter *mapped = NULL, *loaded = NULL, *copy = NULL, *again = NULL;
    EXPECT(bloomset_open(path, &mapped, &error) == BLOOMSET_OK);
    EXPECT(bloomset_load(path, &loaded, &error) == BLOOMSET_OK);
    EXPECT(bloomset_copy(mapped, &copy, &error) == BLOOMSET_OK);
    expect_members(mapped, __LINE__);
    expect_members(loaded, __LINE__);
    expect_members(copy, __LINE__);
    EXPECT(bloomset_insert(mapped, "a", 1, NULL, &error) == BLOOMSET_UNSUPPORTED);

    void *bytes = NULL, *same = NULL;
    size_t size = 0, same_size = 0;
    EXPECT(bloomset_to_bytes(filter, &bytes, &size, &error) == BLOOMSET_OK);
    EXPECT(bloomset_from_bytes(bytes, size, &again, &error) == BLOOMSET_OK);
    EXPECT(bloomset_to_bytes(again, &same, &same_size, &error) == BLOOMSET_OK);
    EXPECT(size == same_size && memcmp(bytes, same, size) == 0);
    ((char*)bytes)[size - 1] ^= 1;
    bloomset_filter* none = NULL;
    EXPECT(bloomset_from_bytes(bytes, size, &none, &error) == BLOOMSET_CORRUPT);
    EXPECT(bloomset_from_bytes(bytes, 10, &none, &error) == BLOOMSET_CORRUPT);
    EXPECT(none == NULL);
    bloomset_free(bytes);
    bloomset_free(same);

    bloomset_info_report info = {.struct_size = sizeof info};
    EXPECT(bloomset_info(loaded, &info, &error) == BLOOMSET_OK);
    EXPECT(strcmp(info.kind, kind) == 0);
    /* Some kinds count every key, some only those that were certainly new. */
    EXPECT(info.count > KEYS * 9 / 10 && info.count <= KEYS);
    EXPECT(info.current_fpr > 0 && info.current_fpr < 0.02);
    EXPECT(info.struct_size == sizeof info);
    bloomset_close(mapped);
    bloomset_close(loaded);
    bloomset_close(copy);
    bloomset_close(again);
    bloomset_close(filter);
  }
}

static void a_filter_is_changed(void) {
  bloomset_error error = {.struct_size = sizeof error};
  const bloomset_request wanted = {
      .struct_size = sizeof wanted, .capacity = 2 * KEYS, .fpr = 0.01, .deletable = true};
  bloomset_filter *a = NULL, *b = NULL;
  EXPECT(bloomset_create(&wanted, &a, &error) == BLOOMSET_OK);
  EXPECT(bloomset_create(&wanted, &b, &error) == BLOOMSET_OK);
  bool is_new = false;
  EXPECT(bloomset_insert(a, "alice", 5, &is_new, &error) == BLOOMSET_OK && is_new);
  EXPECT(bloomset_insert(a, "alice", 5, &is_new, &error) == BLOOMSET_OK && !is_new);
  EXPECT(bloomset_insert(a, NULL, 0, &is_new, &error) == BLOOMSET_OK && is_new);
  EXPECT(bloomset_may_contain(a, "", 0));
  size_t done = 0;
  uint64_t inserted = 0;
  EXPECT(bloomset_insert_batch(b, keys, KEYS, &done, &inserted, &error) == BLOOMSET_OK);
  EXPECT(done == KEYS && inserted > KEYS * 9 / 10);
  EXPECT(bloomset_merge(a, b, &error) == BLOOMSET_OK);
  expect_members(a, __LINE__);

  const bloomset_key two[] = {{"alice", 5}, {"never there", 11}};
  uint64_t counts[2] = {9, 9};
  EXPECT(bloomset_count(a, two, 2, counts, &error) == BLOOMSET_OK);
  EXPECT(counts[0] == 2 && counts[1] == 0);
  bool erased[2] = {false, true};
  EXPECT(bloomset_erase(a, two, 2, erased, &error) == BLOOMSET_OK);
  EXPECT(erased[0] && !erased[1]);
  EXPECT(bloomset_count(a, two, 1, counts, &error) == BLOOMSET_OK && counts[0] == 1);
  bloomset_close(a);
  bloomset_close(b);
}

static void false_positives_become_exceptions(const char* folder) {
  bloomset_error error = {.struct_size = sizeof error};
  const bloomset_request wanted = {
      .struct_size = sizeof wanted, .kind = "bloom", .capacity = KEYS, .fpr = 0.03};
  bloomset_filter *filter = NULL, *again = NULL;
  EXPECT(bloomset_build(&wanted, keys, KEYS, &filter, &error) == BLOOMSET_OK);
  char text[16];
  bloomset_key mistaken = {text, 0};
  for (int i = 0; mistaken.size == 0 || !bloomset_may_contain(filter, text, mistaken.size); ++i) {
    mistaken.size = (size_t)snprintf(text, sizeof text, "mistaken %d", i);
  }
  uint64_t changed = 9;
  EXPECT(bloomset_add_exceptions(filter, &mistaken, 1, &changed, &error) == BLOOMSET_OK);
  EXPECT(changed == 1 && !bloomset_may_contain(filter, text, mistaken.size));
  EXPECT(bloomset_add_exceptions(filter, &mistaken, 1, &changed, &error) == BLOOMSET_OK);
  EXPECT(changed == 0);
  expect_members(filter, __LINE__);
  char path[1000];
  snprintf(path, sizeof path, "%s/except.bloom", folder);
  EXPECT(bloomset_save(filter, path, true, &error) == BLOOMSET_OK);
  EXPECT(bloomset_open(path, &again, &error) == BLOOMSET_OK);
  EXPECT(!bloomset_may_contain(again, text, mistaken.size));
  EXPECT(bloomset_remove_exceptions(again, &mistaken, 1, &changed, &error) == BLOOMSET_OK);
  EXPECT(changed == 1 && bloomset_may_contain(again, text, mistaken.size));
  bloomset_filter* copy = NULL;
  EXPECT(bloomset_copy(again, &copy, &error) == BLOOMSET_OK);
  EXPECT(bloomset_may_contain(copy, text, mistaken.size));
  bloomset_close(copy);
  size_t done = 99;
  EXPECT(bloomset_insert_batch(filter, NULL, 3, &done, NULL, NULL) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(done == 99);
  bloomset_close(again);
  bloomset_close(filter);
}

static void exact_filters_have_no_false_positives(void) {
  bloomset_error error = {.struct_size = sizeof error};
  bloomset_request wanted = {.struct_size = sizeof wanted};
  bloomset_filter* filter = NULL;
  const size_t members = KEYS / 10;
  EXPECT(bloomset_build_exact(&wanted, keys, members, keys, KEYS, &filter, &error) == BLOOMSET_OK);
  for (size_t i = 0; i < KEYS; ++i) {
    EXPECT(bloomset_may_contain(filter, keys[i].data, keys[i].size) == (i < members));
  }
  bloomset_close(filter);
  filter = NULL;
  const bloomset_key issued[] = {{"A\t7", 3}, {"A\t9", 3}, {"B\t7", 3}, {"B\t9", 3}};
  const bloomset_key asked[] = {{"A\t7", 3}, {"B\t7", 3}, {"C\t7", 3}};
  bool covered[3] = {false, false, true};
  EXPECT(bloomset_build_partitioned_exact(&wanted, issued, 1, issued, 4, &filter, &error) ==
         BLOOMSET_OK);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT(bloomset_may_contain(filter, issued[i].data, issued[i].size) == (i == 0));
  }
  EXPECT(bloomset_covers(filter, asked, 3, covered, &error) == BLOOMSET_OK);
  EXPECT(covered[0] && covered[1] && !covered[2]);
  bloomset_close(filter);
  filter = NULL;
  wanted.kind = "bloom";
  EXPECT(bloomset_build_exact(&wanted, keys, 2, keys, 9, &filter, &error) ==
         BLOOMSET_INVALID_ARGUMENT);
  EXPECT(filter == NULL && strstr(error.message, "give NULL or \"exact\"") != NULL);
  wanted.kind = "exact";
  wanted.fpr = 0.01;
  EXPECT(bloomset_build_exact(&wanted, keys, 2, keys, 9, &filter, &error) ==
         BLOOMSET_INVALID_ARGUMENT);
}

static void filters_are_folded(void) {
  bloomset_error error = {.struct_size = sizeof error};
  const bloomset_option foldable = {"foldable", "yes"};
  const bloomset_request wanted = {.struct_size = sizeof wanted,
                                   .capacity = 100 * KEYS,
                                   .fpr = 0.01,
                                   .options = &foldable,
                                   .option_count = 1};
  bloomset_filter *large = NULL, *small = NULL;
  EXPECT(bloomset_create(&wanted, &large, &error) == BLOOMSET_OK);
  EXPECT(bloomset_insert_batch(large, keys, KEYS, NULL, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_fold(large, 0, 0.01, &small, &error) == BLOOMSET_OK);
  expect_members(small, __LINE__);
  bloomset_info_report report = {.struct_size = sizeof report};
  EXPECT(bloomset_info(small, &report, &error) == BLOOMSET_OK);
  EXPECT(report.current_fpr <= 0.01 && report.bytes < KEYS * 2);
  bloomset_close(small);
  EXPECT(bloomset_fold(large, 2, 0, &small, &error) == BLOOMSET_OK);
  EXPECT(bloomset_merge(small, large, &error) == BLOOMSET_OK);
  EXPECT(bloomset_merge(large, small, &error) == BLOOMSET_OK);
  expect_members(large, __LINE__);
  uint64_t folded_bytes = 0;
  EXPECT(bloomset_info(large, &report, &error) == BLOOMSET_OK);
  folded_bytes = report.bytes;
  EXPECT(bloomset_info(small, &report, &error) == BLOOMSET_OK);
  EXPECT(report.bytes == folded_bytes);
  bloomset_close(small);
  small = NULL;
  EXPECT(bloomset_fold(large, 1000003, 0, &small, &error) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(bloomset_fold(large, 0, 1e-300, &small, &error) == BLOOMSET_FULL);
  EXPECT(small == NULL);
  bloomset_close(large);
}

/* Numbers in an array are keys of eight bytes, as C++ callers' integers are. */
static void numbers_are_keys_of_fixed_size(void) {
  static uint64_t numbers[5000];
  static bool answers[5000];
  for (uint64_t i = 0; i < 5000; ++i) numbers[i] = i * i;
  const bloomset_request wanted = {.struct_size = sizeof wanted, .capacity = 5000, .fpr = 0.001};
  bloomset_filter* filter = NULL;
  EXPECT(bloomset_create(&wanted, &filter, NULL) == BLOOMSET_OK);
  size_t done = 0;
  EXPECT(bloomset_insert_fixed(filter, numbers, 8, 5000, &done, NULL, NULL) == BLOOMSET_OK);
  EXPECT(done == 5000);
  EXPECT(bloomset_may_contain_fixed(filter, numbers, 8, 5000, answers, NULL) == BLOOMSET_OK);
  int found = 0;
  for (int i = 0; i < 5000; ++i) found += answers[i];
  EXPECT(found == 5000);
  bloomset_close(filter);
}

static void failures_are_sentences(void) {
  bloomset_error error = {.struct_size = sizeof error};
  bloomset_filter* filter = NULL;
  EXPECT(bloomset_open("/no/such/file.bloom", &filter, &error) == BLOOMSET_NOT_FOUND);
  EXPECT(strstr(error.message, "/no/such/file.bloom") != NULL);
  bloomset_request wanted = {
      .struct_size = sizeof wanted, .kind = "blooom", .capacity = 10, .fpr = 0.01};
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(strstr(error.message, "blooom") != NULL);
  wanted = (bloomset_request){.struct_size = sizeof wanted, .capacity = 10, .fpr = 2};
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
  wanted = (bloomset_request){
      .struct_size = sizeof wanted, .kind = "ribbon", .capacity = 10, .fpr = 0.01};
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_UNSUPPORTED);
  const bloomset_option no_such = {"no_such", "1"};
  wanted = (bloomset_request){.struct_size = sizeof wanted,
                              .kind = "bloom",
                              .capacity = 10,
                              .fpr = 0.01,
                              .options = &no_such,
                              .option_count = 1};
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(filter == NULL);

  wanted = (bloomset_request){
      .struct_size = sizeof wanted, .kind = "cuckoo", .capacity = 100, .fpr = 0.01};
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_OK);
  size_t done = 0;
  EXPECT(bloomset_insert_batch(filter, keys, 2 * KEYS, &done, NULL, &error) == BLOOMSET_FULL);
  EXPECT(done >= 100 && done < KEYS);
  for (size_t i = 0; i < done; ++i)
    EXPECT(bloomset_may_contain(filter, keys[i].data, keys[i].size));
  bloomset_close(filter);
}

static void plans_are_made(void) {
  bloomset_error error = {.struct_size = sizeof error};
  bloomset_request wanted = {.struct_size = sizeof wanted, .capacity = 1000000, .fpr = 0.01};
  bloomset_plan_report report = {.struct_size = sizeof report};
  EXPECT(bloomset_plan(&wanted, &report, &error) == BLOOMSET_OK);
  EXPECT(strcmp(report.kind, "blocked_bloom") == 0 && report.planned_fpr <= 0.01);
  EXPECT(report.bits > 9000000 && report.bits < 11000000);
  wanted.unchanging = true;
  EXPECT(bloomset_plan(&wanted, &report, &error) == BLOOMSET_OK &&
         strcmp(report.kind, "ribbon") == 0);
  /* A caller of an older header knows less of the structure, and only that is written. */
  bloomset_plan_report old = {.struct_size = offsetof(bloomset_plan_report, bits), .bits = 77};
  EXPECT(bloomset_plan(&wanted, &old, &error) == BLOOMSET_OK && old.capacity == 1000000 &&
         old.bits == 77);
  old.struct_size = 0;
  EXPECT(bloomset_plan(&wanted, &old, &error) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(strstr(error.message, "sizeof(bloomset_plan_report)") != NULL);
}

/* Rates that 64-bit hashes cannot give. */
static void low_rates_have_128_bits(void) {
  bloomset_error error = {.struct_size = sizeof error};
  const char* const kinds[] = {"bloom", "blocked_bloom", "fuse", "ribbon"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    bloomset_request wanted = {
        .struct_size = sizeof wanted, .kind = kinds[i], .capacity = 500000000, .fpr = 1e-12};
    bloomset_plan_report plan = {.struct_size = sizeof plan};
    EXPECT(bloomset_plan(&wanted, &plan, &error) == BLOOMSET_OK);
    EXPECT(plan.hash_bits == 128 && plan.planned_fpr <= 1e-12);
    wanted = (bloomset_request){
        .struct_size = sizeof wanted, .kind = kinds[i], .fpr = 1e-12, .hash = "xxh3-2x64"};
    bloomset_filter* filter = NULL;
    EXPECT(bloomset_build(&wanted, keys, KEYS, &filter, &error) == BLOOMSET_OK);
    expect_members(filter, __LINE__);
    EXPECT(!bloomset_may_contain(filter, "never there", 11));
    bloomset_info_report info = {.struct_size = sizeof info};
    EXPECT(bloomset_info(filter, &info, &error) == BLOOMSET_OK);
    EXPECT(strcmp(info.hash, "xxh3-2x64") == 0);
    bloomset_close(filter);
    wanted.hash = "md5";
    EXPECT(bloomset_build(&wanted, keys, KEYS, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
  }
}

static void too_many_copies_are_said(void) {
  bloomset_error error = {.struct_size = sizeof error};
  const bloomset_request wanted = {.struct_size = sizeof wanted, .kind = "cuckoo", .fpr = 0.01};
  bloomset_key copies[100];
  for (size_t i = 0; i < 100; ++i) copies[i] = (bloomset_key){"ann", 3};
  bloomset_filter* filter = NULL;
  EXPECT(bloomset_build(&wanted, copies, 100, &filter, &error) == BLOOMSET_FULL);
  EXPECT(filter == NULL);
  EXPECT(strncmp(error.message, "the filter holds as many copies of a key as it can: ", 52) == 0);
}

/* Where neither the rate nor both others are given, it is that of the command line and of Python.
 */
static void the_default_rate_is_one_percent(void) {
  bloomset_error error = {.struct_size = sizeof error};
  const bloomset_request wanted[] = {
      {.struct_size = sizeof *wanted, .capacity = 1000000},
      {.struct_size = sizeof *wanted, .bits = 10000000},
      {.struct_size = sizeof *wanted, .capacity = 1000, .deletable = true},
      {.struct_size = sizeof *wanted, .kind = "expandable"},
      {.struct_size = sizeof *wanted, .kind = "ribbon", .capacity = 1000000},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    bloomset_plan_report report = {.struct_size = sizeof report};
    EXPECT(bloomset_plan(&wanted[i], &report, &error) == BLOOMSET_OK);
    EXPECT(report.planned_fpr > 0.003 && report.planned_fpr <= 0.01);
  }
  const bloomset_request both = {.struct_size = sizeof both, .capacity = 1000000, .bits = 20000000};
  bloomset_plan_report report = {.struct_size = sizeof report};
  EXPECT(bloomset_plan(&both, &report, &error) == BLOOMSET_OK && report.planned_fpr < 0.0002);
  bloomset_filter *made = NULL, *built = NULL;
  EXPECT(bloomset_create(&wanted[0], &made, &error) == BLOOMSET_OK);
  const bloomset_request nothing = {.struct_size = sizeof nothing, .kind = "ribbon"};
  EXPECT(bloomset_build(&nothing, keys, KEYS, &built, &error) == BLOOMSET_OK);
  expect_members(built, __LINE__);
  bloomset_close(made);
  bloomset_close(built);
}

/* A caller of a newer header has larger structures. */
static void newer_structures_are_taken_if_their_new_fields_are_zero(void) {
  struct {
    bloomset_error known;
    uint64_t newer[3];
  } error = {.known = {.struct_size = sizeof error}};
  struct {
    bloomset_request known;
    uint64_t newer;
  } wanted = {.known = {.struct_size = sizeof wanted, .capacity = 1000}};
  struct {
    bloomset_plan_report known;
    uint64_t newer;
  } plan = {.known = {.struct_size = sizeof plan}};
  struct {
    bloomset_info_report known;
    uint64_t newer;
  } info = {.known = {.struct_size = sizeof info}};
  bloomset_filter* filter = NULL;
  EXPECT(bloomset_plan(&wanted.known, &plan.known, &error.known) == BLOOMSET_OK);
  EXPECT(plan.known.capacity == 1000 && plan.known.struct_size == sizeof plan && plan.newer == 0);
  EXPECT(bloomset_create(&wanted.known, &filter, &error.known) == BLOOMSET_OK);
  EXPECT(bloomset_info(filter, &info.known, &error.known) == BLOOMSET_OK);
  EXPECT(info.known.capacity == 1000 && info.newer == 0);

  bloomset_filter* none = NULL;
  wanted.newer = 1;
  EXPECT(bloomset_create(&wanted.known, &none, &error.known) == BLOOMSET_UNSUPPORTED);
  EXPECT(error.known.status == BLOOMSET_UNSUPPORTED && error.known.struct_size == sizeof error);
  EXPECT(strstr(error.known.message, "bloomset_request") != NULL && error.newer[0] == 0);
  EXPECT(bloomset_plan(&wanted.known, &plan.known, NULL) == BLOOMSET_UNSUPPORTED);
  EXPECT(bloomset_build(&wanted.known, keys, 9, &none, NULL) == BLOOMSET_UNSUPPORTED);
  wanted.newer = 0;
  plan.newer = info.newer = UINT64_C(1) << 63;
  EXPECT(bloomset_plan(&wanted.known, &plan.known, &error.known) == BLOOMSET_UNSUPPORTED);
  EXPECT(bloomset_info(filter, &info.known, &error.known) == BLOOMSET_UNSUPPORTED);
  error.newer[2] = 1;
  EXPECT(bloomset_create(&wanted.known, &none, &error.known) == BLOOMSET_UNSUPPORTED);
  EXPECT(strstr(error.known.message, "bloomset_error") != NULL);
  error.newer[2] = 0;

  const size_t no_sizes[] = {0, 8, sizeof wanted.known - 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; ++i) {
    wanted.known.struct_size = no_sizes[i];
    EXPECT(bloomset_create(&wanted.known, &none, &error.known) == BLOOMSET_INVALID_ARGUMENT);
    EXPECT(strstr(error.known.message, "sizeof(bloomset_request)") != NULL);
    bloomset_error unset = {.struct_size = no_sizes[i], .message = "as it was"};
    EXPECT(bloomset_open("/no/such/file", &none, &unset) == BLOOMSET_INVALID_ARGUMENT);
    EXPECT(strcmp(unset.message, "as it was") == 0);
  }
  EXPECT(none == NULL);
  bloomset_close(filter);
}

/* The call failed as one with a NULL does, and said which pointer it was. */
static void expect_null(bloomset_status status, const bloomset_error* error, const char* name,
                        int line) {
  expect(status == BLOOMSET_INVALID_ARGUMENT && error->status == status, "NULL is an error", line);
  expect(strncmp(error->message, name, strlen(name)) == 0, error->message, line);
}
#define NULL_IS(name, call) expect_null((call), &error, name, __LINE__)

static void null_is_an_error_where_a_pointer_is_needed(void) {
  bloomset_error error = {.struct_size = sizeof error};
  const bloomset_request wanted = {.struct_size = sizeof wanted, .capacity = 100, .counting = true};
  bloomset_plan_report plan = {.struct_size = sizeof plan};
  bloomset_info_report info = {.struct_size = sizeof info};
  bloomset_filter *f = NULL, *made = NULL;
  EXPECT(bloomset_create(&wanted, &f, &error) == BLOOMSET_OK);
  const bloomset_key some[] = {{"ann", 3}, {NULL, 0}, {NULL, 2}};
  bool answers[3];
  uint64_t counts[3];
  void* bytes = NULL;
  size_t size = 0;

  EXPECT(bloomset_kind_summary(NULL) == NULL);
  NULL_IS("request ", bloomset_plan(NULL, &plan, &error));
  NULL_IS("report ", bloomset_plan(&wanted, NULL, &error));
  NULL_IS("request ", bloomset_create(NULL, &made, &error));
  NULL_IS("filter ", bloomset_create(&wanted, NULL, &error));
  NULL_IS("request ", bloomset_build(NULL, some, 2, &made, &error));
  NULL_IS("keys ", bloomset_build(&wanted, NULL, 2, &made, &error));
  NULL_IS("keys[2] ", bloomset_build(&wanted, some, 3, &made, &error));
  NULL_IS("filter ", bloomset_build(&wanted, some, 2, NULL, &error));
  NULL_IS("members ", bloomset_build_exact(&wanted, NULL, 2, some, 2, &made, &error));
  NULL_IS("others ", bloomset_build_exact(&wanted, some, 2, NULL, 2, &made, &error));
  NULL_IS("path ", bloomset_open(NULL, &made, &error));
  NULL_IS("filter ", bloomset_open("/dev/null", NULL, &error));
  NULL_IS("path ", bloomset_load(NULL, &made, &error));
  NULL_IS("filter ", bloomset_load("/dev/null", NULL, &error));
  NULL_IS("filter ", bloomset_save(NULL, "/dev/null", true, &error));
  NULL_IS("path ", bloomset_save(f, NULL, true, &error));
  NULL_IS("filter ", bloomset_to_bytes(NULL, &bytes, &size, &error));
  NULL_IS("bytes ", bloomset_to_bytes(f, NULL, &size, &error));
  NULL_IS("size ", bloomset_to_bytes(f, &bytes, NULL, &error));
  NULL_IS("bytes ", bloomset_from_bytes(NULL, 64, &made, &error));
  NULL_IS("filter ", bloomset_from_bytes("none", 4, NULL, &error));
  EXPECT(bloomset_from_bytes(NULL, 0, &made, &error) == BLOOMSET_CORRUPT);
  NULL_IS("filter ", bloomset_copy(NULL, &made, &error));
  NULL_IS("copy ", bloomset_copy(f, NULL, &error));
  NULL_IS("filter ", bloomset_info(NULL, &info, &error));
  NULL_IS("report ", bloomset_info(f, NULL, &error));
  NULL_IS("filter ", bloomset_insert(NULL, "ann", 3, NULL, &error));
  NULL_IS("the keys ", bloomset_insert(f, NULL, 3, NULL, &error));
  NULL_IS("filter ", bloomset_insert_batch(NULL, some, 2, NULL, NULL, &error));
  NULL_IS("keys ", bloomset_insert_batch(f, NULL, 2, NULL, NULL, &error));
  size_t done = 9;
  uint64_t inserted = 9;
  NULL_IS("keys[2] ", bloomset_insert_batch(f, some, 3, &done, &inserted, &error));
  EXPECT(done == 9 && inserted == 9);
  NULL_IS("filter ", bloomset_insert_fixed(NULL, "ann", 3, 1, NULL, NULL, &error));
  NULL_IS("the keys ", bloomset_insert_fixed(f, NULL, 3, 1, NULL, NULL, &error));
  NULL_IS("filter ", bloomset_may_contain_batch(NULL, some, 2, answers, &error));
  NULL_IS("keys ", bloomset_may_contain_batch(f, NULL, 2, answers, &error));
  NULL_IS("keys[2] ", bloomset_may_contain_batch(f, some, 3, answers, &error));
  NULL_IS("answers ", bloomset_may_contain_batch(f, some, 2, NULL, &error));
  NULL_IS("filter ", bloomset_may_contain_fixed(NULL, "ann", 3, 1, answers, &error));
  NULL_IS("the keys ", bloomset_may_contain_fixed(f, NULL, 3, 1, answers, &error));
  NULL_IS("answers ", bloomset_may_contain_fixed(f, "ann", 3, 1, NULL, &error));
  NULL_IS("filter ", bloomset_erase(NULL, some, 2, answers, &error));
  NULL_IS("keys ", bloomset_erase(f, NULL, 2, answers, &error));
  NULL_IS("keys[2] ", bloomset_erase(f, some, 3, answers, &error));
  NULL_IS("filter ", bloomset_add_exceptions(NULL, some, 2, NULL, &error));
  NULL_IS("keys[2] ", bloomset_add_exceptions(f, some, 3, NULL, &error));
  NULL_IS("keys ", bloomset_remove_exceptions(f, NULL, 2, NULL, &error));
  NULL_IS("filter ", bloomset_count(NULL, some, 2, counts, &error));
  NULL_IS("keys ", bloomset_count(f, NULL, 2, counts, &error));
  NULL_IS("counts ", bloomset_count(f, some, 2, NULL, &error));
  NULL_IS("filter ", bloomset_merge(NULL, f, &error));
  NULL_IS("other ", bloomset_merge(f, NULL, &error));
  NULL_IS("filter ", bloomset_fold(NULL, 2, 0, &made, &error));
  NULL_IS("folded ", bloomset_fold(f, 2, 0, NULL, &error));
  NULL_IS("filter ", bloomset_intersect(NULL, f, &error));
  NULL_IS("other ", bloomset_intersect(f, NULL, &error));
  EXPECT(bloomset_merge(f, NULL, NULL) == BLOOMSET_INVALID_ARGUMENT);
  /* An answer that cannot be "certainly not" is the safe one. */
  EXPECT(bloomset_may_contain(NULL, "ann", 3) && bloomset_may_contain(f, NULL, 3));
  EXPECT(!bloomset_may_contain(f, "ann", 3));

  const bloomset_option options[] = {{"counter_bits", "8"}, {NULL, "1"}, {"counter_bits", NULL}};
  bloomset_request with_options = {.struct_size = sizeof with_options,
                                   .kind = "counting_bloom",
                                   .capacity = 10,
                                   .option_count = 1};
  NULL_IS("options ", bloomset_create(&with_options, &made, &error));
  with_options.options = options + 1;
  NULL_IS("options[0] ", bloomset_create(&with_options, &made, &error));
  with_options.options = options + 2;
  NULL_IS("options[0] ", bloomset_create(&with_options, &made, &error));
  EXPECT(made == NULL);

  /* None are needed where there is nothing. */
  EXPECT(bloomset_may_contain_batch(f, NULL, 0, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_may_contain_fixed(f, NULL, 8, 0, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_insert_batch(f, NULL, 0, NULL, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_erase(f, NULL, 0, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_count(f, NULL, 0, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_insert_fixed(f, NULL, 0, 2, NULL, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_may_contain_fixed(f, NULL, 0, 2, answers, &error) == BLOOMSET_OK && answers[1]);
  EXPECT(bloomset_may_contain_batch(f, some, 2, answers, &error) == BLOOMSET_OK && answers[1]);
  EXPECT(bloomset_build(&wanted, NULL, 0, &made, &error) == BLOOMSET_OK);
  bloomset_close(made);
  bloomset_close(f);
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
  bloomset_error error = {.struct_size = sizeof error};
  for (size_t k = 0; bloomset_kind_name(k) != NULL; ++k) {
    const char* kind = bloomset_kind_name(k);
    const bool parts = strcmp(kind, "expandable") == 0 || strcmp(kind, "scalable_bloom") == 0;
    const bloomset_request wanted = {
        .struct_size = sizeof wanted, .kind = kind, .capacity = 30000000};
    bloomset_filter* filters[2] = {NULL, NULL};
    const bloomset_status made = bloomset_create(&wanted, &filters[0], &error);
    if (made == BLOOMSET_UNSUPPORTED) continue; /* built once from its keys */
    EXPECT(made == BLOOMSET_OK);
    char path[512];
    snprintf(path, sizeof path, "%s/large.bloom", folder);
    EXPECT(bloomset_save(filters[0], path, true, &error) == BLOOMSET_OK);
    EXPECT(bloomset_open(path, &filters[1], &error) == BLOOMSET_OK);
    bloomset_info_report info = {.struct_size = sizeof info};
    EXPECT(bloomset_info(filters[0], &info, &error) == BLOOMSET_OK && info.bytes > 30000000);
    for (int mapped = 0; mapped < 2; ++mapped) {
      void* bytes = NULL;
      size_t size = 0;
      bloomset_filter* copy = NULL;
      limit_memory_to(info.bytes / 2 * (parts && mapped ? 5 : 3));
      EXPECT(bloomset_copy(filters[mapped], &copy, &error) == BLOOMSET_OK);
      limit_memory_to(SIZE_MAX);
      limit_memory_to(info.bytes / 2 * 3);
      EXPECT(bloomset_to_bytes(filters[mapped], &bytes, &size, &error) == BLOOMSET_OK);
      limit_memory_to(SIZE_MAX);
      EXPECT(size > info.bytes);
      EXPECT(bloomset_insert(copy, "ann", 3, NULL, &error) == BLOOMSET_OK);
      bloomset_free(bytes);
      bloomset_close(copy);
      bloomset_close(filters[mapped]);
    }
  }
}

static void a_secret_key_opens_and_nothing_else_does(const char* folder) {
  bloomset_error error = {.struct_size = sizeof error};
  unsigned char key[BLOOMSET_KEY_SIZE], other[BLOOMSET_KEY_SIZE];
  EXPECT(bloomset_new_key(key, &error) == BLOOMSET_OK);
  EXPECT(bloomset_new_key(other, &error) == BLOOMSET_OK);
  EXPECT(memcmp(key, other, sizeof key) != 0);
  bloomset_request wanted = {.struct_size = sizeof wanted, .capacity = 100, .key = key};
  char path[4096];
  snprintf(path, sizeof path, "%s/keyed", folder);
  bloomset_filter* filter = NULL;
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_OK);
  EXPECT(bloomset_insert(filter, "ann", 3, NULL, &error) == BLOOMSET_OK);
  EXPECT(bloomset_save(filter, path, true, &error) == BLOOMSET_OK);
  void* bytes = NULL;
  size_t size = 0;
  EXPECT(bloomset_to_bytes(filter, &bytes, &size, &error) == BLOOMSET_OK);
  bloomset_info_report report = {.struct_size = sizeof report};
  EXPECT(bloomset_file_info(path, &report, &error) == BLOOMSET_OK);
  EXPECT(report.capacity == 100 && report.count == 1 && !strcmp(report.kind, "blocked_bloom"));
  EXPECT(bloomset_file_info("no such file", &report, &error) == BLOOMSET_NOT_FOUND);
  char *json = NULL, *of_file = NULL;
  EXPECT(bloomset_info_json(filter, &json, &error) == BLOOMSET_OK);
  EXPECT(bloomset_file_info_json(path, &of_file, &error) == BLOOMSET_OK);
  EXPECT(json != NULL && of_file != NULL && strcmp(json, of_file) == 0);
  EXPECT(strstr(json, "{\"kind\":\"blocked_bloom\",\"capacity\":100,\"count\":1,") == json);
  EXPECT(strstr(json, "\"overfilled\":false") != NULL && !report.overfilled && report.can_fold);
  bloomset_free(json);
  bloomset_free(of_file);
  EXPECT(bloomset_file_info_json("no such file", &json, &error) == BLOOMSET_NOT_FOUND);
  bloomset_close(filter);

  for (int writable = 0; writable < 2; ++writable) {
    EXPECT(bloomset_open_keyed(path, key, writable != 0, &filter, &error) == BLOOMSET_OK);
    EXPECT(bloomset_may_contain(filter, "ann", 3));
    bloomset_close(filter);
    filter = NULL;
    EXPECT(bloomset_open_keyed(path, other, writable != 0, &filter, &error) ==
           BLOOMSET_INVALID_ARGUMENT);
    EXPECT(strstr(error.message, "secret key") != NULL && filter == NULL);
  }
  EXPECT(bloomset_open(path, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(bloomset_from_bytes(bytes, size, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
  EXPECT(bloomset_from_bytes_keyed(bytes, size, key, &filter, &error) == BLOOMSET_OK);
  EXPECT(bloomset_may_contain(filter, "ann", 3));
  bloomset_close(filter);
  bloomset_free(bytes);
  wanted.seed = 1;
  EXPECT(bloomset_create(&wanted, &filter, &error) == BLOOMSET_INVALID_ARGUMENT);
}

static void layers_answer_as_one_filter(void) {
  bloomset_filter* filter = NULL;
  bloomset_error error = {.struct_size = sizeof error};
  EXPECT(bloomset_open(BLOOMSET_GOLDEN_FOLDER "/bloom-layers.bloom", &filter, &error) ==
         BLOOMSET_OK);
  int passed = 0;
  for (int i = 0; i < 1000; ++i) {
    char key[24];
    const size_t size = (size_t)sprintf(key, i < 40 ? "layer-%d" : "other-%d", i);
    passed += bloomset_may_contain(filter, key, size);
  }
  EXPECT(passed >= 40 && passed < 100);
  EXPECT(bloomset_may_contain(filter, "member-3", 8) &&
         bloomset_may_contain(filter, "layer-39", 8));
  bloomset_close(filter);
}

int main(int count, char** arguments) {
  if (count != 2) {
    puts("usage: c_program FOLDER");
    return 2;
  }
  EXPECT(bloomset_c_version() == BLOOMSET_C_VERSION);
  make_keys();
  every_kind_is_built_stored_and_asked(arguments[1]);
  a_filter_is_changed();
  false_positives_become_exceptions(arguments[1]);
  exact_filters_have_no_false_positives();
  layers_answer_as_one_filter();
  filters_are_folded();
  numbers_are_keys_of_fixed_size();
  failures_are_sentences();
  plans_are_made();
  low_rates_have_128_bits();
  too_many_copies_are_said();
  the_default_rate_is_one_percent();
  newer_structures_are_taken_if_their_new_fields_are_zero();
  null_is_an_error_where_a_pointer_is_needed();
  a_copy_needs_the_memory_of_one_filter(arguments[1]);
  a_secret_key_opens_and_nothing_else_does(arguments[1]);
  bloomset_free(NULL);
  bloomset_close(NULL);
  if (failures == 0) puts("the C interface holds");
  return failures == 0 ? 0 : 1;
}
