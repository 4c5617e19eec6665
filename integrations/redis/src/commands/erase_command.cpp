// BF.DEL and CF.DEL.

#include "commands/filter_key.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"

namespace bloomset::server {

int erase(const command_call& call) {
  filter_key key(call, open_read | open_write);
  if (!call.is_bloom() && key.object() == nullptr) throw refusal("Not found");
  filter_value& filter = key.filter();
  if (call.is_bloom() && !filter.facts().spec.deletable) throw refusal(not_deletable);
  const bool erased = filter.erase(call.word(2));
  if (erased) {
    api.replicate_verbatim(call.ctx);
    key.announce(call.is_bloom() ? "bf.del" : "cf.del");
  }
  return api.reply_bool(call.ctx, erased);
}

}  // namespace bloomset::server
