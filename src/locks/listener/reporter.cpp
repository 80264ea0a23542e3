// Composing events that no coordinator makes, and handing all of them to the notifier.
// SPDX-License-Identifier: BSL-1.0
#include "locks/listener/reporter.hpp"

#include <algorithm>
#include <iostream>
#include <new>
#include <utility>

#include <latchkey/owner.hpp>

#include "core/mutex.hpp"
#include "core/text/printable.hpp"
#include "locks/event_kinds.hpp"
#include "locks/space/due_times.hpp"

namespace latchkey::inline v1::detail {
namespace {

using Events = CoordinatorSettings::Events;

Events wanted_by(const Listener* listener) {
  if (listener == nullptr) return Events::nobody;
  return listener->wants_everything() ? Events::everything : Events::losses;
}

}  // namespace

Reporter::Reporter(const Options& options, const Backend& backend, DueTimes& due_times)
    : options_(options),
      backend_(backend),
      due_times_(due_times),
      wanted_(wanted_by(options.listener)),
      notifier_(options.listener) {}

void Reporter::post(Event&& event) noexcept {
  if (!notifier_.post(std::move(event))) due_times_.wake();
}

void Reporter::post(std::stop_source&& stop) noexcept {
  if (!notifier_.post(std::move(stop))) due_times_.wake();
}

void Reporter::unlock_failed(const LockError& why) noexcept {
  if (!why.site_.has_event) error(Event::Kind::unlock_error, why.key(), why.type(), why.what());
}

void Reporter::error(Event::Kind kind, std::string_view key, LockType type,
                     std::string_view text) noexcept {
  try {
    if (options_.listener == nullptr) return print_first(kind, text);
    Event event;
    event.kind = kind;
    event.type = type;
    event.key = key;
    event.owner = Owner::this_thread().number();
    event.text = text;
    post(std::move(event));
  } catch (const std::bad_alloc&) {
    count_unreported(1);
  }
}

// An unlock on a thread that does not hold leaves the key locked for ever, and nothing else says
// so.
void Reporter::print_first(Event::Kind kind, std::string_view text) {
  if (kind != Event::Kind::unlock_error || told_.exchange(true)) return;
  std::clog << "latchkey: an unlock failed: " + std::string(text) +
                   "; only Options::listener learns of more of them\n";
}

void Reporter::publish(const Event& event) noexcept {
  try {
    const bool for_people = event.kind == Event::Kind::warning || event.kind == Event::Kind::order;
    if (for_people && options_.listener == nullptr) {
      std::clog << "latchkey: " + printable(event.text) + "\n";
      return;
    }
    post(Event(event));
  } catch (const std::bad_alloc&) {
    count_unreported(1);
  }
}

void Reporter::warn() {
  const std::string warning = backend_.warning();
  if (!warning.empty()) warn(": " + warning);
}

void Reporter::warn(std::string_view text) noexcept {
  try {
    Event event;
    event.kind = Event::Kind::warning;
    event.text = backend_.describe() + std::string(text);
    publish(event);
  } catch (const std::bad_alloc&) {
    count_unreported(1);
  }
}

void Reporter::warning_changed() noexcept {
  try {
    warn();
  } catch (const std::bad_alloc&) {
    count_unreported(1);
  }
}

void Reporter::abandoned(const Notification& notification) noexcept {
  if (wanted_ == Events::nobody) return;
  try {
    Event event;
    event.kind = Event::Kind::abandoned;
    event.key = notification.key;
    if (event.key.starts_with(options_.prefix)) event.key.erase(0, options_.prefix.size());
    event.text = notification.text;
    post(std::move(event));
  } catch (const std::bad_alloc&) {
    count_unreported(1);
  }
}

void Reporter::connections_found() {
  for (const Connection& each : backend_.connections()) connection_found(each);
}

// A server that was allowed to be down has lost no connection: Backend::warning is about it.
void Reporter::connection_found(const Connection& found) {
  if (found.up || options_.startup == Startup::require) {
    return connection_changed(found.up ? Event::Kind::connected : Event::Kind::connection_lost,
                              found.server, found.why);
  }
  if (wanted_ == Events::nobody) return;
  const ScopedLock lock(mutex_);
  down_.push_back({found.server.empty() ? backend_.describe() : found.server, true});
}

void Reporter::link_changed(const Notification& notification) noexcept {
  const bool up = notification.kind == Notification::Kind::link_up;
  try {
    connection_changed(up ? Event::Kind::connection_restored : Event::Kind::connection_lost,
                       notification.server, notification.text);
  } catch (const std::bad_alloc&) {
    return;  // no memory is left for the event; the holds are checked all the same
  }
}

void Reporter::connection_changed(Event::Kind kind, std::string_view server,
                                  std::string_view text) {
  if (wanted_ == Events::nobody) return;
  Event event;
  event.kind = kind;
  event.text = text;
  event.backend = backend_.describe();
  event.server = server.empty() ? event.backend : std::string(server);
  const ScopedLock lock(mutex_);
  if (!note_change(event)) return;
  if (wanted_ == Events::everything || !is_routine(event.kind)) post(std::move(event));
}

// A connection that is restored without having been lost has only missed notifications.
bool Reporter::note_change(Event& event) {
  const auto known = std::ranges::find(down_, event.server, &Down::server);
  const bool was_down = known != down_.end();
  const bool never_up = was_down && known->never_up;
  if (!never_up && was_down == (event.kind != Event::Kind::connection_restored)) return false;
  if (was_down) down_.erase(known);
  if (event.kind == Event::Kind::connection_lost) {
    down_.push_back({event.server, false});
  } else if (never_up) {
    if (!event.text.empty()) return false;  // the server is no longer needed
    event.kind = Event::Kind::connected;
  }
  return true;
}

void Reporter::lock_for_fork() noexcept {
  mutex_.lock();
  notifier_.lock_for_fork();
}

void Reporter::unlock_after_fork() noexcept {
  notifier_.unlock_after_fork();
  mutex_.unlock();
}

void Reporter::forget_parent() noexcept {
  notifier_.forget_parent();
  down_.clear();
  mutex_.unlock();
}

}  // namespace latchkey::inline v1::detail
