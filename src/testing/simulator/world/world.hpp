// The state of a simulation that all parts share: time, chance, keys, schedule, trace, verdict.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>

#include "testing/simulator/world/event_queue.hpp"
#include "testing/simulator/world/random.hpp"
#include "testing/simulator/world/scenario.hpp"

namespace latchkey::inline v1::sim {

/// Everything that can be due.
enum class Due : std::uint8_t {
  delivery,           ///< a request reaches the store
  reply,              ///< its outcome reaches the client
  timeout,            ///< the client stops waiting for the outcome
  batch,              ///< a client sends the checks that it has submitted
  push,               ///< a notification reaches the client
  reconnect,          ///< a connection is back
  coordinator_timer,  ///< a coordinator's timer expires
  caller_step,        ///< a caller decides what to do next
  caller_timer,       ///< a caller's call has to look at the time
  caller_cancel,      ///< a caller's stop token is used
  multi_step,         ///< a caller of several keys decides what to do next
  multi_timer,        ///< one of its calls has to look at the time
  multi_deadline,     ///< its current step has to end
  multi_cancel,       ///< its stop token is used
  fault,              ///< a fault of a schedule begins
  loss_check,         ///< by now a client must know that the store dropped its hold
};

struct ScheduledEvent {
  Clock::duration at;
  std::uint64_t order;  ///< EventQueue
  Due due;
  std::uint32_t client;
  std::uint32_t index;  ///< which packet, push, key, caller or fault
  std::uint64_t epoch;  ///< the receiver ignores the event if its epoch has moved on
};

/// The future events of a simulation.
class EventSchedule {
 public:
  void add(Clock::duration at, Due due, std::uint32_t client, std::uint32_t index = 0,
           std::uint64_t epoch = 0) {
    queue_.add({at, 0, due, client, index, epoch});
  }

  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

  ScheduledEvent take_first() { return queue_.take_first(); }

 private:
  EventQueue<ScheduledEvent> queue_;
};

/// A hash of all that happened, and on request also its text. Two runs are equal if their hashes
/// are equal; a seed that fails is run again for the text.
class Trace {
 public:
  explicit Trace(bool keeps_text) noexcept : keeps_text_(keeps_text) {}

  void note(Clock::duration at, std::uint32_t client, std::string_view what,
            std::string_view detail = {}, std::uint64_t id = 0, std::int64_t value = 0) {
    mix(static_cast<std::uint64_t>(at.count()));
    mix((std::uint64_t{client} << 32) + what.size() + detail.size() * 256);
    for (std::string_view text : {what, detail}) {
      for (char letter : text) hash_ = (hash_ ^ static_cast<unsigned char>(letter)) * prime;
    }
    mix(id);
    mix(static_cast<std::uint64_t>(value));
    if (keeps_text_) write(at, client, what, detail, id, value);
  }

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a's

  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * prime;
    hash_ ^= hash_ >> 29;
  }

  void write(Clock::duration at, std::uint32_t client, std::string_view what,
             std::string_view detail, std::uint64_t id, std::int64_t value) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(at).count();
    std::string time = std::to_string(micros);
    if (time.size() < 10) time.insert(0, 10 - time.size(), ' ');
    text_ += time + " us  c" + std::to_string(client) + "  ";
    text_ += what;
    if (!detail.empty()) (text_ += ' ') += detail;
    if (id != 0) text_ += " #" + std::to_string(id);
    if (value != 0) text_ += " " + std::to_string(value);
    text_ += '\n';
  }

  std::uint64_t hash_ = 0xcbf29ce484222325;  // FNV-1a's
  bool keeps_text_;
  std::string text_;
};

using std::chrono::milliseconds;

/// One run's shared state.
class World {
 public:
  World(std::uint64_t seed, bool keeps_text)
      : random(seed),
        limit_choices(~seed),
        token_choices(seed + 0x746f6b656e),
        delay_choices(seed + 0x64656c6368),
        idle_choices(seed + 0x69646c65),
        scenario(Scenario::draw(random)),
        trace(keeps_text),
        limits_holds(limit_choices.percent(20)),
        gives_tokens(token_choices.percent(30)),
        delays_grants(delay_choices.percent(20)) {
    if (idle_choices.percent(20)) scenario.favour_idle_holds(idle_choices);
    for (std::size_t key = 0; key < scenario.keys.size(); ++key) {
      keys.push_back("key" + std::to_string(key));
    }
  }

  /// Ends the run. Only the first violation is kept.
  void fail(std::string what) {
    if (violation.empty()) violation = std::move(what);
  }
  [[nodiscard]] bool passed() const noexcept { return violation.empty(); }

  void note(std::uint32_t client, std::string_view what, std::string_view detail = {},
            std::uint64_t id = 0, std::int64_t value = 0) {
    trace.note(now, client, what, detail, id, value);
  }

  /// An event that is due after `delay`, at once if the delay is negative.
  void schedule_in(Clock::duration delay, Due due, std::uint32_t client, std::uint32_t index = 0,
                   std::uint64_t epoch = 0) {
    schedule.add(now + std::max(delay, Clock::duration{}), due, client, index, epoch);
  }

  [[nodiscard]] std::uint32_t key_index(std::string_view key) const noexcept {
    return static_cast<std::uint32_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
  }

  Clock::duration now{};
  Random random;
  /// Chooses held_at_most, apart from all else: a run without limits is the same as ever.
  Random limit_choices;
  /// Chooses fencing tokens of other types than FENCED, in the same way.
  Random token_choices;
  /// Chooses lock_delay, in the same way.
  Random delay_choices;
  /// Chooses for how long holds are kept idle, and which recalls are lost, in the same way.
  Random idle_choices;
  Scenario scenario;
  std::vector<std::string> keys;  ///< their names
  EventSchedule schedule;
  Trace trace;
  std::string violation;
  bool limits_holds = false;    ///< some calls ask for held_at_most
  bool gives_tokens = false;    ///< some calls of WRITE and FAIR ask for a fencing token
  bool delays_grants = false;   ///< some calls ask for lock_delay
  bool faults_stopped = false;  ///< the run comes to rest
  std::uint64_t processes = 0;  ///< started so far
};

}  // namespace latchkey::inline v1::sim
