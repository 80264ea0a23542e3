// Notifications that wait for delivery.
// SPDX-License-Identifier: BSL-1.0
#include "memory/inbox.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace latchkey::inline v1::detail {
namespace {

constexpr std::size_t most_spare_notes = 64;
constexpr std::size_t largest_spare_key = 256;

}  // namespace

Inbox::~Inbox() {
  drop_all();
  while (spare_ != nullptr) delete std::exchange(spare_, spare_->next);
}

Inbox::Note* Inbox::spare_or_new() noexcept {
  if (spare_ == nullptr) return new (std::nothrow) Note;
  --spares_;
  return std::exchange(spare_, spare_->next);
}

void Inbox::put(Sink& sink, const Notification& notification) noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t waiting = waiting_.load(std::memory_order_relaxed);
  Note* const note = waiting < most_notes ? spare_or_new() : nullptr;
  bool kept = note != nullptr;
  try {
    if (kept) note->key = notification.key;
  } catch (const std::bad_alloc&) {
    delete note;
    kept = false;
  }
  if (kept) {
    note->kind = notification.kind;
    note->id = notification.id;
    note->place = notification.place;
    note->token = notification.token;
    note->sink = &sink;
    note->next = nullptr;
    *end_ = note;
    end_ = &note->next;
  } else {
    missed_ = &sink;
  }
  waiting_.store(waiting + 1, std::memory_order_relaxed);
  parked_.wake_one();
}

bool Inbox::deliver() noexcept {
  if (!any()) return false;
  Note* first = nullptr;
  Sink* missed = nullptr;
  {
    const std::lock_guard lock(mutex_);
    first = take_all();
    missed = std::exchange(missed_, nullptr);
  }
  for (const Note* note = first; note != nullptr; note = note->next) {
    note->sink->notified({.kind = note->kind,
                          .key = note->key,
                          .id = note->id,
                          .place = note->place,
                          .token = note->token});
  }
  if (missed != nullptr) {
    missed->notified({.kind = Notification::Kind::link_up, .key = {}, .id = {}});
  }
  const bool delivered = first != nullptr || missed != nullptr;
  give_back(first);
  return delivered;
}

Inbox::Note* Inbox::take_all() noexcept {
  Note* const first = std::exchange(first_, nullptr);
  end_ = &first_;
  waiting_.store(0, std::memory_order_relaxed);
  return first;
}

void Inbox::give_back(Note* first) noexcept {
  const std::lock_guard lock(mutex_);
  while (first != nullptr) {
    Note* const note = std::exchange(first, first->next);
    if (spares_ >= most_spare_notes || note->key.capacity() > largest_spare_key) {
      delete note;
    } else {
      note->next = std::exchange(spare_, note);
      ++spares_;
    }
  }
}

void Inbox::add(ParkedThreads::Waiter& driver) noexcept {
  const std::lock_guard lock(mutex_);
  parked_.add(driver);
}

void Inbox::remove(ParkedThreads::Waiter& driver) noexcept {
  const std::lock_guard lock(mutex_);
  parked_.remove(driver);
}

void Inbox::drop_all() noexcept {
  const std::lock_guard lock(mutex_);
  Note* first = take_all();
  while (first != nullptr) delete std::exchange(first, first->next);
  missed_ = nullptr;
  parked_.clear();
}

}  // namespace latchkey::inline v1::detail
