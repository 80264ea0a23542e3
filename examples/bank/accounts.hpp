// Accounts, amounts of money, and the file that accounts are read from.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace demo {

/// In cents: money that is counted, not measured.
using Money = std::int64_t;

/// Keys name its members: "account:{account.id}".
struct Account {
  std::string id;
  std::string holder;
  Money opening = 0;
};

/// A file that cannot be used. The message begins with the file name and, if there is one, the
/// line.
class BadAccounts : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads "id,holder,opening balance" after one header line. Throws BadAccounts.
std::vector<Account> read_accounts(const std::string& path);

/// "-1,204.50"
std::string to_text(Money amount);

}  // namespace demo
