// ${NAME} in a URI.
// SPDX-License-Identifier: BSL-1.0
#include "policy/secrets.hpp"

#include <cctype>
#include <cstddef>
#include <cstdlib>

#include "core/text/nearest.hpp"

namespace latchkey::inline v1::detail {
namespace {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (byte < 0x80 && std::isalnum(byte) != 0) || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += digits[byte >> 4];
      encoded += digits[byte & 15];
    }
  }
  return encoded;
}

bool is_name(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (std::isalnum(byte) == 0 && c != '_')) return false;
  }
  return !text.empty();
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Expanded expand_secrets(std::string_view uri, Place at, const Environment& environment,
                        Problems& problems) {
  Expanded expanded;
  std::string_view rest = uri;
  while (true) {
    const std::size_t begin = rest.find("${");
    expanded.text += rest.substr(0, begin);
    if (begin == std::string_view::npos) return expanded;
    const std::size_t end = rest.find('}', begin);
    if (end == std::string_view::npos) {
      // The text after it is not shown: it may be a password.
      problems.push_back({at, "'${' is never closed: write ${NAME}"});
      return expanded;
    }
    const std::string name(rest.substr(begin + 2, end - begin - 2));
    const bool whole = begin == 0 && end + 1 == uri.size();
    rest.remove_prefix(end + 1);
    if (!is_name(name)) {
      problems.push_back({at,
                          "'${...}' takes the name of an environment variable: letters, digits "
                          "and _ only, as in ${REDIS_PASSWORD}"});
    } else if (const auto value = environment(name); !value || value->empty()) {
      problems.push_back({at, quoted_word("${" + name + "}") + " is not set: export " + name +
                                  " before the program starts"});
    } else {
      const std::string text = whole ? *value : percent_encoded(*value);
      expanded.text += text;
      expanded.secrets.push_back({name, *value});
      if (text != *value) expanded.secrets.push_back({name, text});
    }
  }
}

std::string without_secrets(std::string text, const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    const std::string shown = "${" + secret.name + "}";
    for (std::size_t at = text.find(secret.value); at != std::string::npos;
         at = text.find(secret.value, at + shown.size())) {
      text.replace(at, secret.value.size(), shown);
    }
  }
  return text;
}

}  // namespace latchkey::inline v1::detail
