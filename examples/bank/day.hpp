// A day at the bank: each clerk works on its own thread, and counts what it did.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "accounts.hpp"

namespace demo {

class Screen;

/// The results of one clerk, or of all clerks together.
struct Tally {
  std::uint64_t deposits = 0, withdrawals = 0, transfers = 0, refused = 0;
  std::uint64_t balances = 0, audits = 0;
  std::uint64_t failed_audits = 0;  ///< the balance differed from the journal
  std::uint64_t gave_up = 0;        ///< the lock was busy for the whole wait
  Money paid_in = 0, paid_out = 0, moved = 0;

  [[nodiscard]] std::uint64_t operations() const {
    return deposits + withdrawals + transfers + refused + balances + audits;
  }
  Tally& operator+=(const Tally& other);
};

/// Serves one customer after another. A few accounts have most of the customers: the n-th account
/// of the file is visited 1/n as often as the first.
class Clerk {
 public:
  Clerk(const std::vector<Account>& accounts, std::uint64_t seed, unsigned number);

  template <class Bank>
  void serve_one(Bank& bank) {
    const Account& account = (*accounts_)[popularity_(random_)];
    const Money amount = amount_(random_);
    const int errand = percent_(random_);
    if (errand < 30) {
      bank.deposit(account, amount);
      ++tally_.deposits;
      tally_.paid_in += amount;
    } else if (errand < 60) {
      const bool paid = bank.withdraw(account, amount);
      ++(paid ? tally_.withdrawals : tally_.refused);
      if (paid) tally_.paid_out += amount;
    } else if (errand < 75) {
      const bool moved = bank.transfer(account, (*accounts_)[popularity_(random_)], amount);
      ++(moved ? tally_.transfers : tally_.refused);
      if (moved) tally_.moved += amount;
    } else if (errand < 95) {
      bank.balance(account);
      ++tally_.balances;
    } else {
      if (!bank.audit(account)) ++tally_.failed_audits;
      ++tally_.audits;
    }
  }

  void gave_up() { ++tally_.gave_up; }
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  const std::vector<Account>* accounts_;
  std::mt19937_64 random_;
  std::discrete_distribution<std::size_t> popularity_;
  std::uniform_int_distribution<Money> amount_{5'00, 500'00};
  std::uniform_int_distribution<int> percent_{0, 99};
  Tally tally_;
};

struct Plan {
  unsigned clerks = 8;
  std::chrono::duration<double> length{4};
  std::uint64_t seed = 1;
};

struct Day {
  Tally tally;
  std::chrono::duration<double> length{};

  [[nodiscard]] double per_second() const {
    return static_cast<double>(tally.operations()) / length.count();
  }
};

/// Lets every clerk call `serve_one` repeatedly until the day is over, and shows the progress. An
/// exception of a clerk ends the day and is rethrown here; a LockTimeout is counted.
Day run_day(const Plan& plan, const std::vector<Account>& accounts, Screen& screen,
            const std::function<void(Clerk&)>& serve_one);

}  // namespace demo
