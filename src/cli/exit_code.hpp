// How the command line tool ends: one number per reason, from sysexits.h where it has one.
#pragma once

namespace latchkey::cli {

/// Exit statuses of the tool itself. `latchkey run` otherwise ends as its child did: with the
/// child's status, or 128 + the number of the signal that ended it.
namespace exit_code {
inline constexpr int success = 0;
inline constexpr int failure = 1;       ///< `check` found mistakes; `show` and `unlock`: not locked
inline constexpr int usage = 64;        ///< EX_USAGE: the command line itself is wrong
inline constexpr int unavailable = 69;  ///< EX_UNAVAILABLE: the backend gave no answer
inline constexpr int internal = 70;     ///< EX_SOFTWARE: the operating system refused something
inline constexpr int busy = 75;         ///< EX_TEMPFAIL: the lock was busy for the whole wait
inline constexpr int lost = 76;         ///< the lock was lost while the child ran, or before
inline constexpr int refused = 77;      ///< EX_NOPERM: the backend said no
inline constexpr int not_executable = 126;  ///< as the shell says it
inline constexpr int not_found = 127;       ///< as the shell says it
inline constexpr int signal_base = 128;     ///< 128 + n: signal n
}  // namespace exit_code

}  // namespace latchkey::cli
