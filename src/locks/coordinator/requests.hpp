// The requests of a coordinator: how far each that is under way has come.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail {

class RemoteHold;

/// A request of a coordinator. `context` is the Coordinator.
struct OwnedRequest : Request {
  RemoteHold* hold = nullptr;  ///< null: the request is about the key
};

/// A subscription to notifications about a key, or about one FAIR waiter.
///
/// | stage         | meaning                  | next stages                                |
/// |---------------|--------------------------|--------------------------------------------|
/// | off           | no subscription          | subscribing                                |
/// | subscribing   | SUBSCRIBE is in flight   | on, off (refused), unsubscribing (unknown) |
/// | on            | notifications arrive     | unsubscribing                              |
/// | unsubscribing | UNSUBSCRIBE is in flight | off                                        |
struct Subscription {
  enum class Stage : std::uint8_t { off, subscribing, on, unsubscribing };
  Stage stage = Stage::off;
  OwnedRequest request{};
  /// When an unsubscribe that was never sent is sent again.
  Clock::time_point retry_at = Clock::never();

  [[nodiscard]] bool in_flight() const noexcept {
    return stage == Stage::subscribing || stage == Stage::unsubscribing;
  }
  /// Nothing is left to be done at the backend.
  [[nodiscard]] bool ended() const noexcept {
    return stage == Stage::off && retry_at == Clock::never();
  }
};

/// The attempts of a claim to acquire, one at a time.
///
/// | state | meaning                                                            | next states |
/// |-------|--------------------------------------------------------------------|-------------|
/// | idle  | none is in flight; a call that waits attempts again at `poll_at`   | sent        |
/// | sent  | one is in flight                                                   | again, idle |
/// | again | one is in flight; a busy reply is followed by another at once,     | idle        |
/// |       | because the key may have been freed since it was sent              |             |
struct AcquireProgress {
  enum class State : std::uint8_t { idle, sent, again };

  /// How much the attempts may have left at the backend, from least to most.
  enum class Trace : std::uint8_t {
    none,        ///< no attempt has run
    ran,         ///< one was answered: it may have a place in a queue of the backend
    refused,     ///< one was refused, perhaps after it had written
    unanswered,  ///< one was never answered: a copy of it may still run
  };

  OwnedRequest request{};
  State state = State::idle;
  Trace trace = Trace::none;
  Clock::time_point poll_at = Clock::never();
  std::chrono::milliseconds poll_pause{};

  [[nodiscard]] bool in_flight() const noexcept { return state != State::idle; }
  void start() noexcept {
    state = State::sent;
    poll_at = Clock::never();
  }
  /// In flight: another attempt follows a busy reply.
  void want_another() noexcept { state = State::again; }
  /// Returns whether another attempt is wanted.
  [[nodiscard]] bool end() noexcept { return std::exchange(state, State::idle) == State::again; }
  void note(Trace at_least) noexcept { trace = std::max(trace, at_least); }
  /// Notes the attempt that has this `reply`, unless it never ran.
  void note(const Outcome& reply) noexcept;
};

/// The place of a claim in a queue of the backend.
struct PlaceInLine {
  /// By the last reply; 0: it has none.
  std::uint64_t number = 0;
  /// When the last attempt was sent that was answered with a place: no grant is older.
  Clock::time_point sent_at{};
  std::uint64_t yielded = 0;         ///< the place in which it lets others go first
  Clock::time_point yields_until{};  ///< until when it lets them
  /// When the replies began to say that it is near the front; never: the last did not.
  Clock::time_point near_front_since = Clock::never();
  bool behind_foreign = false;  ///< a client of another library had the key at the last attempt

  /// Notes a busy reply to the attempt that was sent at `sent`.
  void note(const Outcome& busy, Clock::time_point sent, Clock::time_point now) noexcept;
};

/// The checks of a hold, one at a time: renew, verify, downgrade and expire.
///
/// | state | meaning                                                            | next states |
/// |-------|--------------------------------------------------------------------|-------------|
/// | idle  | none is in flight; the next is due at `due_at`                     | sent        |
/// | sent  | one is in flight, by `request.verb`. A renewal or a downgrade that | idle        |
/// |       | is wanted meanwhile, and a check after a change of the key, are    |             |
/// |       | sent after its reply                                               |             |
struct CheckProgress {
  enum class State : std::uint8_t { idle, sent };

  /// Whether the backend tells of changes of the key.
  ///
  /// | state   | meaning                                                    | next states  |
  /// |---------|------------------------------------------------------------|--------------|
  /// | off     | no check has asked for that, or the last one followed a    | on           |
  /// |         | change                                                     |              |
  /// | on      | the last check has asked for it                            | changed, off |
  /// | changed | it told of a change; the check that finds out what became  | off          |
  /// |         | of the hold does not ask, so there is at most one such     |              |
  /// |         | check between two of the usual ones                        |              |
  enum class Watch : std::uint8_t { off, on, changed };

  OwnedRequest request{};
  State state = State::idle;
  Watch watch = Watch::off;
  Clock::time_point was_due{};  ///< when the last check that was sent was due
  Clock::time_point due_at = Clock::never();
  std::chrono::milliseconds wanted{};  ///< the renewal to send next asks for this; 0: none

  [[nodiscard]] bool in_flight() const noexcept { return state == State::sent; }
  void start() noexcept { state = State::sent; }
  void end() noexcept { state = State::idle; }
  [[nodiscard]] bool in_flight(Verb verb) const noexcept {
    return in_flight() && request.verb == verb;
  }
  /// The part of the request's lease in which the holder believes.
  [[nodiscard]] std::chrono::milliseconds lease_of_holder() const noexcept {
    return request.lease - request.lock_delay;
  }
  void want(std::chrono::milliseconds lease) noexcept { wanted = std::max(wanted, lease); }
};

/// The release, which is repeated until it is confirmed.
///
/// | state | meaning                                                            | next states |
/// |-------|--------------------------------------------------------------------|-------------|
/// | idle  | none is in flight; the next is sent at `repeat_at`                 | sent        |
/// | sent  | one is in flight; the timer thread is due at `repeat_at`, so that  | again, idle |
/// |       | it drives the backend if no call waits                             |             |
/// | again | one is in flight that may have overtaken an acquire: another       | idle        |
/// |       | follows its reply                                                  |             |
struct ReleaseProgress {
  enum class State : std::uint8_t { idle, sent, again };

  OwnedRequest request{};
  State state = State::idle;
  Clock::time_point repeat_at = Clock::never();
  std::chrono::milliseconds last_pause{};

  [[nodiscard]] bool in_flight() const noexcept { return state != State::idle; }
  void start(Clock::time_point due) noexcept {
    state = State::sent;
    repeat_at = due;
  }
  /// In flight: another release follows the reply.
  void want_another() noexcept { state = State::again; }
  /// Returns whether another release is to follow.
  [[nodiscard]] bool end() noexcept {
    repeat_at = Clock::never();
    return std::exchange(state, State::idle) == State::again;
  }
  /// The pause after a reply that did not confirm the release, until it is sent again. `grows`:
  /// it is twice the last one, up to `longest_repeat_pause`; otherwise it is `repeat_pause`.
  [[nodiscard]] std::chrono::milliseconds next_pause(bool grows) noexcept;
};

}  // namespace latchkey::inline v1::detail
