// `--name value` pairs: the arguments of the runner and the lines that workers read.
#pragma once

#include <charconv>
#include <cstdint>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>

namespace latchkey::bench {

using Words = std::map<std::string, std::string>;

inline Words words_of(std::istream& text) {
  Words words;
  for (std::string name, value; text >> name >> value;) words[name] = value;
  return words;
}

inline std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error("'" + text + "' is not a number");
  }
  return value;
}

}  // namespace latchkey::bench
