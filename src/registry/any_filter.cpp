#include <bloomery/any_filter.hpp>

#include <bloomery/plan/formulas.hpp>

#include "core/format.hpp"
#include "registry/any_model.hpp"

namespace bloomery {

double plan_report::fpr_95() const {
  constexpr double deviations = 1.6448536269514722;  // formulas::normal_quantile(0.95)
  return formulas::fpr_at(planned_fpr, scatter, deviations);
}

any_filter::any_filter(std::unique_ptr<model> m) noexcept : model_(std::move(m)) {}
any_filter::any_filter(any_filter&&) noexcept = default;
any_filter& any_filter::operator=(any_filter&&) noexcept = default;
any_filter::~any_filter() = default;

filter_info any_filter::info() const {
  return model_->info();
}
abilities any_filter::can() const noexcept {
  return model_->can();
}
std::uint64_t any_filter::capacity() const noexcept {
  return model_->capacity();
}
std::uint64_t any_filter::size() const noexcept {
  return model_->size();
}
std::uint64_t any_filter::size_in_bytes() const noexcept {
  return model_->size_in_bytes();
}
std::uint64_t any_filter::next_growth() const noexcept {
  return model_->next_growth();
}
double any_filter::current_fpr() const noexcept {
  return model_->current_fpr();
}

bool any_filter::may_contain(std::string_view key) const noexcept {
  return model_->may_contain(key);
}

void any_filter::may_contain(std::span<const std::string_view> keys,
                             std::span<bool> answers) const noexcept {
  model_->may_contain(keys, answers);
}

result<void> any_filter::may_contain(std::span<const hash64> hashes,
                                     std::span<bool> answers) const {
  return model_->may_contain(hashes, answers);
}

result<insert_summary> any_filter::insert(std::span<const std::string_view> keys) {
  return model_->insert(keys);
}

result<insert_summary> any_filter::insert(std::span<const hash64> hashes, unsigned threads) {
  return model_->insert(hashes, threads);
}

result<insert_summary> any_filter::insert_absent(std::span<const std::string_view> keys,
                                                 std::span<bool> added) {
  return model_->insert_absent(keys, added);
}

result<void> any_filter::erase(std::span<const std::string_view> keys, std::span<bool> erased) {
  return model_->erase(keys, erased);
}

result<void> any_filter::count(std::span<const std::string_view> keys,
                               std::span<std::uint64_t> counts) const {
  return model_->count(keys, counts);
}

result<void> any_filter::merge(const any_filter& other) {
  return model_->merge(*other.model_);
}

result<void> any_filter::merge_absent(const any_filter& other) {
  return model_->merge_absent(*other.model_);
}

result<void> any_filter::intersect(const any_filter& other) {
  return model_->intersect(*other.model_);
}

result<void> any_filter::clear() {
  return model_->clear();
}

filter_image any_filter::image() const {
  return model_->image();
}

void any_filter::relocate(const memory_mover& mover) noexcept {
  model_->relocate(mover);
}

result<any_filter> any_filter::copy() const {
  return model_->copy();
}

result<void> save(const any_filter& filter, const std::filesystem::path& path, if_exists policy) {
  return write_file(filter.image(), path, policy);
}

result<any_filter> open(const std::filesystem::path& path, verification how) {
  const auto stored = map_file(path, how);
  if (!stored) return fail(stored.error());
  return open_any(*stored, access::read_only, path.string());
}

result<any_filter> load(const std::filesystem::path& path) {
  const auto stored = map_file(path, verification::always);
  if (!stored) return fail(stored.error());
  return open_any(*stored, access::writable, path.string());
}

result<any_filter> open_any(const stored_filter& stored, access how, const std::string& name) {
  const kind_info* kind = find_kind(stored.header.kind);
  if (kind == nullptr) {
    return detail::format_failure(
        errc::unsupported,
        "{}: the file holds a filter of kind {}, which is not known here; use a newer bloomery",
        name, static_cast<unsigned>(stored.header.kind));
  }
  auto opened = kind->open(stored, how);
  if (!opened) opened.error().message = detail::format_text("{}: {}", name, opened.error().message);
  return opened;
}

}  // namespace bloomery
