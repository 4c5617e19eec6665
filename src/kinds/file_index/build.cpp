// The build of a file index: joins equal keys, chooses the code of the answers, and builds the
// structures of the values.

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/file_index.hpp>
#include <mutex>
#include <new>
#include <utility>

#include "kinds/file_index/body.hpp"
#include "kinds/file_index/class_code.hpp"
#include "kinds/file_index/joined_keys.hpp"
#include "kinds/file_index/list_code.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace detail {
namespace {

constexpr std::uint64_t max_list_bytes = std::uint64_t{128} << 20;
constexpr std::size_t batch_keys = std::size_t{1} << 12;

/// Keeps keys in pieces, so that none is copied when the store grows.
class memory_store final : public file_key_store {
 public:
  result<void> add(std::span<const file_key> keys) override {
    while (!keys.empty()) {
      if (pieces_.empty() || pieces_.back().size() == piece_keys) {
        pieces_.emplace_back().reserve(piece_keys);
      }
      auto& into = pieces_.back();
      const auto now = keys.first(std::min(keys.size(), piece_keys - into.size()));
      into.insert(into.end(), now.begin(), now.end());
      keys = keys.subspan(now.size());
      size_ += now.size();
    }
    return {};
  }
  result<file_key_source> source() override {
    return file_key_source{size_, [this](const file_key_source::sink& use) -> result<void> {
                             for (const auto& piece : pieces_) {
                               if (auto ok = use(piece); !ok) return ok;
                             }
                             return {};
                           }};
  }

 private:
  static constexpr std::size_t piece_keys = std::size_t{1} << 16;

  std::vector<source_vector<file_key>> pieces_;
  std::uint64_t size_ = 0;
};

/// What a thread has not given to a store yet.
class pending_keys {
 public:
  pending_keys(file_key_store& store, mutex& locked) : store_(&store), locked_(&locked) {
    keys_.reserve(batch_keys);
  }
  result<void> add(file_key key) {
    keys_.push_back(key);
    return keys_.size() < batch_keys ? result<void>() : flush();
  }
  result<void> flush() {
    const std::lock_guard lock(*locked_);
    auto done = store_->add(keys_);
    keys_.clear();
    return done;
  }

 private:
  file_key_store* store_;
  mutex* locked_;
  std::vector<file_key> keys_;
};

/// The source with each batch changed by `change(key, keep)`, which calls keep(changed key) or not.
template <class Change>
file_key_source changed(const file_key_source& from, std::uint64_t size, const Change& change) {
  const auto pass = [change](std::span<const file_key> keys, const file_key_source::sink& use) {
    std::array<file_key, batch_keys> batch;
    while (!keys.empty()) {
      const auto now = keys.first(std::min(keys.size(), batch.size()));
      keys = keys.subspan(now.size());
      std::size_t n = 0;
      for (const file_key& key : now) change(key, [&](file_key kept) { batch[n++] = kept; });
      if (n == 0) continue;
      if (auto ok = use(std::span<const file_key>(batch.data(), n)); !ok) return ok;
    }
    return result<void>();
  };
  file_key_source to{
      size, [from, pass](const file_key_source::sink& use) {
        return from.for_each([&](std::span<const file_key> keys) { return pass(keys, use); });
      }};
  to.check_cancelled = from.check_cancelled;
  if (from.for_each_in_part) {
    to.for_each_in_part = [from, pass](unsigned part, const file_key_source::sink& use) {
      return from.for_each_in_part(part,
                                   [&](std::span<const file_key> keys) { return pass(keys, use); });
    };
  }
  return to;
}

/// Ids of answers in the store of joined keys: files, then lists, then the chain.
struct joined {
  std::vector<std::uint64_t> weights;  // per id
  std::uint64_t keys = 0;
  std::uint64_t links = 0;
};

class index_builder {
 public:
  index_builder(const file_index_spec& spec, const file_key_source& keys)
      : spec_(spec), keys_(keys), threads_(threads_for(spec.threads)) {}

  result<filter_image> build() {
    if (auto ok = check(); !ok) return fail(std::move(ok.error()));
    auto lists = choose_lists(keys_, spec_.names.size(), threads_, max_list_bytes);
    if (!lists) return fail(std::move(lists.error()));
    lists_ = std::move(*lists);
    // Two of a chain's hashes are equal for one seed in 10^5 with 10^7 links; another seed differs.
    for (params_.chain_seed = 0;; ++params_.chain_seed) {
      auto done = build_values();
      if (!done && done.error().code == errc::incompatible && params_.chain_seed < 16) continue;
      if (!done) return fail(std::move(done.error()));
      break;
    }
    return finish();
  }

  /// The sections, which the image refers to.
  mapped_storage payload() && {
    const auto bytes = payload_.bytes();
    return {std::move(payload_), bytes};
  }
  const file_index_params& params() const noexcept { return params_; }

 private:
  result<void> check() {
    const std::size_t n = spec_.names.size();
    if (n == 0) return refuse("an index needs the name of at least one file");
    if (n > file_index::max_files) {
      return refuse("{} files are too many; an index has at most {}", n, file_index::max_files);
    }
    std::uint64_t bytes = 0;
    for (const std::string& name : spec_.names) {
      if (name.empty()) return refuse("a file needs a name of at least one byte");
      bytes += name.size();
    }
    if (bytes > 0xffffffff) return refuse("the names of files are longer than 4 GiB");
    if (!in_range(spec_.fpr, 1e-8, 0.5)) {
      return refuse("a rate of {} is out of range; give 1e-8 to 1/2", spec_.fpr);
    }
    params_.files = static_cast<std::uint32_t>(n);
    params_.fpr = spec_.fpr;
    params_.name_bytes = bytes;
    return {};
  }

  result<std::unique_ptr<file_key_store>> make_store() const {
    if (spec_.make_store) return spec_.make_store();
    return std::unique_ptr<file_key_store>(std::make_unique<memory_store>());
  }

  /// Puts each distinct key with the id of its answer into `store`, and the links of chains into
  /// `links`.
  result<joined> join(file_key_store& store, file_key_store& links) const {
    file_list_map<std::uint32_t> ids;
    const std::uint32_t files = params_.files;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      ids.emplace(lists_[i], files + static_cast<std::uint32_t>(i));
    }
    const auto chain = static_cast<std::uint32_t>(files + lists_.size());
    struct share {
      std::vector<std::uint64_t> weights;
      pending_keys keys;
      pending_keys links;
      std::uint64_t link_count = 0;
    };
    mutex storing;
    std::vector<share> shares;
    shares.reserve(threads_);
    for (unsigned t = 0; t < threads_; ++t) {
      shares.push_back({std::vector<std::uint64_t>(chain + 1), pending_keys(store, storing),
                        pending_keys(links, storing)});
    }
    const auto add = [&](unsigned thread, hash64 h, file_list_view list) -> result<void> {
      share& mine = shares[thread];
      if (list.back() >= files) {
        return refuse("a key has file {}, but there are names for {}", std::uint64_t{list.back()},
                      files);
      }
      std::uint32_t id = list.front();
      if (list.size() > 1) {
        const auto found = ids.find(list);
        id = found != ids.end() ? found->second : chain;
        if (id == chain) {
          for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto value = static_cast<std::uint32_t>(list[i]) << 1 | (i + 1 == list.size());
            auto ok = mine.links.add(file_key(link_hash(h, params_.chain_seed, i), value));
            if (!ok) return ok;
          }
          mine.link_count += list.size();
        }
      }
      ++mine.weights[id];
      return mine.keys.add(file_key(h, id));
    };
    if (auto ok = for_each_joined_key(keys_, threads_, add); !ok)
      return fail(std::move(ok.error()));
    joined all{.weights = std::vector<std::uint64_t>(chain + 1)};
    for (share& mine : shares) {
      if (auto ok = mine.keys.flush(); !ok) return fail(std::move(ok.error()));
      if (auto ok = mine.links.flush(); !ok) return fail(std::move(ok.error()));
      all.links += mine.link_count;
      for (std::size_t id = 0; id <= chain; ++id) {
        all.weights[id] += mine.weights[id];
        all.keys += mine.weights[id];
      }
    }
    return all;
  }

  /// Joins the keys and builds all structures of values, into `values_`.
  result<void> build_values() {
    auto store = make_store();
    if (!store) return fail(std::move(store.error()));
    auto links = make_store();
    if (!links) return fail(std::move(links.error()));
    const auto all = join(**store, **links);
    if (!all) return fail(all.error());
    values_.clear();
    if (auto ok = build_links(**links, all->links); !ok) return ok;
    links->reset();
    choose_code(*all);
    return build_answers(**store, all->weights);
  }

  result<void> build_links(file_key_store& links, std::uint64_t count) {
    params_.links = {};
    built_links_ = {};
    if (count == 0) return {};
    const auto source = links.source();
    if (!source) return fail(source.error());
    auto built = build_retrieval(
        {.columns = params_.file_bits() + 1, .seed = params_.chain_seed, .threads = threads_},
        *source);
    if (!built) return fail(std::move(built.error()));
    params_.links = std::move(built->params);
    built_links_ = std::move(built->payload);
    return {};
  }

  void choose_code(const joined& all) {
    count_ = all.keys;
    order_.clear();
    for (std::uint32_t id = 0; id < all.weights.size(); ++id) {
      if (all.weights[id] != 0) order_.push_back(id);
    }
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
      return all.weights[a] != all.weights[b] ? all.weights[a] > all.weights[b] : a < b;
    });
    std::vector<std::uint64_t> weights;
    weights.reserve(order_.size());
    for (const std::uint32_t id : order_) weights.push_back(all.weights[id]);
    code_ = choose_classes(weights, spec_.fpr);
    params_.answers = static_cast<std::uint32_t>(order_.size());
    params_.classes = static_cast<std::uint32_t>(code_.bits.size());
  }

  result<void> build_answers(file_key_store& store, std::span<const std::uint64_t> weights) {
    const auto source = store.source();
    if (!source) return fail(source.error());
    // Per id, the class of the answer and its place there.
    struct coded {
      std::uint32_t number;
      std::uint32_t place;
    };
    std::vector<coded> codes(weights.size());
    std::array<std::uint64_t, 64> keys_with{};  // per number of second bits
    std::size_t at = 0;
    for (std::uint32_t number = 0; number < code_.bits.size(); ++number) {
      const std::size_t end = std::min(order_.size(), at + (std::size_t{1} << code_.bits[number]));
      for (std::uint32_t place = 0; at < end; ++at, ++place) {
        codes[order_[at]] = {number, place};
        keys_with.at(code_.bits[number]) += weights[order_[at]];
      }
    }
    const std::uint64_t classes = code_.bits.size();
    const std::uint64_t fingerprints =
        classes == 0 ? 0 : (std::uint64_t{1} << code_.columns) / classes;
    const auto first = changed(*source, count_, [&](file_key key, auto&& keep) {
      const std::uint64_t value =
          file_fingerprint(key.hash(), fingerprints) * classes + codes[key.value()].number;
      keep(file_key(key.hash(), static_cast<std::uint32_t>(value)));
    });
    auto built = build_retrieval({.columns = code_.columns, .threads = threads_}, first);
    if (!built) return fail(std::move(built.error()));
    params_.first = std::move(built->params);
    values_.push_back(std::move(built->payload));
    params_.seconds.clear();
    for (std::uint32_t bits = 1; bits < keys_with.size(); ++bits) {
      if (keys_with.at(bits) == 0) continue;
      const auto second = changed(*source, keys_with.at(bits), [&](file_key key, auto&& keep) {
        const coded& code = codes[key.value()];
        if (code_.bits[code.number] == bits) keep(file_key(key.hash(), code.place));
      });
      auto places = build_retrieval({.columns = bits, .threads = threads_}, second);
      if (!places) return fail(std::move(places.error()));
      params_.seconds.push_back({bits, std::move(places->params)});
      values_.push_back(std::move(places->payload));
    }
    values_.push_back(std::move(built_links_));
    return {};
  }

  /// Writes all sections after each other.
  result<filter_image> finish() {
    const std::uint32_t files = params_.files;
    const auto chain = static_cast<std::uint32_t>(files + lists_.size());
    std::vector<std::uint64_t> flags((order_.size() + file_index_params::group - 1) /
                                     file_index_params::group);
    std::vector<std::uint64_t> offsets;
    bit_writer singles;
    bit_writer lists;
    std::vector<std::uint32_t> list;
    params_.lists = 0;
    params_.chain = file_index_params::no_answer;
    for (std::uint32_t answer = 0; answer < order_.size(); ++answer) {
      const std::uint32_t id = order_[answer];
      const std::uint32_t bit = answer % file_index_params::group;
      std::uint64_t& word = flags[answer / file_index_params::group];
      if (bit == 0) word = std::uint64_t{params_.lists} << 32;
      if (id == chain) params_.chain = answer;
      if (id < files || id == chain) {
        singles.put(id == chain ? 0 : id, params_.file_bits());
        continue;
      }
      word |= std::uint64_t{1} << bit;
      if (params_.lists++ % file_index_params::list_group == 0) offsets.push_back(lists.size());
      const file_list& of = lists_[id - files];
      list.assign(of.begin(), of.end());
      write_list(lists, list, files);
    }
    params_.list_bits = lists.size();
    std::vector<std::uint32_t> name_ends;
    name_ends.reserve(spec_.names.size());
    std::uint32_t end = 0;
    for (const std::string& name : spec_.names) {
      name_ends.push_back(end += static_cast<std::uint32_t>(name.size()));
    }
    const auto sizes = params_.sections();
    std::uint64_t total = 0;
    for (const section_size& size : sizes) total += size.all;
    auto memory = owned_storage::make(total);
    if (!memory) return fail(std::move(memory.error()));
    payload_ = std::move(*memory);
    std::byte* at = payload_.writable_bytes().data();
    std::size_t section = 0;
    const auto append = [&](std::span<const std::byte> bytes) {
      std::ranges::copy(bytes, at);
      at += sizes[section++].all;
    };
    for (owned_storage& values : values_) {
      append(values.bytes());
      values = {};
    }
    append(std::as_bytes(std::span(code_.bits)));
    append(std::as_bytes(std::span(flags)));
    append(singles.bytes().first(bytes_for_bits(singles.size())));
    append(std::as_bytes(std::span(offsets)));
    append(lists.bytes().first(bytes_for_bits(lists.size())));
    append(std::as_bytes(std::span(name_ends)));
    for (const std::string& name : spec_.names) {
      at = std::ranges::copy(std::as_bytes(std::span(name)), at).out;
    }
    return filter_image{{file_index::kind, file_index::kind_version, filter_hasher(spec_.seed).id(),
                         spec_.seed, count_},
                        params_.encode(),
                        {}};
  }

  const file_index_spec& spec_;
  const file_key_source& keys_;
  unsigned threads_;
  std::vector<file_list> lists_;
  file_index_params params_;
  std::uint64_t count_ = 0;
  std::vector<std::uint32_t> order_;  // per answer its id
  class_code code_;
  std::vector<owned_storage> values_;
  owned_storage built_links_;
  owned_storage payload_;
};

}  // namespace
}  // namespace detail

result<file_index> file_index::build(const file_index_spec& spec, const file_key_source& keys) {
  try {
    detail::index_builder builder(spec, keys);
    const auto image = builder.build();
    if (!image) return fail(image.error());
    const filter_header header = image->header;
    auto params = builder.params();
    auto body =
        detail::file_index_body::open(header, std::move(params), std::move(builder).payload());
    if (!body) return fail(std::move(body.error()));
    return file_index(std::make_shared<detail::file_index_body>(std::move(*body)));
  } catch (const std::bad_alloc&) {
    return detail::no_memory(
        "memory ran out while building an index of files; build it on a machine with more");
  }
}

}  // namespace bloomset
