// What every part of a simulation shares: time, chance, the agenda, the trace and the verdict.
#pragma once

#include <chrono>
#include <cstdint>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/clock.hpp>

#include "testing/simulator/plan.hpp"
#include "testing/simulator/random.hpp"

namespace latchkey::sim {

using std::chrono::milliseconds;

/// Everything that can be due.
enum class Due : std::uint8_t {
  deliver,  ///< a request reaches the store
  reply,    ///< its answer reaches the client
  timeout,  ///< the client stops waiting for the answer
  push,     ///< a notification reaches the client
  link_up,
  timer,        ///< a coordinator's tick
  alarm,        ///< a caller's tick
  step,         ///< a caller goes on
  cancel,       ///< a caller's stop token is used
  joint,        ///< a caller of several keys goes on
  joint_alarm,  ///< its tick for one of them
  joint_end,    ///< its wait is over
  notice,       ///< by now the client must know that the store ended its hold
};

struct ScheduledEvent {
  Clock::duration at;
  std::uint64_t order;
  Due due;
  std::uint32_t client;
  std::uint32_t index;  ///< packet, key or caller
  std::uint64_t epoch;  ///< void where this is no longer what it was

  friend bool operator<(const ScheduledEvent& left, const ScheduledEvent& right) noexcept {
    return left.at != right.at ? left.at > right.at : left.order > right.order;
  }
};

/// What is due when; what is due at the same time comes in the order in which it was entered.
class Agenda {
 public:
  void enter(Clock::duration at, Due due, std::uint32_t client, std::uint32_t index = 0,
             std::uint64_t epoch = 0) {
    queue_.push({at, ++order_, due, client, index, epoch});
  }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  [[nodiscard]] Clock::duration next_at() const noexcept { return queue_.top().at; }
  ScheduledEvent next() {
    const ScheduledEvent first = queue_.top();
    queue_.pop();
    return first;
  }

 private:
  std::priority_queue<ScheduledEvent> queue_;
  std::uint64_t order_ = 0;
};

/// What happened, as a hash always and as text on request: replays are compared by the hash, and a
/// seed that failed is run again for the text.
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
  [[nodiscard]] bool keeps_text() const noexcept { return keeps_text_; }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3;

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

  std::uint64_t hash_ = 0xcbf29ce484222325;
  bool keeps_text_;
  std::string text_;
};

/// Shared by the store, the network, the clients and the judge of one run.
class World {
 public:
  World(std::uint64_t seed, bool keeps_text)
      : random(seed), plan(Plan::of(random)), trace(keeps_text) {}

  /// The first violation ends the run.
  void fail(std::string what) {
    if (violation.empty()) violation = std::move(what);
  }

  void note(std::uint32_t client, std::string_view what, std::string_view detail = {},
            std::uint64_t id = 0, std::int64_t value = 0) {
    trace.note(now, client, what, detail, id, value);
  }

  void enter(Clock::duration in, Due due, std::uint32_t client, std::uint32_t index = 0,
             std::uint64_t epoch = 0) {
    agenda.enter(now + in, due, client, index, epoch);
  }

  Clock::duration now{};
  Random random;
  Plan plan;
  Agenda agenda;
  Trace trace;
  std::string violation;
  bool calm = false;  ///< the faults have stopped
  Clock::duration calm_since{};
};

}  // namespace latchkey::sim
