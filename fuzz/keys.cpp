// A reader's text, and any bytes as its records: keys, or one short sentence and nothing appended;
// the same when read again. The first byte chooses the reader, or that the first line names it.

#include <bloomset/keys/reader.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace k = bloomset::keys;

constexpr std::size_t longest_sentence = 500;

void require(bool holds, const char* what, std::string_view which) {
  if (holds) return;
  (void)std::fprintf(stderr, "keys: %s: %.*s\n", what, static_cast<int>(which.size()),
                     which.data());
  std::abort();
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = {
      "lines",
      "fields:2,:",
      "hex",
      "sha1",
      "sha256",
      "pwned",
      "pwned:min=10",
      "password",
      "password:ntlm",
      "url",
      "safe-browsing",
      "safe-browsing:32",
      "email",
      "email:lower,no-tags,gmail",
      "json:/a",
      "json:/a~1b/0/",
      "base64",
      "lines:upper",
      "md5:lower",
      "safe-browsing:hosts",
      "safe-browsing:adblock,8",
      "csv:2",
      "csv:a,;",
      "md4",
      "ntlm",
      "ntlm:cp1252",
      "password:ntlm-cp1252",
  };
  return all;
}

void read(k::reader& reader, std::string_view name, std::string_view record) {
  k::key_list keys;
  reader.begin_file(name);
  keys.add("before");
  const auto ok = reader.read(record, keys);
  if (!ok) {
    require(keys.size() == 1, "a failure that appended keys", record);
    require(!ok.error().message.empty() && ok.error().message.size() < longest_sentence,
            "no short sentence", ok.error().message);
  }
  k::key_list again;
  reader.begin_file(name);
  require(reader.read(record, again).has_value() == ok.has_value(), "two answers", record);
  require(again.size() == keys.size() - 1, "two numbers of keys", record);
  for (std::size_t i = 0; i < again.size(); ++i) {
    require(again.all()[i] == keys.all()[i + 1], "two keys", record);
    (void)reader.shown(record, i, again.all()[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto take_line = [&rest] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    return line;
  };
  const std::size_t choice = *data / 2U;
  const std::string text(choice < texts().size() ? std::string_view(texts()[choice]) : take_line());
  const auto reader = k::make_reader(text, *data % 2 != 0 ? k::purpose::insert : k::purpose::ask);
  if (!reader) {
    require(choice >= texts().size(), "refused", text);
    require(reader.error().message.size() > 30 && reader.error().message.size() < longest_sentence,
            "no short sentence", reader.error().message);
    return 0;
  }
  const std::string_view name = take_line();
  while (!rest.empty()) read(**reader, name, take_line());
  return 0;
}
