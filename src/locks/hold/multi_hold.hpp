// What a Hold of several keys holds.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/hold.hpp>

#include "locks/hold/held.hpp"

namespace latchkey::detail {

class LockSet;
class LockSpace;
struct Asker;

/// The holds of a composite, which are lost together and given back together. Each keeps its space
/// alive. As with Hold, lost() and stop_token() may be asked by any number of threads at once, all
/// else by one at a time.
class MultiHold final : public Held {
 public:
  MultiHold(const LockSet& set, std::vector<Hold> holds);

  /// A Hold of all of them.
  static Hold wrap(const LockSet& set, std::vector<Hold> holds);
  static MultiHold& of(Held& held) noexcept { return static_cast<MultiHold&>(held); }

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// Hold::id of each, with commas between.
  [[nodiscard]] std::string ids() const;
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;
  [[nodiscard]] bool lost() const noexcept;
  [[nodiscard]] bool covers(std::string_view key) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::string_view key) const noexcept;
  [[nodiscard]] std::stop_token stop_token();

  /// All of them at the same time. False: one of them is no longer ours. Throws what Hold::extend
  /// throws, for the first that nobody can tell of.
  bool extend(std::chrono::milliseconds lease);
  /// The same for Hold::release_after; `asker` as for LockSpace::release.
  bool release(std::chrono::milliseconds linger, const Asker* asker);
  /// The same; what cannot be said is told to the listeners.
  void release_quietly(std::chrono::milliseconds linger) noexcept;

 private:
  struct Part;

  /// Whoever releases waits for it, and user code waits for the releasing thread perhaps: so the
  /// stop is requested elsewhere.
  struct PassOn {
    LockSpace& space;
    std::stop_source to;
    void operator()() noexcept;
  };

  void begin_release(std::deque<Part>& parts, std::chrono::milliseconds linger);

  std::string name_;
  std::vector<Hold> holds_;
  std::mutex mutex_;  // of the two below
  std::stop_source stop_{std::nostopstate};
  std::deque<std::stop_callback<PassOn>> passed_on_;
};

}  // namespace latchkey::detail
