// The gates of a quorum, which let a WRITE in although READs overlap.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>

#include "core/hash_of_id.hpp"
#include "quorum/operation.hpp"

namespace latchkey::inline v1::detail::quorum {

/// The prefix of the keys of gates. No lock of a quorum may have such a name.
inline constexpr std::string_view gate_prefix = "latchkey_writer:";

/// A gate is a second key beside each key with READs: an acquire of a READ also acquires the gate
/// as a READ and releases it at once. A WRITE that stays busy for a second acquires the gate as a
/// WRITE; READs then count as busy until it has got in.
///
/// A READ holds the gate only between two commands of a server, so a WRITE soon succeeds in
/// shutting it. A server that forbids the gate's key has no gate: READs always enter there.
class Gates {
 public:
  /// `read`, an acquire, passes the gate under `id`. Throws std::bad_alloc.
  static void pass(Operation& read, const HoldId& id);

  /// `busy`, an acquire of a WRITE, was busy. Returns the operation that shuts its gate, under the
  /// id `fresh` if the gate was open. Empty: the WRITE has not waited long enough, or its key is
  /// too long for a gate, or no memory is left; its next attempt then shuts the gate.
  [[nodiscard]] std::list<Operation> shut(const Operation& busy, const HoldId& fresh,
                                          Clock::time_point now) noexcept;
  /// A WRITE does not wait any more. Returns the operation that opens its gate. Empty: the gate is
  /// open, or no memory is left; the end of the gate's lease then opens it.
  [[nodiscard]] std::list<Operation> open(const HoldId& writer, std::size_t servers) noexcept;
  /// Forgets WRITEs that made no attempt for the lease of a gate: one that gives up may not say so.
  void forget_writers(Clock::time_point now) noexcept;
  void clear() noexcept { writers_.clear(); }

 private:
  /// A WRITE that was busy, by the submitter's id.
  struct Writer {
    HoldId gate;  ///< number 0: it has not waited long enough to shut the gate
    Clock::time_point since, seen;
    std::string key;
  };

  static std::list<Operation> change(Verb verb, const Writer& writer, std::size_t servers);

  std::unordered_map<HoldId, Writer, HashOfId> writers_;
};

}  // namespace latchkey::inline v1::detail::quorum
