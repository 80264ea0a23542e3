// Reads the accounts. Each error in the file is one sentence that names the file and the line.
#include "accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "screen.hpp"

namespace demo {
namespace {

constexpr Money most_money = 10'000'000'00;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 12 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

/// Digits, then optionally a point and two more digits; nothing else is an opening balance.
std::optional<Money> money_of(std::string_view text) {
  const auto point = text.find('.');
  std::string digits(text.substr(0, point));
  const std::string_view cents = point == std::string_view::npos ? "00" : text.substr(point + 1);
  if (digits.empty() || cents.size() != 2) return std::nullopt;
  digits += cents;
  Money money = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), money);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || digits.front() == '-' || money > most_money) return std::nullopt;
  return money;
}

Account account_of(std::string_view line) {
  const auto fields = fields_of(line);
  if (fields.size() != 3) {
    throw BadAccounts(fmt::format("a line is id,holder,opening balance; this one has {} field{}",
                                  fields.size(), fields.size() == 1 ? "" : "s"));
  }
  if (!is_id(fields[0])) {
    throw BadAccounts(
        fmt::format("'{}' is no id: letters, digits, '-', at most 12 of them", fields[0]));
  }
  if (fields[1].empty()) throw BadAccounts("the holder is missing");
  const auto opening = money_of(fields[2]);
  if (!opening) {
    throw BadAccounts(fmt::format("'{}' is no opening balance such as 1250.00, at most {}",
                                  fields[2], to_text(most_money)));
  }
  return {std::string(fields[0]), std::string(fields[1]), *opening};
}

}  // namespace

std::vector<Account> read_accounts(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw BadAccounts(path + ": the accounts cannot be read from this file");
  std::vector<Account> accounts;
  std::unordered_set<std::string> ids;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (number == 1 || trimmed(line).empty()) continue;
    try {
      Account account = account_of(line);
      if (!ids.insert(account.id).second) {
        throw BadAccounts(fmt::format("account {} is there already", account.id));
      }
      accounts.push_back(std::move(account));
    } catch (const BadAccounts& mistake) {
      throw BadAccounts(fmt::format("{}:{}: {}", path, number, mistake.what()));
    }
  }
  if (accounts.empty()) throw BadAccounts(path + ": there is no account below the headings");
  return accounts;
}

std::string to_text(Money amount) {
  const auto size = static_cast<std::uint64_t>(amount < 0 ? -amount : amount);
  return fmt::format("{}{}.{:02}", amount < 0 ? "-" : "", with_commas(size / 100), size % 100);
}

}  // namespace demo
