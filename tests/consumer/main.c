#include <bloomery.h>
#include <stdio.h>

int main(void) {
  const bloomery_request wanted = {.struct_size = sizeof wanted, .capacity = 1000, .fpr = 0.0001};
  bloomery_filter* seen = NULL;
  if (bloomery_create(&wanted, &seen, NULL) != BLOOMERY_OK) return 1;
  if (bloomery_insert(seen, "alice@example.com", 17, NULL, NULL) != BLOOMERY_OK) return 1;
  puts(bloomery_may_contain(seen, "alice@example.com", 17) ? "maybe" : "no");
  puts(bloomery_may_contain(seen, "bob@example.com", 15) ? "maybe" : "no");
  bloomery_close(seen);
  return 0;
}
