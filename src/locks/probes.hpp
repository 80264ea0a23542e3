// The static probes of locks (USDT), for bpftrace, perf and gdb.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#if __has_include(<sys/sdt.h>) && !defined(LATCHKEY_NO_PROBES)
#include <sys/sdt.h>
// All have the same arguments: the key with its prefix, which no zero ends, and its length; the
// LockType; Owner::number(); the address of the Site, or 0. A Site begins with file and function,
// two `const char*`, and the line.
#define LATCHKEY_FIRE(probe, key, about)                                                          \
  DTRACE_PROBE5(latchkey, probe, (key).data(), (key).size(), static_cast<unsigned>((about).type), \
                (about).owner.number(), (about).origin.site)
#else
#define LATCHKEY_FIRE(probe, key, about) static_cast<void>(0)
#endif

/// Defines `probe(key, about)`, where `about` is a call or a hold. The probe is one `nop`, with a
/// note in the binary that says where its arguments are; it costs nothing else.
#define LATCHKEY_LOCK_PROBE(probe)                                                              \
  template <class CallOrHold>                                                                   \
  [[gnu::always_inline]] inline void probe([[maybe_unused]] std::string_view key,               \
                                           [[maybe_unused]] const CallOrHold& about) noexcept { \
    LATCHKEY_FIRE(probe, key, about);                                                           \
  }

/// A probe is about one call and one key: each of several keys has its own, and a re-entry is
/// granted and released as a first entry is. An acquire that fails has an attempt and no grant.
namespace latchkey::inline v1::detail::probes {

// NOLINTBEGIN(bugprone-suspicious-stringview-data-usage): the length goes with the address
LATCHKEY_LOCK_PROBE(attempt)   ///< an acquire began
LATCHKEY_LOCK_PROBE(waiting)   ///< it found the lock busy and waits
LATCHKEY_LOCK_PROBE(granted)   ///< it has the lock
LATCHKEY_LOCK_PROBE(released)  ///< a local hold ended, because its holder released it
LATCHKEY_LOCK_PROBE(lost)      ///< a hold ended before its holder released it
/// A hold goes to another owner of this process without the backend: after the `released` of the
/// one, before the `granted` of the other.
LATCHKEY_LOCK_PROBE(handed_over)
// NOLINTEND(bugprone-suspicious-stringview-data-usage)

}  // namespace latchkey::inline v1::detail::probes

#undef LATCHKEY_LOCK_PROBE
#undef LATCHKEY_FIRE
