// The state behind a Hold of several keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/fence.hpp>
#include <latchkey/hold.hpp>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "core/thread_cache.hpp"
#include "locks/hold/key_names.hpp"
#include "locks/hold/single_hold.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// The holds of several keys, which are lost together and released together. Each keeps its space
/// alive. The functions mean what Hold documents; lost() and stop_token() may be called by any
/// number of threads at once, all others by one at a time.
class MultiHold {
 public:
  /// Gives a MultiHold back to the spare ones of its thread.
  struct GiveBack {
    void operator()(MultiHold* given) const noexcept { ThreadCache<MultiHold>::give_back(*given); }
  };
  using Owned = std::unique_ptr<MultiHold, GiveBack>;

  /// Makes one for `size` holds, which the caller adds before anything else. `key_at(index)` are
  /// their keys, which stand for them in messages. Throws std::bad_alloc.
  template <class KeyAt>
  [[nodiscard]] static Owned make(std::size_t size, const KeyAt& key_at) {
    Owned made(&ThreadCache<MultiHold>::take());
    append_keys(made->name_, size, key_at);
    made->holds_.reserve(size);
    return made;
  }
  void add(RemoteHold& hold, HoldTerms terms) noexcept { holds_.emplace_back(hold, terms); }
  /// `places[index]`: which hold, in the order of the calls of `add`, is that of the key that the
  /// caller named at `index`. Without this call the two orders are the same. Throws std::bad_alloc.
  template <class Places>
  void set_named_order(Places&& places) {
    named_.assign(places.begin(), places.end());
  }

  [[nodiscard]] std::string_view key() const noexcept { return name_; }
  [[nodiscard]] std::span<SingleHold> members() noexcept { return holds_; }
  [[nodiscard]] bool covers(std::string_view key) const noexcept;
  /// The ids of all, separated by commas.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;
  /// A token is for one key only.
  [[nodiscard]] std::optional<std::uint64_t> fencing_token() const noexcept { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::string_view key) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::size_t index) const noexcept;
  [[nodiscard]] std::optional<Fence> fence(std::string_view key) const;
  [[nodiscard]] std::optional<Fence> fence(std::size_t index) const;
  [[nodiscard]] bool lost() const noexcept;
  [[nodiscard]] std::stop_token stop_token();
  /// Whether one of them is revoked.
  [[nodiscard]] bool revoked() const noexcept;
  [[nodiscard]] std::stop_token revocation_token();

  /// Extends all at the same time. Throws about the first whose answer is missing.
  bool extend(std::chrono::milliseconds lease);
  void hold_for(std::chrono::milliseconds time) noexcept;
  /// Releases all at the same time. `context` as for throw_answer.
  bool release(std::chrono::milliseconds linger, const ErrorContext* context);
  void release_quietly(std::chrono::milliseconds linger) noexcept;

  // --- a record of ThreadCache ---
  MultiHold* next = nullptr;
  void reset() noexcept;

 private:
  struct Part;

  /// Requests the stop on the thread that calls the listener. The thread that releases waits for
  /// this callback, and user code that runs in a stop callback may wait for that thread.
  struct ForwardStop {
    LockSpace& space;
    std::stop_source to;
    void operator()() noexcept;
  };

  /// A token of all holds, whose stop is requested with that of any.
  struct JointStop {
    std::stop_source source{std::nostopstate};
    std::list<std::stop_callback<ForwardStop>> forwards;
  };
  /// `token_of` gives that of one hold, and `requested` says whether one was requested already.
  template <class TokenOf, class Requested>
  [[nodiscard]] std::stop_token joint_token(JointStop& stop, const TokenOf& token_of,
                                            const Requested& requested);

  /// Ends the forwarding of stop requests, which from now on are about nothing that is held. Takes
  /// no mutex, because nobody asks for a stop token any more.
  void end_forwards() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS {
    loss_.forwards.clear();
    revocation_.forwards.clear();
  }
  /// Releases holds from the front of `left` at once, and takes them off, until one cannot be.
  static void release_at_once(std::span<SingleHold>& left,
                              std::chrono::milliseconds linger) noexcept;
  static void release_each_quietly(std::span<SingleHold> holds,
                                   std::chrono::milliseconds linger) noexcept;
  static void start_release(std::list<Part>& parts, std::span<SingleHold>& left,
                            std::chrono::milliseconds linger);

  /// The hold of the key that was named at `index`; null: so many were not named.
  [[nodiscard]] const SingleHold* named_at(std::size_t index) const noexcept;

  std::string name_;
  std::vector<SingleHold> holds_;
  std::vector<std::uint16_t> named_;  ///< set_named_order; empty: as in holds_
  Mutex mutex_;
  JointStop loss_ LATCHKEY_GUARDED_BY(mutex_);
  JointStop revocation_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail
