// The layers of any_filter: keys that were added after it was published.

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>

namespace bloomset {

const layer_list& any_filter::layers() const noexcept {
  static const layer_list none;
  return layers_ == nullptr ? none : layers_->list;
}

bool any_filter::is_in_layer(std::string_view key) const noexcept {
  return layers_->list.contains(layers_->hasher(std::as_bytes(std::span(key))));
}

/// Each key is hashed once, for the filter and for the layers.
void any_filter::ask_layers(std::span<const std::string_view> keys,
                            std::span<bool> answers) const noexcept {
  std::array<std::span<const std::byte>, 256> bytes;
  std::array<hash64, 256> hashes;
  while (!keys.empty()) {
    const std::size_t now = std::min(keys.size(), hashes.size());
    for (std::size_t i = 0; i < now; ++i) bytes[i] = std::as_bytes(std::span(keys[i]));
    layers_->hasher(std::span(bytes).first(now), hashes.data());
    (void)may_contain(std::span<const hash64>(hashes).first(now), answers.first(now));
    keys = keys.subspan(now);
    answers = answers.subspan(now);
  }
}

double any_filter::current_fpr() const noexcept {
  const double own = model().current_fpr();
  return layers_ == nullptr ? own : 1 - (1 - own) * (1 - layers_->list.fpr());
}

failure any_filter::stays() {
  return fail(errc::unsupported,
              "the filter has layers of keys that were added after it was published, so it is only "
              "queried; change the filter that its publisher has");
}

}  // namespace bloomset
