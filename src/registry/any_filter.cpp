#include <bloomery/any_filter.hpp>

#include <bloomery/plan/formulas.hpp>
#include <cstdio>
#include <cstdlib>

#include "core/format.hpp"

namespace bloomery {

double plan_report::fpr_95() const {
  constexpr double deviations = 1.6448536269514722;  // formulas::normal_quantile(0.95)
  return formulas::fpr_at(planned_fpr, scatter, deviations);
}

void detail::stop_at_moved_from() noexcept {
  (void)std::fputs("bloomery: a filter that was moved from may only be destroyed or assigned to\n",
                   stderr);
  std::abort();
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

result<filter_info> info_of(stored_filter stored, const std::string& name) {
  // No key is hashed, so that any seed does. The identifier is shown as the seed.
  stored.header.seed = stored.header.seed.value();
  const auto filter = open_any(stored, access::read_only, name);
  if (!filter) return fail(filter.error());
  filter_info info = filter->info();
  info.hash = stored.header.hash;
  return info;
}

}  // namespace bloomery
