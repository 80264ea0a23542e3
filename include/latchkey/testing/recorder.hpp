// A listener that records events, for tests.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iosfwd>
#include <mutex>
#include <string>
#include <vector>

#include <latchkey/listener.hpp>
#include <latchkey/lock_type.hpp>

namespace latchkey::inline v1::testing {

/// One lock that was taken.
struct Taken {
  std::string key{};
  LockType type = LockType::REENTRANT;

  friend bool operator==(const Taken&, const Taken&) = default;
  /// How GoogleTest prints it: `WRITE account:42`.
  friend std::ostream& operator<<(std::ostream& out, const Taken& taken);
};

/// Keeps all events in the order of their arrival, which is the order of occurrence for one key and
/// for one thread. Thread-safe. It must outlive the Locks that notify it, unless they are closed.
///
/// Events arrive on the notifier thread, a little after they occurred: `Locks::flush` waits for all
/// of them, `await` for some. A `ScopedLocks` has a recorder and flushes by itself.
class Recorder : public Listener {
 public:
  /// How long, in real time, a test waits for something that must happen before it fails.
  static constexpr std::chrono::seconds patience{20};

  /// If `everything` is false: losses, reports, errors, and lost or restored connections only.
  explicit Recorder(bool everything = true) noexcept : everything_(everything) {}

  void on_event(const Event& event) override;
  [[nodiscard]] bool wants_everything() const noexcept override { return everything_; }

  [[nodiscard]] std::vector<Event> events() const;
  [[nodiscard]] std::vector<Event> of(Event::Kind kind) const;
  [[nodiscard]] std::size_t count(Event::Kind kind) const;

  /// All grants in their order, with re-entries.
  [[nodiscard]] std::vector<Taken> taken() const;

  /// Blocks until `count` events of that kind have arrived since the last clear. False if that
  /// takes longer than `patience`.
  bool await(Event::Kind kind, std::size_t count = 1);

  /// Forgets all events.
  void clear();

 private:
  [[nodiscard]] std::size_t counted(Event::Kind kind) const;

  const bool everything_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
};

}  // namespace latchkey::inline v1::testing
