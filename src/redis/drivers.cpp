// Which of the driving threads reads for all of them.
#include "redis/drivers.hpp"

#include <utility>

namespace latchkey::detail::redis {

void Drivers::enter(Driver& driver, std::uint64_t answered) noexcept {
  driver.next = first_;
  if (first_ != nullptr) first_->previous = &driver;
  first_ = &driver;
  if (driver.is_eager(answered)) ++comings_;
  driver.seen_comings = comings_;
}

bool Drivers::takes_role(Driver& driver, std::uint64_t answered) noexcept {
  const bool fresh = std::exchange(driver.fresh, false);
  const bool quiet = std::exchange(driver.seen_comings, comings_) == comings_;
  const bool comes_for_it = fresh || (looks(driver) && quiet);
  if (reader_ == nullptr) {
    // It lies there: for whoever comes, and for the standby once nobody has come for a while.
    if (comes_for_it) reader_ = &driver;
  } else if (has_yielded(*reader_)) {
    // Who yields may have to wait for the processor; one that nobody else wants comes back soon.
    if (comes_for_it && !(fresh && reader_->alone)) reader_ = &driver;
  } else if (reader_ != &driver && fresh && !reader_->running && !reader_->is_eager(answered)) {
    reader_ = &driver;
  }
  driver.running = reader_ == &driver;
  if (driver.running) {
    called_ = false;
    if (standby_ == &driver) standby_ = nullptr;
  } else if (standby_ == nullptr) {
    standby_ = &driver;
    driver.looks = true;
  } else if (standby_ == &driver && quiet) {
    driver.looks = false;
  }
  return driver.running;
}

void Drivers::begins_to_spin(Driver& driver) noexcept {
  driver.spins = driver.has_spun = true;
  driver.running = false;
  driver.sleeper.stay_awake(true);
  ++spinning_;
}

bool Drivers::takes_turn(Driver& driver) noexcept {
  if (reader_ == nullptr || (has_yielded(*reader_) && !reader_->alone)) {
    reader_ = &driver;
    if (standby_ == &driver) standby_ = nullptr;
  }
  driver.running = reader_ == &driver;
  if (driver.running && std::exchange(called_, false)) static_cast<void>(driver.sleeper.call());
  return driver.running;
}

// The last one that spins takes the role along. Others leave it to those who go on, and look after
// them from time to time: they may have to wait for the processor.
void Drivers::stops_spinning(Driver& driver, bool sleeps) noexcept {
  driver.spins = driver.alone = false;
  driver.sleeper.stay_awake(false);
  --spinning_;
  if (!sleeps) return;
  if (!somebody_spins()) return static_cast<void>(takes_turn(driver));
  if (reader_ == &driver) reader_ = nullptr;
  if (!somebody_looks()) {
    standby_ = &driver;
    driver.looks = true;
  }
}

Parker::Wake Drivers::leave(Driver& driver, const Outlook& outlook) noexcept {
  if (driver.previous != nullptr) driver.previous->next = driver.next;
  if (driver.next != nullptr) driver.next->previous = driver.previous;
  if (first_ == &driver) first_ = driver.next;
  if (standby_ == &driver) standby_ = nullptr;
  if (reader_ == &driver) reader_ = nullptr;
  if (driver.spins) stops_spinning(driver, false);  // it was interrupted by an exception
  if (reader_ != nullptr || first_ == nullptr || somebody_spins()) return {};
  if (outlook.comes_back && somebody_looks()) return {};
  Driver* sleeping_in_poll = nullptr;
  for (Driver* each = first_; each != nullptr; each = each->next) {
    if (each->is_eager(outlook.answered)) return pass_to(*each);
    if (each->polls && sleeping_in_poll == nullptr) sleeping_in_poll = each;
  }
  if (sleeping_in_poll != nullptr && sleeping_in_poll->sockets != outlook.sockets) {
    return pass_to(*sleeping_in_poll);
  } else if (sleeping_in_poll != nullptr) {
    reader_ = sleeping_in_poll;  // it wakes when there is something to read
  } else if (outlook.more_to_come || !somebody_looks()) {
    return pass_to(*first_);
  }
  return {};
}

Parker::Wake Drivers::pass_to(Driver& driver) noexcept {
  reader_ = &driver;
  if (standby_ == &driver) standby_ = nullptr;
  return driver.sleeper.call();
}

void Drivers::call_reader() noexcept {
  if (reader_ != nullptr && !reader_->spins) return reader_->sleeper.call().carry_out();
  called_ = somebody_spins();
}

}  // namespace latchkey::detail::redis
