// The holds of the calling thread's decorated calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <string>
#include <string_view>

#include <latchkey/fixed_string.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/key.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The hold of the innermost decorated call that this thread is in. Null outside of decorated calls
/// and in a call that runs without its lock (`.when` returned false, run_unlocked_dangerously).
/// Valid until the body returns. A Hold from HERE does not count: its scope has it as a variable.
/// You may query and extend the hold; if you release it early, the call ends with LockLost.
[[nodiscard]] Hold* current_hold() noexcept;

/// Throws NotHeld unless this thread holds `key` by a decorated call or by a HERE and has not lost
/// it. `key` is the rendered key without the prefix; any Locks count. A HERE counts for the thread
/// that called it, for as long as its Hold lives, on whichever thread the Hold is. lock() and
/// acquire() do not count.
void assert_held(std::string_view key);

/// ASSERT_HELD("account:{account.id}", account): assert_held() for a key template. `Names` are the
/// arguments' names, separated by commas. With [*] every one of the keys must be held.
template <FixedString KeyTemplate, FixedString Names, class... Arguments>
void assert_held(const Arguments&... arguments) {
  if constexpr (Key<KeyTemplate>::many) {
    for (const std::string& key : Key<KeyTemplate>::template render_many<Names>(arguments...)) {
      assert_held(key);
    }
  } else {
    KeyBuffer key;
    Key<KeyTemplate>::template render<Names>(key, arguments...);
    assert_held(key.view());
  }
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
