/* The C interface as a C11 program uses it. Prints what failed, and exits with the number of
 * failures. */

#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Asks for all keys: no member may be missing, and few strangers may pass. */
static void expect_members(const bloomery_filter* filter, int line) {
  static bool answers[2 * KEYS];
  bloomery_may_contain_batch(filter, keys, 2 * KEYS, answers);
  int found = 0, passed = 0;
  for (int i = 0; i < KEYS; ++i) found += answers[i];
  for (int i = KEYS; i < 2 * KEYS; ++i) {
    passed += answers[i];
    expect(answers[i] == bloomery_may_contain(filter, keys[i].data, keys[i].size), "one as many",
           line);
  }
  expect(found == KEYS, "all members found", line);
  expect(passed < KEYS / 20, "few strangers pass at 1%", line);
}

static void every_kind_is_built_stored_and_asked(const char* folder) {
  bloomery_error error;
  for (size_t k = 0; bloomery_kind_name(k) != NULL; ++k) {
    const char* kind = bloomery_kind_name(k);
    EXPECT(strlen(bloomery_kind_summary(kind)) > 10);
    const bloomery_request wanted = {.kind = kind, .fpr = 0.01};
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
  bloomery_error error;
  const bloomery_request wanted = {.capacity = 2 * KEYS, .fpr = 0.01, .deletable = true};
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

/* Numbers in an array are keys of eight bytes, as C++ callers' integers are. */
static void numbers_are_keys_of_fixed_size(void) {
  static uint64_t numbers[5000];
  static bool answers[5000];
  for (uint64_t i = 0; i < 5000; ++i) numbers[i] = i * i;
  const bloomery_request wanted = {.capacity = 5000, .fpr = 0.001};
  bloomery_filter* filter = NULL;
  EXPECT(bloomery_create(&wanted, &filter, NULL) == BLOOMERY_OK);
  size_t done = 0;
  EXPECT(bloomery_insert_fixed(filter, numbers, 8, 5000, &done, NULL, NULL) == BLOOMERY_OK);
  EXPECT(done == 5000);
  bloomery_may_contain_fixed(filter, numbers, 8, 5000, answers);
  int found = 0;
  for (int i = 0; i < 5000; ++i) found += answers[i];
  EXPECT(found == 5000);
  bloomery_close(filter);
}

static void failures_are_sentences(void) {
  bloomery_error error;
  bloomery_filter* filter = NULL;
  EXPECT(bloomery_open("/no/such/file.bloom", &filter, &error) == BLOOMERY_NOT_FOUND);
  EXPECT(strstr(error.message, "/no/such/file.bloom") != NULL);
  bloomery_request wanted = {.kind = "blooom", .capacity = 10, .fpr = 0.01};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(strstr(error.message, "blooom") != NULL);
  wanted = (bloomery_request){.capacity = 10, .fpr = 2};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  wanted = (bloomery_request){.kind = "ribbon", .capacity = 10, .fpr = 0.01};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_UNSUPPORTED);
  const bloomery_option no_such = {"no_such", "1"};
  wanted = (bloomery_request){
      .kind = "bloom", .capacity = 10, .fpr = 0.01, .options = &no_such, .option_count = 1};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_INVALID_ARGUMENT);
  EXPECT(filter == NULL);

  wanted = (bloomery_request){.kind = "cuckoo", .capacity = 100, .fpr = 0.01};
  EXPECT(bloomery_create(&wanted, &filter, &error) == BLOOMERY_OK);
  size_t done = 0;
  EXPECT(bloomery_insert_batch(filter, keys, 2 * KEYS, &done, NULL, &error) == BLOOMERY_FULL);
  EXPECT(done >= 100 && done < KEYS);
  for (size_t i = 0; i < done; ++i)
    EXPECT(bloomery_may_contain(filter, keys[i].data, keys[i].size));
  bloomery_close(filter);
}

static void plans_are_made(void) {
  bloomery_error error;
  bloomery_request wanted = {.capacity = 1000000, .fpr = 0.01};
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
  old.struct_size = sizeof old + 1;
  EXPECT(bloomery_plan(&wanted, &old, &error) == BLOOMERY_INVALID_ARGUMENT);
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
  numbers_are_keys_of_fixed_size();
  failures_are_sentences();
  plans_are_made();
  bloomery_free(NULL);
  bloomery_close(NULL);
  if (failures == 0) puts("the C interface holds");
  return failures == 0 ? 0 : 1;
}
