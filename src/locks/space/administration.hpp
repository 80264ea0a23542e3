// A question that no coordinator asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>

namespace latchkey::detail {

class LockSpace;

/// A request of inspect, list or force_release, or one for several keys, told from a coordinator's
/// by its null context. Its caller waits for the answer, or leaves it to the space, which keeps it
/// until the answer has come.
struct Administration : Request {
  Administration() = default;
  Administration(const Administration&) = delete;
  Administration& operator=(const Administration&) = delete;
  virtual ~Administration() = default;

  Parker* parker = nullptr;
  Outcome outcome{};
  std::string own_key{};  ///< where `key` would not live as long as the request
  LockInfo own_info{};    ///< the same for `info`
  // Of the space: what was left to it.
  Administration* previous_left = nullptr;
  Administration* next_left = nullptr;

  [[nodiscard]] bool answered() const noexcept {
    return stage_.load(std::memory_order_acquire) == Stage::answered;
  }

  /// On whichever thread drives. False: its caller has left. Otherwise the request is its caller's
  /// again as soon as that sees it.
  bool answer(Outcome&& what) noexcept {
    Parker* const sleeper = parker;
    outcome = std::move(what);
    if (stage_.exchange(Stage::answered, std::memory_order_acq_rel) == Stage::left) return false;
    sleeper->unpark();
    return true;
  }

  /// By its caller. False: it was answered just now.
  [[nodiscard]] bool leave() noexcept {
    return stage_.exchange(Stage::left, std::memory_order_acq_rel) == Stage::asked;
  }

  /// Its answer came after its caller had left.
  virtual void came_too_late(LockSpace& /*space*/) noexcept {}

 private:
  enum class Stage : std::uint8_t { asked, answered, left };
  std::atomic<Stage> stage_{Stage::asked};
};

}  // namespace latchkey::detail
