// What the calling thread's decorated calls hold.
#pragma once

#include <latchkey/cxx20.hpp>

#include <string>
#include <string_view>

#include <latchkey/fixed_string.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/key.hpp>

namespace latchkey {

/// The hold of the innermost decorated call that this thread is in; null outside of one, and where
/// that call runs without its lock (`.when` said no, run_unlocked_dangerously). Good until the body
/// returns. A Hold that HERE gave is nobody's call: its scope has it by name. It may be asked and
/// extended; releasing it early makes the call end with LockLost.
[[nodiscard]] Hold* current_hold() noexcept;

/// Throws NotHeld unless this thread holds `key` by a decorated call or by a HERE, and has not lost
/// it. `key` is the rendered key without the prefix; which Locks it is held in makes no difference.
/// A HERE counts for the thread that asked for it, for as long as its Hold lives, wherever that is.
/// What was taken by lock() or acquire() does not count.
void assert_held(std::string_view key);

/// ASSERT_HELD("account:{account.id}", account): the same for a key template. `Names` are the
/// arguments' names, separated by commas. With [*] each of the keys must be held.
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

}  // namespace latchkey
