// CF.EXISTS, CF.MEXISTS, CF.COUNT, CF.INFO, CF.STATS, CF.DEBUG.

#include <array>

#include "cf_commands.hpp"
#include "filter_type.hpp"
#include "membership.hpp"
#include "reply.hpp"

namespace bloomery::server {

int cf_exists(const request& in) {
  return reply_contained(in, filter_family::cuckoo);
}

int cf_mexists(const request& in) {
  return reply_all_contained(in, filter_family::cuckoo);
}

int cf_count(const request& in) {
  const filter_key key(in, filter_family::cuckoo, open_read);
  if (key.object() == nullptr) return reply_number(in.ctx, 0);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  return reply_number(in.ctx, filter->count(in.word(2)));
}

int cf_stats(const request& in) {
  return reply_state(in, filter_family::cuckoo);
}

int cf_debug(const request& in) {
  const filter_key key(in, filter_family::cuckoo, open_read);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  const std::vector<std::string> lines = filter->debug_lines();
  if (lines.empty()) return reply_error(in.ctx, "ERR not a compatible filter; see CF.STATS");
  return api.reply_bytes(in.ctx, lines[0].data(), lines[0].size());
}

int cf_info(const request& in) {
  const filter_key key(in, filter_family::cuckoo, open_read);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  const filter_facts facts = filter->facts();
  const filter_spec& spec = facts.spec;
  const std::uint64_t buckets = facts.buckets != 0
                                    ? facts.buckets
                                    : (facts.capacity + spec.bucket_size - 1) / spec.bucket_size;
  const std::array fields = {field{"", "Size", facts.bytes},
                             field{"", "Number of buckets", buckets},
                             field{"", "Number of filters", facts.filters},
                             field{"", "Number of items inserted", facts.items},
                             field{"", "Number of items deleted", facts.deleted},
                             field{"", "Bucket size", spec.bucket_size},
                             field{"", "Expansion rate", spec.expansion},
                             field{"", "Max iterations", spec.max_iterations}};
  return reply_fields(in.ctx, fields);
}

}  // namespace bloomery::server
