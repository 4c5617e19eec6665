#include <bloomset/detail/exact/sections.hpp>

#include <algorithm>
#include <array>

#include <bloomset/detail/retrieval/retrieval.hpp>

namespace bloomset::detail {

exact_sections::exact_sections(const exact_params& params)
    : first_mask_(params.first.levels.empty() ? 0 : column_mask(params.first.columns)),
      guided_mask_(params.guided.levels.empty() ? 0 : column_mask(params.guided.columns)),
      shift_(params.first.levels.empty() ? 0 : params.first.columns),
      negated_(params.negated) {
  if (params.last.levels.empty()) return;
  const std::uint64_t zeros = params.payload_bytes() - retrieval_padding;
  const std::uint64_t guided_at = retrieval_bytes(params.first.levels);
  const std::uint64_t last_at = guided_at + retrieval_bytes(params.guided.levels);
  first_ = retrieval_views(params.first.levels, 0, zeros);
  guided_ = retrieval_views(params.guided.levels, guided_at, zeros);
  last_ = retrieval_views(params.last.levels, last_at, zeros);
}

void exact_sections::contains(const std::byte* payload, std::span<const hash64> hashes,
                              bool* answers) const noexcept {
  // Keys that go through all sections together. Most others end in the first one.
  constexpr std::size_t chunk = 1024;
  const retrieval_kernels& kernels = retrieval_ops();
  std::array<hash64, chunk> keys;
  std::array<std::uint16_t, chunk> indices;
  std::array<std::uint32_t, chunk> values;
  for (std::size_t from = 0; from < hashes.size(); from += chunk) {
    const auto asked = hashes.subspan(from, std::min(chunk, hashes.size() - from));
    std::fill_n(answers + from, asked.size(), negated_);
    if (last_.empty()) continue;
    std::size_t n = asked.size();
    std::copy(asked.begin(), asked.end(), keys.begin());
    for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::uint16_t>(i);
    const auto keep_matching = [&](std::uint32_t shift, std::uint32_t mask) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t wanted = (fingerprint_of(keys[i].value) >> shift) & mask;
        keys[kept] = keys[i];
        indices[kept] = indices[i];
        kept += values[i] == wanted;
      }
      n = kept;
    };
    if (!first_.empty()) {
      kernels.retrieve_128({payload, first_}, {keys.data(), n}, values.data());
      keep_matching(0, first_mask_);
    }
    if (!guided_.empty()) {
      kernels.retrieve_64({payload, guided_}, {keys.data(), n}, values.data());
      keep_matching(shift_, guided_mask_);
    }
    for (std::size_t i = 0; i < n; ++i) keys[i] = last_section_hash(keys[i]);
    kernels.retrieve_128({payload, last_}, {keys.data(), n}, values.data());
    for (std::size_t i = 0; i < n; ++i) answers[from + indices[i]] = (values[i] != 0) != negated_;
  }
}

}  // namespace bloomset::detail
