// Which of the driving threads reads for all of them.
#include "redis/leader_followers.hpp"

#include <utility>

namespace latchkey::detail::redis {

void LeaderFollowers::enter(WaitingThread& driver, std::uint64_t answered) noexcept {
  driver.next = first_;
  if (first_ != nullptr) first_->previous = &driver;
  first_ = &driver;
  if (driver.awaits_reply(answered)) ++arrivals_;
  driver.seen_arrivals = arrivals_;
}

bool LeaderFollowers::takes_leadership(WaitingThread& driver, std::uint64_t answered) noexcept {
  const bool fresh = std::exchange(driver.fresh, false);
  const bool quiet = std::exchange(driver.seen_arrivals, arrivals_) == arrivals_;
  const bool comes_for_it = fresh || (looks(driver) && quiet);
  if (leader_ == nullptr) {
    // It lies there: for whoever comes, and for the standby once nobody has come for a while.
    if (comes_for_it) leader_ = &driver;
  } else if (has_yielded(*leader_)) {
    // Who yields may have to wait for the processor; one that nobody else wants comes back soon.
    if (comes_for_it && !(fresh && leader_->alone)) leader_ = &driver;
  } else if (leader_ != &driver && fresh && !leader_->running && !leader_->awaits_reply(answered)) {
    leader_ = &driver;
  }
  driver.running = leader_ == &driver;
  if (driver.running) {
    called_ = false;
    if (backup_leader_ == &driver) backup_leader_ = nullptr;
  } else if (backup_leader_ == nullptr) {
    backup_leader_ = &driver;
    driver.looks = true;
  } else if (backup_leader_ == &driver && quiet) {
    driver.looks = false;
  }
  return driver.running;
}

void LeaderFollowers::begins_to_spin(WaitingThread& driver) noexcept {
  driver.spins = driver.has_spun = true;
  driver.running = false;
  driver.waiter.stay_awake(true);
  ++spin_;
}

bool LeaderFollowers::takes_turn(WaitingThread& driver) noexcept {
  if (leader_ == nullptr || (has_yielded(*leader_) && !leader_->alone)) {
    leader_ = &driver;
    if (backup_leader_ == &driver) backup_leader_ = nullptr;
  }
  driver.running = leader_ == &driver;
  if (driver.running && std::exchange(called_, false)) static_cast<void>(driver.waiter.call());
  return driver.running;
}

// The last one that spins takes the role along. Others leave it to those who go on, and look after
// them from time to time: they may have to wait for the processor.
void LeaderFollowers::stops_spinning(WaitingThread& driver, bool sleeps) noexcept {
  driver.spins = driver.alone = false;
  driver.waiter.stay_awake(false);
  --spin_;
  if (!sleeps) return;
  if (!somebody_spins()) return static_cast<void>(takes_turn(driver));
  if (leader_ == &driver) leader_ = nullptr;
  if (!somebody_looks()) {
    backup_leader_ = &driver;
    driver.looks = true;
  }
}

Parker::Wake LeaderFollowers::leave(WaitingThread& driver, const Outlook& outlook) noexcept {
  if (driver.previous != nullptr) driver.previous->next = driver.next;
  if (driver.next != nullptr) driver.next->previous = driver.previous;
  if (first_ == &driver) first_ = driver.next;
  if (backup_leader_ == &driver) backup_leader_ = nullptr;
  if (leader_ == &driver) leader_ = nullptr;
  if (driver.spins) stops_spinning(driver, false);  // it was interrupted by an exception
  if (leader_ != nullptr || first_ == nullptr || somebody_spins()) return {};
  if (outlook.comes_back && somebody_looks()) return {};
  WaitingThread* sleeping_in_poll = nullptr;
  for (WaitingThread* each = first_; each != nullptr; each = each->next) {
    if (each->awaits_reply(outlook.answered)) return pass_to(*each);
    if (each->polls && sleeping_in_poll == nullptr) sleeping_in_poll = each;
  }
  if (sleeping_in_poll != nullptr && sleeping_in_poll->sockets != outlook.sockets) {
    return pass_to(*sleeping_in_poll);
  } else if (sleeping_in_poll != nullptr) {
    leader_ = sleeping_in_poll;  // it wakes when there is something to read
  } else if (outlook.more_to_come || !somebody_looks()) {
    return pass_to(*first_);
  }
  return {};
}

Parker::Wake LeaderFollowers::pass_to(WaitingThread& driver) noexcept {
  leader_ = &driver;
  if (backup_leader_ == &driver) backup_leader_ = nullptr;
  return driver.waiter.call();
}

void LeaderFollowers::call_leader() noexcept {
  if (leader_ != nullptr && !leader_->spins) return leader_->waiter.call().carry_out();
  called_ = somebody_spins();
}

}  // namespace latchkey::detail::redis
