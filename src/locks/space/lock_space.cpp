// Bringing calls, answers and notifications to the coordinators, and carrying out their actions.
// tidy: long-file because it is the driver of all shards, of which six files have parts already
#include "locks/space/lock_space.hpp"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <utility>

#include "locks/space/administration.hpp"
#include "locks/space/announcement.hpp"
#include "locks/space/live_spaces.hpp"

namespace latchkey::detail {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Options checked(Options options) {
  using namespace std::chrono_literals;
  const auto demand = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  demand(options.watchdog >= 30ms && options.watchdog <= 24h,
         "Options::watchdog is between 30 ms and 1 day");
  demand(options.command_timeout >= 1ms && options.command_timeout <= 1h,
         "Options::command_timeout is between 1 ms and 1 hour");
  demand(options.unavailable_after >= 1ms && options.unavailable_after <= 24h,
         "Options::unavailable_after is between 1 ms and 1 day");
  demand(options.min_replicas >= 0, "Options::min_replicas is not negative");
  demand(options.prefix.size() < 1024, "Options::prefix is shorter than 1 KiB");
  return options;
}

CoordinatorSettings settings_for(const Options& options, const Capabilities& capabilities) {
  using Events = CoordinatorSettings::Events;
  CoordinatorSettings settings;
  settings.watchdog = options.watchdog;
  settings.command_timeout = options.command_timeout;
  settings.unavailable_after = options.unavailable_after;
  settings.pushes = capabilities.pushes;
  settings.in_order = capabilities.in_order;
  if (options.listener != nullptr) {
    settings.events = options.listener->wants_everything() ? Events::everything : Events::losses;
  }
  settings.space = HoldId::new_space();
  if (options.announce) settings.announcement = announcement_of_this_process();
  return settings;
}

}  // namespace

LockSpace::LockSpace(std::unique_ptr<Backend> backend, const Options& options)
    : number_(next_number()),
      options_(checked(options)),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      backend_(std::move(backend)),
      capabilities_(backend_->capabilities()),
      settings_(settings_for(options_, capabilities_)),
      ticks_count_(settings_.events == CoordinatorSettings::Events::everything ||
                   options_.command_timeout < std::chrono::milliseconds(100)),
      notifier_(options_.listener),
      timer_sleeps_until_(Clock::never().time_since_epoch().count()) {
  warn(backend_->warning());
  for (const Connection& each : backend_->connections()) {
    connection_found(each);
  }
  static_cast<void>(Parker::mine());  // which takes part in forks from now on
  settings_.id_step = shard_count;
  std::mt19937_64 seeds(std::random_device{}());
  for (std::size_t index = 0; index < shard_count; ++index) {
    shards_[index].context = CoordinatorContext(settings_, index + 1, seeds());
    shards_[index].context.space = this;
  }
  LiveSpaces::add(*this);
  register_fork_participant(ForkLevel::locks, *this);
}

LockSpace::~LockSpace() {
  unregister_fork_participant(*this);
  LiveSpaces::remove(*this);
  timer_ending_.store(true);
  wake_timer();
  if (timer_.joinable()) timer_.join();
  backend_.reset();  // no request is under way from here on
  drop_left();
  for (Shard& shard : shards_) {
    shard.table.for_each([](Coordinator& each) { each.drop(); });
  }
}

void LockSpace::warn(const std::string& of_backend) {
  if (of_backend.empty()) return;
  Event event;
  event.kind = Event::Kind::warning;
  event.text = describe() + ": " + of_backend;
  tell(event);
}

void LockSpace::report(Event::Kind kind, std::string_view key, LockType type,
                       std::string_view text) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.type = type;
    event.key = key;
    event.owner = Owner::this_thread().number();
    event.text = text;
    post(std::move(event));
  } catch (const std::bad_alloc&) {
    notifier_.drop(1);
  }
}

void LockSpace::request_stop(std::stop_source stop) noexcept { post(std::move(stop)); }

void LockSpace::tell(const Event& event) noexcept {
  try {
    const bool for_people = event.kind == Event::Kind::warning || event.kind == Event::Kind::order;
    if (for_people && options_.listener == nullptr) {
      std::clog << "latchkey: " + event.text + "\n";
      return;
    }
    post(Event(event));
  } catch (const std::bad_alloc&) {
    notifier_.drop(1);
  }
}

void LockSpace::warn_anew() noexcept {
  try {
    warn(backend_->warning());
  } catch (const std::bad_alloc&) {
    // Nothing is left to say it with.
  }
}

// What was allowed to be down has lost nothing: a warning speaks of it.
void LockSpace::connection_found(const Connection& each) {
  if (each.up || options_.startup == Startup::require) {
    return connection_changed(each.up ? Event::Kind::connected : Event::Kind::connection_lost,
                              each.server, each.why);
  }
  if (settings_.events == CoordinatorSettings::Events::nobody) return;
  const std::lock_guard guard(connections_mutex_);
  connections_down_.push_back({each.server.empty() ? describe() : each.server, true});
}

// A link that is up again without having been down has only missed something.
void LockSpace::connection_changed(Event::Kind kind, std::string_view server,
                                   std::string_view text) {
  if (settings_.events == CoordinatorSettings::Events::nobody) return;
  Event event;
  event.kind = kind;
  event.text = text;
  event.backend = describe();
  event.server = server.empty() ? event.backend : std::string(server);
  const std::lock_guard guard(connections_mutex_);
  const auto known = std::ranges::find(connections_down_, event.server, &Down::server);
  const bool was_down = known != connections_down_.end();
  const bool never_up = was_down && known->never_up;
  if (!never_up && was_down == (kind != Event::Kind::connection_restored)) return;
  if (was_down) connections_down_.erase(known);
  if (kind == Event::Kind::connection_lost) {
    connections_down_.push_back({event.server, false});
  } else if (never_up) {
    if (!text.empty()) return;  // it is no longer needed
    event.kind = Event::Kind::connected;
  }
  const bool everything = settings_.events == CoordinatorSettings::Events::everything;
  if (everything || !is_routine(event.kind)) post(std::move(event));
}

// `home` stays where it is: it is not idle while the call is pending, and not looked at afterwards.
void LockSpace::wait_for(Shard& shard, Coordinator& home, Call& call, Clock::time_point wake_at) {
  while (!call.done.load(std::memory_order_acquire)) {
    drive(*call.parker, wake_at);
    if (call.done.load(std::memory_order_acquire)) return;
    ShardLock lock(shard);
    if (call.answer != Answer::pending) return;
    Actions actions;
    EventContext context(clock_, actions);
    context.caller = &call;
    if (context.now() >= call.wake_at) {
      home.tick(context);
      perform(lock, home, context);
      if (call.answer != Answer::pending) return;
    }
    wake_at = call.wake_at = home.alarm_of(call);
  }
}

// What the backend answers at once goes straight back to the coordinator, whose next requests join
// the ones under way.
//
// Where no memory is left for a request nobody can tell what came of it, though nothing was sent:
// so a claim is given up, and a release sent again.
void LockSpace::submit(Coordinator& home, EventContext& context) {
  auto& requests = context.out.submits;
  for (std::size_t index = 0; index < requests.size();) {
    std::size_t unanswered = 0;
    for (; index < requests.size(); ++index) {
      Request& request = *requests[index];
      Outcome outcome;
      if (answer(request, outcome)) {
        home.completed(request, outcome, context);
      } else {
        requests[unanswered++] = &request;
      }
    }
    requests.shorten(unanswered);
    if (unanswered == 0) return;
    try {
      return backend_->submit({requests.data(), unanswered}, *this);
    } catch (const std::bad_alloc&) {
      for (index = 0; index < unanswered; ++index) {
        Outcome outcome;
        outcome.text = "out of memory";  // short enough to need none
        home.completed(*requests[index], outcome, context);
      }
    }
  }
}

bool LockSpace::answer(Request& request, Outcome& outcome) noexcept {
  try {
    return backend_->answer(request, outcome, *this);
  } catch (const std::bad_alloc&) {
    outcome = Outcome{};
    outcome.text = "out of memory";
    return true;
  }
}

void LockSpace::drive(Parker& parker, Clock::time_point until) noexcept {
  constexpr std::chrono::milliseconds moment{1};
  try {
    backend_->drive(parker, until);
  } catch (const std::bad_alloc&) {
    parker.park_until(clock_, std::min(until, later(clock_.now(), moment)));
  }
}

// With the shard's mutex held. The coordinator may be gone afterwards.
void LockSpace::perform(ShardLock& lock, Coordinator& home, EventContext& context) {
  Shard& shard = lock.shard();
  Actions& actions = context.out;
  if (!actions.submits.empty()) submit(home, context);
  for (Call* const call : actions.wakes) wake(*call, lock);
  if (actions.effects != nullptr) {
    for (Event& event : actions.effects->events) post(std::move(event));
    for (std::stop_source& stop : actions.effects->stops) post(std::move(stop));
  }
  if (actions.unreported > 0) notifier_.drop(actions.unreported);
  if (home.idle()) {
    shard.timers.remove(home);
    shard.table.erase(home);
  } else {
    watch(shard, home);
  }
  if (closing_.load(std::memory_order_relaxed)) wake_closers();
}

// The call is its caller's again as soon as `done` is seen: only the parker is used after that, and
// parkers are never destroyed.
void LockSpace::wake(Call& call, ShardLock& lock) {
  Parker* const parker = call.parker;
  call.waking = false;
  if (call.answer != Answer::pending) call.done.store(true, std::memory_order_release);
  if (parker != nullptr && parker != Parker::mine_if_any()) lock.wake_afterwards(*parker);
}

void LockSpace::completed(Request& request, Outcome&& outcome) noexcept {
  if (request.context == nullptr) {
    auto& asked = static_cast<Administration&>(request);
    if (!asked.answer(std::move(outcome))) take_back(asked);
    return;
  }
  Coordinator& home = *static_cast<Coordinator*>(request.context);
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  Actions actions;
  EventContext context(clock_, actions);
  home.completed(request, outcome, context);
  perform(lock, home, context);
}

void LockSpace::notified(const Notification& notification) noexcept {
  if (notification.kind == Notification::Kind::warning) return warn_anew();
  if (notification.kind == Notification::Kind::link_down ||
      notification.kind == Notification::Kind::link_up) {
    const bool up = notification.kind == Notification::Kind::link_up;
    try {
      connection_changed(up ? Event::Kind::connection_restored : Event::Kind::connection_lost,
                         notification.server, notification.text);
    } catch (const std::bad_alloc&) {
      // No memory is left to tell it with; the holds are what matters.
    }
    return for_each_coordinator(
        [&](Coordinator& each, EventContext& context) { each.notified(notification, context); });
  }
  const std::size_t hash = hash_key(notification.key);
  Shard& shard = shard_of(hash);
  ShardLock lock(shard);
  Coordinator* const home = shard.table.find(notification.key, hash);
  if (home == nullptr) return;
  Actions actions;
  EventContext context(clock_, actions);
  home->notified(notification, context);
  perform(lock, *home, context);
}

}  // namespace latchkey::detail
