#include "scan/known_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/keys/content.hpp>
#include <bloomset/plan/units.hpp>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "filters/filling.hpp"
#include "input/blocks.hpp"
#include "input/input.hpp"
#include "input/stored_reader.hpp"
#include "memory/wiped.hpp"
#include "terminal/output.hpp"
#include "terminal/parse_error.hpp"

namespace bloomset::cli {
namespace {
namespace files {

namespace fs = std::filesystem;

constexpr std::string_view verb = "check";
constexpr std::size_t piece_bytes = std::size_t{256} << 10;

/// The files below some roots, and what was left out.
struct file_list {
  std::vector<std::string> names;
  std::vector<failure> unread;  // folders
  std::uint64_t special = 0;    // links, devices, pipes and sockets
};

void add_tree(const fs::path& path, file_list& to) {
  std::error_code error;
  const auto type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::regular) {
    to.names.push_back(path.string());
    return;
  }
  if (type != fs::file_type::directory) {
    if (error) {
      to.unread.push_back(
          fail(errc::io, fmt::format("{}: cannot examine it: {}", path.string(), error.message())));
    } else {
      ++to.special;
    }
    return;
  }
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  if (error) {
    to.unread.push_back(fail(
        errc::io, fmt::format("{}: cannot list the folder: {}", path.string(), error.message())));
  }
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) add_tree(entry, to);
}

result<file_list> list_files(const std::vector<std::string>& roots) {
  file_list made;
  for (const std::string& root : roots) {
    std::error_code error;
    // The root itself may be a link.
    if (!fs::exists(root, error)) {
      if (error) {
        return fail(errc::io,
                    fmt::format("--files {}: cannot examine it: {}", root, error.message()));
      }
      return fail(errc::not_found,
                  fmt::format("--files {}: there is no such file or folder", root));
    }
    if (fs::is_directory(root, error)) {
      add_tree(fs::path(root) / "", made);
    } else if (fs::is_regular_file(root, error)) {
      made.names.push_back(root);
    } else {
      add_tree(root, made);
    }
  }
  return made;
}

/// The digest that a filter's labels name: its reader, or the size of its keys if they were read
/// from digits.
std::string digest_of_labels(const labelled_filter& filter) {
  if (filter.labels == nullptr) return {};
  const std::string_view reader = filter.labels->find(reader_label).value_or("");
  if (keys::content_digest::make(reader)) return std::string(reader);
  const std::string_view size = filter.labels->find(key_bytes_label).value_or("");
  return size == "16" ? "md5" : size == "20" ? "sha1" : size == "32" ? "sha256" : "";
}

result<std::string> choose_digest(const query& asked, const std::string& given) {
  if (!given.empty()) return given;
  std::string chosen;
  for (const labelled_filter& filter : asked.labels()) {
    const std::string digest = digest_of_labels(filter);
    if (digest.empty()) {
      return fail(errc::invalid_argument,
                  fmt::format("{}: the filter does not name the digest of its keys; give --keys "
                              "md5, sha1 or sha256, or for keys that are text sha1:upper, as "
                              "hashlookup has them, or sha1:lower",
                              filter.name));
    }
    if (!chosen.empty() && chosen != digest) {
      return fail(errc::invalid_argument,
                  fmt::format("the filters have keys of {} and of {}; query one after the other",
                              chosen, digest));
    }
    chosen = digest;
  }
  return chosen;
}

/// Whether labels say in which form a filter has its digests.
bool names_form(const labelled_filter& filter) {
  return filter.labels != nullptr && !digest_of_labels(filter).empty();
}

/// Fails if no key of the digest's size can be in a filter.
result<void> check_size(const query& asked, std::string_view digest, std::string_view key) {
  for (const labelled_filter& filter : asked.labels()) {
    if (filter.labels == nullptr) continue;
    const auto size = filter.labels->find(key_bytes_label);
    if (!size || *size == fmt::format("{}", key.size())) continue;
    return fail(errc::invalid_argument,
                fmt::format("{}: each key in the filter has {} bytes, and a key by --keys {} has "
                            "{}; give the digest that the filter was built from",
                            filter.name, *size, digest, key.size()));
  }
  const auto accepts = asked.key_check();
  return accepts ? accepts(key) : result<void>();
}

/// The bytes that lower-case hexadecimal digits give.
std::string bytes_of(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  }
  return bytes;
}

/// A digest in the forms that filters have it in, each with its reader. A filter whose labels do
/// not name the form may have been built with another one than the user states, and then knows no
/// file.
class digest_forms {
 public:
  explicit digest_forms(std::string_view reader)
      : name_(reader.substr(0, reader.find(':'))), stated_(reader) {}

  static constexpr std::size_t count = 3;
  std::string reader(std::size_t form) const {
    constexpr std::array<std::string_view, count> arguments = {"", ":upper", ":lower"};
    return name_ + std::string(arguments[form]);
  }
  bool is_stated(std::size_t form) const { return reader(form) == stated_; }
  static std::string key(std::string_view digits, std::size_t form) {
    constexpr std::size_t as_bytes = 0;
    constexpr std::size_t in_upper_case = 1;
    std::string text(digits);
    for (char& c : text) {
      const bool is_letter = form == in_upper_case ? c >= 'a' && c <= 'f' : c >= 'A' && c <= 'F';
      if (is_letter) c = static_cast<char>(c ^ 0x20);
    }
    return form == as_bytes ? bytes_of(text) : text;
  }

 private:
  std::string name_;
  std::string stated_;
};
using form_counts = std::array<std::uint64_t, digest_forms::count>;

/// The answer for one file.
struct outcome {
  bool ready = false;
  bool selected = false;
  std::string text;  // to print, or the sentence of a failure
  bool failed = false;
};

std::string json_text(std::string_view text) {
  return safe_json(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// The work of one thread.
class worker {
 public:
  worker(const query& asked, const file_check& options,
         std::unique_ptr<keys::content_digest> digest, std::string_view digest_name,
         const digest_forms* forms)
      : asked_(asked),
        options_(options),
        digest_(std::move(digest)),
        digest_name_(digest_name),
        forms_(forms),
        said_(asked.filters()),
        said_of_form_(asked.filters()),
        piece_(piece_bytes) {}

  outcome check(const std::string& name) {
    outcome made;
    made.ready = true;
    const auto size = read(name);
    if (!size) {
      made.failed = true;
      made.text = size.error().message;
      return made;
    }
    const std::string_view line = name;
    const key_batch batch{.lines = {&line, 1}, .keys = keys_.all(), .ends = {}};
    const auto selected = asked_.ask(batch, said_);
    if (!selected) {
      made.failed = true;
      made.text = selected.error().message;
      return made;
    }
    made.selected = *selected != 0;
    if (forms_ != nullptr) count_forms(name);
    if (!made.selected || options_.count || options_.quiet) return made;
    if (options_.json) {
      made.text =
          fmt::format(R"({{"file":{},"size":{},"digest":{},"key":{},"maybe":{},"filters":[{}]}})"
                      "\n",
                      json_text(name), *size, json_text(digest_name_),
                      json_text(digest_->shown(keys_.all().front())),
                      asked_.selects() == selection::members       ? "true"
                      : asked_.selects() == selection::non_members ? "false"
                                                                   : "null",
                      names(json_text));
    } else {
      made.text = asked_.filters() > 1 && asked_.selects() == selection::members
                      ? names([](std::string_view filter) { return one_line(filter); }) + "\t"
                      : std::string();
      made.text += name + "\n";
    }
    return made;
  }

  /// Per form of the digest, the files that are known by it and not by the stated one.
  const form_counts& known_by() const noexcept { return known_by_; }

 private:
  void count_forms(std::string_view line) {
    const auto is_known = [](const answers& said) {
      return std::ranges::any_of(said.lines, [](const bool* known) { return known[0]; });
    };
    if (is_known(said_)) return;
    const std::string digits = digest_->shown(keys_.all().front());
    for (std::size_t form = 0; form < digest_forms::count; ++form) {
      if (forms_->is_stated(form)) continue;
      const std::string key = digest_forms::key(digits, form);
      const std::string_view view = key;
      const key_batch batch{.lines = {&line, 1}, .keys = {&view, 1}, .ends = {}};
      if (asked_.ask(batch, said_of_form_) && is_known(said_of_form_)) ++known_by_[form];
    }
  }

  /// Digests a file, and returns its size.
  result<std::uint64_t> read(const std::string& name) {
    keys_.clear();
    const auto source = open_file(name);
    if (!source) return fail(source.error());
    std::uint64_t size = 0;
    for (;;) {
      const auto got = (*source)->read(piece_);
      if (!got) {
        keys::key_list unused;
        (void)digest_->finish(unused);
        return fail(got.error().code, fmt::format("{}: {}", name, got.error().message));
      }
      if (*got == 0) break;
      digest_->add(std::span(piece_).first(*got));
      size += *got;
    }
    if (auto ok = digest_->finish(keys_); !ok) return fail(std::move(ok.error()));
    return size;
  }

  /// The filters that may have the key.
  template <class NameOf>
  std::string names(NameOf&& name_of) const {
    std::string text;
    for (std::size_t f = 0; f < asked_.filters(); ++f) {
      if (!said_.lines[f][0]) continue;
      if (!text.empty()) text += ',';
      text += name_of(asked_.name(f));
    }
    return text;
  }

  const query& asked_;
  const file_check& options_;
  std::unique_ptr<keys::content_digest> digest_;
  std::string_view digest_name_;
  const digest_forms* forms_;  // null: the filters name their form
  form_counts known_by_{};
  answers said_;
  answers said_of_form_;
  std::vector<char> piece_;
  keys::key_list keys_;
};

/// Collects the outcomes of all threads, and prints them in the order of the files.
class printer {
 public:
  printer(std::size_t files, bool stops) : outcomes_(files), stops_(stops) {}

  /// Whether to go on.
  bool take(std::size_t file, outcome made) {
    const std::lock_guard lock(mutex_);
    outcomes_[file] = std::move(made);
    for (; next_ < outcomes_.size() && outcomes_[next_].ready; ++next_) {
      if (stops_ && selected_ != 0) break;  // so that the status does not depend on the threads
      outcome& now = outcomes_[next_];
      selected_ += now.selected;
      failed_ += now.failed;
      if (now.failed) {
        say(verb, now.text);
      } else {
        out_.append(now.text);
      }
      now.text = std::string();
      if (auto ok = out_.check(); !ok) broken_ = std::move(ok.error());
    }
    return !broken_ && !(stops_ && selected_ != 0);
  }

  std::uint64_t selected() const noexcept { return selected_; }
  std::uint64_t failed() const noexcept { return failed_; }
  output& out() noexcept { return out_; }
  const std::optional<failure>& broken() const noexcept { return broken_; }

 private:
  std::mutex mutex_;
  std::vector<outcome> outcomes_;
  bool stops_;
  std::size_t next_ = 0;
  std::uint64_t selected_ = 0;
  std::uint64_t failed_ = 0;
  output out_;
  std::optional<failure> broken_;
};

std::uint64_t known_files(const query& asked, const file_list& list, const printer& printed) {
  return asked.selects() == selection::members
             ? printed.selected()
             : list.names.size() - printed.failed() - printed.selected();
}

void report(const query& asked, const file_list& list, const printer& printed) {
  const std::uint64_t read = list.names.size() - printed.failed();
  const std::uint64_t selected = printed.selected();
  std::string text = format_count(read, "file");
  if (asked.selects() == selection::unknown) {
    text += fmt::format(", {} without an answer", format_count(selected));
  } else {
    const std::uint64_t known = known_files(asked, list, printed);
    text += fmt::format(": {} known, {} unknown", format_count(known), format_count(read - known));
  }
  if (list.special != 0) {
    text += list.special == 1 ? "; 1 link, device or pipe was left out"
                              : fmt::format("; {} links, devices or pipes were left out",
                                            format_count(list.special));
  }
  note(text);
}

/// Warns if more files are known by another form of the digest than by the stated one. False
/// positives alone are as many for each form.
void report_forms(const digest_forms& forms, const std::vector<worker>& workers,
                  std::uint64_t files, std::uint64_t known) {
  form_counts total{};
  for (const worker& one : workers) {
    for (std::size_t form = 0; form < total.size(); ++form) total[form] += one.known_by()[form];
  }
  constexpr std::uint64_t one_in = 50;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(total) - total.begin());
  if (total[most] <= 2 * known + files / one_in) return;
  say(verb, fmt::format("warning: {} known by this form of the digest, but {} by --keys {}",
                        known == 0 ? "no file is" : format_count(known, "file") + " may be",
                        format_count(total[most]), forms.reader(most)));
}

}  // namespace files
}  // namespace

result<status> check_files(const query& asked, const file_check& options) {
  using namespace files;
  const auto digest = choose_digest(asked, options.digest);
  if (!digest) return fail(digest.error());
  const digest_forms forms(*digest);
  const bool compares = !options.digest.empty() && !options.quiet && !asked.is_remote() &&
                        asked.selects() != selection::unknown && !asked.key_check() &&
                        std::ranges::none_of(asked.labels(), names_form);
  std::vector<worker> workers;
  const unsigned thread_count = asked.is_remote() ? 1 : threads_for_blocks(0);
  for (unsigned i = 0; i < thread_count; ++i) {
    auto made = keys::content_digest::make(*digest);
    if (!made) return fail(made.error().code, "--keys: " + made.error().message);
    if (i == 0) {
      keys::key_list keys;
      if (auto ok = (*made)->finish(keys); !ok) return fail(std::move(ok.error()));
      if (auto ok = check_size(asked, *digest, keys.all().front()); !ok) return fail(ok.error());
    }
    workers.emplace_back(asked, options, std::move(*made), *digest, compares ? &forms : nullptr);
  }
  const auto list = list_files(options.roots);
  if (!list) return fail(list.error());
  for (const failure& why : list->unread) say(verb, why.message);

  printer printed(list->names.size(), options.quiet);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  const auto work = [&](worker& one) {
    for (std::size_t file = next++; file < list->names.size() && !stopped; file = next++) {
      if (!printed.take(file, one.check(list->names[file]))) stopped = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers.size(); ++i) {
      threads.emplace_back([&work, &workers, i] {
        work(workers[i]);
        wipe_stack();
      });
    }
    work(workers.front());
  }
  if (printed.broken()) return fail(*printed.broken());
  if (options.count && !options.quiet)
    printed.out().append(fmt::format("{}\n", printed.selected()));
  if (auto ok = printed.out().flush(); !ok) return fail(ok.error());
  if (!options.quiet) report(asked, *list, printed);
  if (compares) {
    report_forms(forms, workers, list->names.size(), known_files(asked, *list, printed));
  }
  if (printed.failed() != 0 || !list->unread.empty()) return status::error;
  return printed.selected() != 0 ? status::some : status::none;
}

}  // namespace bloomset::cli
