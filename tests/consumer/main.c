#include <bloomset.h>
#include <stdio.h>

int main(void) {
  const bloomset_request wanted = {.struct_size = sizeof wanted, .capacity = 1000, .fpr = 0.0001};
  bloomset_filter* seen = NULL;
  if (bloomset_create(&wanted, &seen, NULL) != BLOOMSET_OK) return 1;
  if (bloomset_insert(seen, "alice@example.com", 17, NULL, NULL) != BLOOMSET_OK) return 1;
  puts(bloomset_may_contain(seen, "alice@example.com", 17) ? "maybe" : "no");
  puts(bloomset_may_contain(seen, "bob@example.com", 15) ? "maybe" : "no");
  bloomset_close(seen);
  return 0;
}
