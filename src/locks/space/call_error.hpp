// The exceptions of calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#include "locks/coordinator/call.hpp"
#include "locks/space/error_context.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// Throws the error that `call.answer` stands for, about `key`. `context` is the decorated call
/// that releases after its body has run; null if there is none.
[[noreturn]] void throw_answer(LockSpace& space, const Call& call, std::string_view key,
                               const ErrorContext* context = nullptr);

/// The holder that was in the way, with what it has announced of itself (Options::announce). Waits
/// for the backend as long as the call may. Reports the timeout if the call left it to be reported.
[[nodiscard]] std::string name_holder(LockSpace& space, const Call& busy, std::string_view key);

/// An unlock, a release or an extend was answered. True: done. False: the lock was lost, which is
/// thrown if there is a `context`, or held_at_most allows no extend. Throws for every other answer.
inline bool done_or_throw(LockSpace& space, const Call& call,
                          const ErrorContext* context = nullptr) {
  if (call.answer == Answer::granted) return true;
  if (call.answer == Answer::lost && context == nullptr) return false;
  if (call.answer == Answer::too_long) return false;
  throw_answer(space, call, call.key, context);
}

}  // namespace latchkey::inline v1::detail
