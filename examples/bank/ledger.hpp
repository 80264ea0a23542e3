// The ledger: keeps balances, and loses updates if two clerks write at once without a lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "accounts.hpp"

namespace demo {

/// Behaves like a database: one read and one write are safe by themselves, and take some time. An
/// update that another clerk writes between your read and your write is lost, unless you hold a
/// lock.
class Ledger {
 public:
  explicit Ledger(const std::vector<Account>& accounts);

  /// The balance.
  Money sum(const std::string& id) const;

  /// Reads the balance, adds, writes it back; returns the new balance.
  Money add(const std::string& id, Money amount);

  /// Whether the balance equals the journal, which contains every amount ever added.
  bool adds_up(const std::string& id) const;

  /// The totals at the end of the day.
  struct Closing {
    Money balances = 0;         ///< the sum over all accounts
    std::uint64_t updates = 0;  ///< that were written
    std::uint64_t lost = 0;     ///< updates overwritten by a clerk who had not seen them
  };
  Closing close() const;

 private:
  /// Read and written as a whole, so `updates` counts the updates that this balance contains.
  struct Page {
    Money balance = 0;
    std::uint64_t updates = 0;
  };
  struct Sheet {
    mutable std::mutex mutex;  // for one read or one write
    Page page;
    Page journal;  // appended to, never overwritten
  };

  Page read(const std::string& id) const;

  std::unordered_map<std::string, Sheet> sheets_;
};

}  // namespace demo
