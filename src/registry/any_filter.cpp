#include <bloomset/any_filter.hpp>

#include <algorithm>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "core/format.hpp"
#include "registry/figures.hpp"

namespace bloomset {

double plan_report::fpr_95() const {
  constexpr double deviations = 1.6448536269514722;  // formulas::normal_quantile(0.95)
  return formulas::fpr_at(planned_fpr, scatter, deviations);
}

filter_info any_filter::info() const {
  filter_info info = model().info();
  const kind_info* kind = find_kind(info.kind);
  info.can = kind != nullptr ? kind->can : can();
  info.overfilled = detail::is_overfilled(info);
  info.labels = labels_;
  info.exceptions = exceptions_.size();
  if (layers_ != nullptr) {
    const std::uint64_t keys = layers_->list.keys();
    info.layers = layers_->list.all().size();
    info.layer_keys = keys;
    info.count += keys;
    info.estimated_size += static_cast<double>(keys);
    info.current_fpr = current_fpr();
  }
  return info;
}

void detail::any_model::covers(std::span<const std::string_view> keys,
                               std::span<bool> covered) const noexcept {
  std::fill_n(covered.begin(), keys.size(), true);
}

void detail::stop_at_moved_from() noexcept {
  (void)std::fputs("bloomset: a filter that was moved from may only be destroyed or assigned to\n",
                   stderr);
  std::abort();
}

filter_image any_filter::image() const {
  filter_image image = model().image();
  image.header.labels = labels_;
  image.header.exceptions = exceptions_;
  image.header.layers = layers();
  return image;
}

result<void> any_filter::unite(const any_filter& other, combining how) {
  if (layers_ != nullptr || other.layers_ != nullptr) return stays();
  auto exceptions =
      how == combining::intersect ? exceptions_of_either(other) : exceptions_of_union(other);
  if (!exceptions) return fail(std::move(exceptions.error()));
  const bool was_empty = size() == 0;
  auto done = [&] {
    switch (how) {
      case combining::merge:
        return model().merge(other.model());
      case combining::merge_absent:
        return model().merge_absent(other.model());
      case combining::intersect:
        break;
    }
    return model().intersect(other.model());
  }();
  if (!done) return done;
  exceptions_ = std::move(*exceptions);
  if (other.size() == 0) return done;
  if (was_empty) {
    labels_ = other.labels_;
  } else {
    labels_.keep_common(other.labels_);
  }
  return done;
}

result<any_filter> any_filter::completed(result<any_filter> made) const {
  if (!made) return made;
  made->labels_ = labels_;
  made->exceptions_ = exceptions_;
  made->layers_ = layers_;
  return made;
}

namespace {

// A fold of the smaller filter by more than this leaves hardly any room.
constexpr std::uint64_t max_fold = 16;

}  // namespace

result<void> merge_folded(any_filter& into, const any_filter& other, double max_fpr) {
  auto merged = into.merge(other);
  if (merged || !into.can().merge || !into.can().fold || !other.can().fold) return merged;
  const filter_info ours = into.info();
  const filter_info theirs = other.info();
  if (ours.kind != theirs.kind || ours.hash != theirs.hash || ours.plan.bits == theirs.plan.bits) {
    return merged;
  }
  const std::uint64_t common = std::gcd(ours.plan.bits, theirs.plan.bits);
  auto both = into.fold(ours.plan.bits / common);
  if (!both) return fail(std::move(both.error()));
  const auto folded = other.fold(theirs.plan.bits / common);
  if (!folded) return fail(folded.error());
  if (auto ok = both->merge(*folded); !ok) return ok;
  // An empty filter adds nothing, so the other keeps its size. Of two, the larger does.
  if (theirs.fill == 0 && (ours.fill != 0 || ours.plan.bits > theirs.plan.bits)) return {};
  if (ours.fill == 0) {
    auto whole = other.fold(1);  // in its own memory
    if (!whole) return fail(std::move(whole.error()));
    into = std::move(*whole);
    return {};
  }
  const double rate = both->current_fpr();
  const double allowed =
      max_fpr != 0 ? max_fpr : std::max(ours.plan.planned_fpr, theirs.plan.planned_fpr);
  const auto refuse = [&](const std::string& why) {
    return detail::format_failure(
        errc::incompatible,
        "the filters have {} and {} bits; folded to {} bits, the largest size that divides both, "
        "the union would have {}; make filters that are to be merged with the same capacity, or "
        "with sizes that divide each other",
        ours.plan.bits, theirs.plan.bits, common, why);
  };
  if (rate > allowed) {
    return refuse(detail::format_text("a rate of {}, above the planned {}", format_rate(rate),
                                      format_rate(allowed)));
  }
  // Nearly empty filters would leave one without room for further keys.
  if (max_fpr == 0 && common < std::min(ours.plan.bits, theirs.plan.bits) / max_fold) {
    return refuse(detail::format_text("room for only {} keys", both->capacity()));
  }
  into = std::move(*both);
  return {};
}

result<void> save(const any_filter& filter, const std::filesystem::path& path, if_exists policy) {
  return write_file(filter.image(), path, policy);
}

result<any_filter> open(const std::filesystem::path& path, verification how,
                        const std::optional<hash_key>& key) {
  auto stored = map_file(path, how);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, key, path.string()); !ok) return fail(std::move(ok.error()));
  return open_any(*stored, access::read_only, path.string());
}

result<any_filter> load(const std::filesystem::path& path, const std::optional<hash_key>& key) {
  auto stored = map_file(path, verification::always);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, key, path.string()); !ok) return fail(std::move(ok.error()));
  return open_any(*stored, access::writable, path.string());
}

stored_filter with_changes(stored_filter stored, const any_filter& filter) {
  stored.header.exceptions = filter.exceptions();
  stored.header.labels = filter.labels();
  return stored;
}

result<any_filter> open_any(const stored_filter& stored, access how, const std::string& name) {
  const kind_info* kind = find_kind(stored.header.kind);
  if (stored.header.kind == filter_kind::file_index) {
    return detail::format_failure(
        errc::unsupported,
        "{}: this is an index of files, not a filter; query it with 'bloomset which'", name);
  }
  if (kind == nullptr) {
    return detail::format_failure(
        errc::unsupported,
        "{}: the file holds a filter of kind {}, which is not known here; use a newer bloomset",
        name, static_cast<unsigned>(stored.header.kind));
  }
  // The kinds open filters without exceptions and layers, because their types do not apply them.
  const auto open_plain = [&] {
    stored_filter plain = stored;
    plain.header.exceptions = {};
    plain.header.layers = {};
    return kind->open(plain, how);
  };
  const bool is_plain = stored.header.exceptions.empty() && stored.header.layers.empty();
  auto opened = is_plain ? kind->open(stored, how) : open_plain();
  if (!opened) {
    opened.error().message = detail::format_text("{}: {}", name, opened.error().message);
    return opened;
  }
  opened->labels() = stored.header.labels;
  opened->exceptions_ = stored.header.exceptions;
  if (!stored.header.layers.empty()) {
    opened->layers_ = std::make_shared<const any_filter::layered_keys>(
        any_filter::layered_keys{stored.header.layers, filter_hasher(stored.header.seed)});
  }
  return opened;
}

result<filter_info> info_of(stored_filter stored, const std::string& name) {
  // No key is hashed, so that any seed does. The identifier is shown as the seed.
  stored.header.seed = stored.header.seed.value();
  const auto filter = open_any(stored, access::read_only, name);
  if (!filter) return fail(filter.error());
  filter_info info = filter->info();
  info.hash = stored.header.hash;
  return info;
}

}  // namespace bloomset
