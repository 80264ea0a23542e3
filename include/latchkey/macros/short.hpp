// The short names of the macros: LOCKED for LATCHKEY_LOCKED.
// SPDX-License-Identifier: BSL-1.0
#pragma once

// LATCHKEY_LOCKED and the other long names always exist. If a short name collides with another one,
// define LATCHKEY_NO_SHORT_MACROS before the first header of latchkey.
#ifndef LATCHKEY_NO_SHORT_MACROS
#define LOCKED(...) LATCHKEY_LOCKED(__VA_ARGS__)
#define LOCKED_BY(...) LATCHKEY_LOCKED_BY(__VA_ARGS__)
#define LOCKED_ONCE_PER(...) LATCHKEY_LOCKED_ONCE_PER(__VA_ARGS__)
#define AROUND(...) LATCHKEY_AROUND(__VA_ARGS__)
#define HERE(...) LATCHKEY_HERE(__VA_ARGS__)
#define DECORATED(...) LATCHKEY_DECORATED(__VA_ARGS__)
#define KEYS(...) LATCHKEY_KEYS(__VA_ARGS__)
#define ASSERT_HELD(...) LATCHKEY_ASSERT_HELD(__VA_ARGS__)
#endif
