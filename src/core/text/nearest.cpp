// The right words that are nearest to a wrong one.
// SPDX-License-Identifier: BSL-1.0
#include "core/text/nearest.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/take.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <latchkey/detail/in_quotes.hpp>

namespace latchkey::inline v1::detail {
namespace {

constexpr std::size_t longest_compared = 64;
constexpr std::size_t most_listed = 12;
constexpr std::size_t most_near = 3;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string listed(std::span<const std::string_view> words, std::size_t most) {
  std::string text = words | ranges::views::take(most) |
                     ranges::views::join(std::string_view(", ")) | ranges::to<std::string>();
  if (words.size() > most) text += ", ...";
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, longest_compared);
  b = b.substr(0, longest_compared);
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_words(std::string_view wrong, std::span<const std::string_view> right) {
  if (right.empty()) return "; there are none";
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view word : right) {
    const std::size_t distance = edit_distance(wrong, word);
    if (distance <= std::max<std::size_t>(2, word.size() / 3)) near.emplace_back(distance, word);
  }
  if (near.empty()) return "; expected one of " + listed(right, most_listed);
  std::sort(near.begin(), near.end());
  const auto words =
      near | ranges::views::values | ranges::views::take(most_near) | ranges::to<std::vector>();
  std::string text = "; did you mean ";
  for (const std::string_view word : words) {
    if (word != words.front()) text += word == words.back() ? " or " : ", ";
    text += in_quotes(word);
  }
  return text + "?";
}

std::string quoted_word(std::string_view word) {
  constexpr std::size_t longest = 60;
  const std::size_t scheme = word.find("://");
  if (scheme != std::string_view::npos) {  // it may contain a password
    return quoted_word(std::string(word.substr(0, std::min(scheme, longest))) + ":...");
  }
  std::string text;
  for (const char c : word.substr(0, longest)) {
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  if (word.size() > longest) text += "...";
  return in_quotes(text);
}

}  // namespace latchkey::inline v1::detail
