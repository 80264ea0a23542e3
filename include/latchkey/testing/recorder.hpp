// A listener that keeps what it is told, for tests.
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

namespace latchkey::testing {

/// One lock that was taken.
struct Taken {
  std::string key{};  ///< with its prefix
  LockType type = LockType::REENTRANT;

  friend bool operator==(const Taken&, const Taken&) = default;
  /// How GoogleTest prints it: `WRITE account:42`.
  friend std::ostream& operator<<(std::ostream& out, const Taken& taken);
};

/// Keeps all events, in the order in which they came: those of one key in the order in which they
/// happened, and those of one thread too. Thread-safe; it outlives the Locks that tell it, or a
/// close of theirs.
///
/// Events come on the notifier thread, a little after what they tell of: `Locks::flush` waits until
/// all have come, `await` until some have. A `ScopedLocks` has a recorder and flushes by itself.
class Recorder : public Listener {
 public:
  /// Real time that something may take which must come, before a test says that it did not.
  static constexpr std::chrono::seconds patience{20};

  /// `everything` false: losses, reports and errors only.
  explicit Recorder(bool everything = true) noexcept : everything_(everything) {}

  void on_event(const Event& event) override;
  [[nodiscard]] bool wants_everything() const noexcept override { return everything_; }

  [[nodiscard]] std::vector<Event> events() const;
  [[nodiscard]] std::vector<Event> of(Event::Kind kind) const;
  [[nodiscard]] std::size_t count(Event::Kind kind) const;

  /// What was granted, in its order; a re-entry too.
  [[nodiscard]] std::vector<Taken> taken() const;

  /// Blocks until `count` events of that kind have come since the last clear; false where they do
  /// not within the patience.
  bool await(Event::Kind kind, std::size_t count = 1);

  /// Forgets what it was told.
  void clear();

 private:
  [[nodiscard]] std::size_t counted(Event::Kind kind) const;

  const bool everything_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
};

}  // namespace latchkey::testing
