#include "terminal/declare.hpp"

#include <CLI/CLI.hpp>

namespace bloomset::cli {

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

declared declared::meaning(const std::string& text) const {
  option_->description(text);
  return *this;
}

declared option(CLI::App& app, const std::string& names, std::string& into,
                const std::string& meaning) {
  return declared(*app.add_option(names, into, meaning));
}

declared option(CLI::App& app, const std::string& names, std::vector<std::string>& into,
                const std::string& meaning) {
  return declared(*app.add_option(names, into, meaning));
}

declared flag(CLI::App& app, const std::string& names, bool& into, const std::string& meaning) {
  return declared(*app.add_flag(names, into, meaning));
}

declared find_declared(CLI::App& app, const std::string& name) {
  return declared(*app.get_option(name));
}

}  // namespace bloomset::cli
