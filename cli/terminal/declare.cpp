#include "terminal/declare.hpp"

#include <CLI/CLI.hpp>

namespace bloomset::cli {
namespace {

/// Removes the mark of a word, or puts `before_dash` in its place if the word looks like an option.
void remove_mark(CLI::Option& option, const std::string& before_dash) {
  option.transform(CLI::Validator(
      [before_dash](std::string& word) {
        if (!word.starts_with(word_mark)) return std::string();
        const bool is_dashed = word.size() > 1 && (word[1] == '-' || word[1] == '+');
        word.replace(0, 1, is_dashed ? before_dash : "");
        return std::string();
      },
      ""));
}

declared made(CLI::Option& option, const std::string& names) {
  remove_mark(option, names.starts_with('-') ? "" : "./");
  return declared(option);
}

}  // namespace

declared declared::required() const {
  option_->required();
  return *this;
}

declared declared::value(const std::string& name) const {
  option_->type_name(name)->check([](const std::string& text) {
    return std::string(text.empty() ? "its value is empty" : "");
  });
  return *this;
}

declared declared::one_value_per_use() const {
  option_->allow_extra_args(false);
  return *this;
}

declared declared::at_least(int values) const {
  option_->expected(values, CLI::detail::expected_max_vector_size);
  return *this;
}

declared declared::one_of(const std::vector<std::string>& choices) const {
  option_->check(CLI::IsMember(choices).description(""));
  return *this;
}

declared declared::under(const std::string& heading) const {
  option_->group(heading);
  return *this;
}

declared declared::as_text() const {
  remove_mark(*option_, "");  // before the other one
  return *this;
}

declared declared::meaning(const std::string& text) const {
  option_->description(text);
  return *this;
}

declared option(CLI::App& app, const std::string& names, std::string& into,
                const std::string& meaning) {
  return made(*app.add_option(names, into, meaning), names);
}

declared option(CLI::App& app, const std::string& names, std::vector<std::string>& into,
                const std::string& meaning) {
  return made(*app.add_option(names, into, meaning), names);
}

declared flag(CLI::App& app, const std::string& names, bool& into, const std::string& meaning) {
  return declared(*app.add_flag(names, into, meaning));
}

declared find_declared(CLI::App& app, const std::string& name) {
  return declared(*app.get_option(name));
}

}  // namespace bloomset::cli
