// The ledger's reads and writes. Each of them is atomic; a read followed by a write is not.
#include "ledger.hpp"

#include <chrono>
#include <thread>

namespace demo {
namespace {

/// Simulates the round trip to a database.
void take_a_moment() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

}  // namespace

Ledger::Ledger(const std::vector<Account>& accounts) {
  for (const Account& account : accounts) {
    Sheet& sheet = sheets_[account.id];
    sheet.page.balance = sheet.journal.balance = account.opening;
  }
}

Ledger::Page Ledger::read(const std::string& id) const {
  const Sheet& sheet = sheets_.at(id);
  const std::lock_guard lock(sheet.mutex);
  return sheet.page;
}

Money Ledger::sum(const std::string& id) const {
  const Page page = read(id);
  take_a_moment();
  return page.balance;
}

Money Ledger::add(const std::string& id, Money amount) {
  Page page = read(id);
  take_a_moment();
  page.balance += amount;
  ++page.updates;
  Sheet& sheet = sheets_.at(id);
  const std::lock_guard lock(sheet.mutex);
  sheet.page = page;
  sheet.journal.balance += amount;
  ++sheet.journal.updates;
  return page.balance;
}

bool Ledger::adds_up(const std::string& id) const {
  take_a_moment();
  const Sheet& sheet = sheets_.at(id);
  const std::lock_guard lock(sheet.mutex);
  return sheet.page.balance == sheet.journal.balance;
}

Ledger::Closing Ledger::close() const {
  Closing closing;
  for (const auto& [id, sheet] : sheets_) {
    const std::lock_guard lock(sheet.mutex);
    closing.balances += sheet.page.balance;
    closing.updates += sheet.journal.updates;
    closing.lost += sheet.journal.updates - sheet.page.updates;
  }
  return closing;
}

}  // namespace demo
