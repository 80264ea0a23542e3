// Naming the Locks that decorated calls use.
#pragma once

#include <latchkey/cxx20.hpp>

#include <iosfwd>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>

namespace latchkey {

/// From now on every decorated call without `.in(...)` uses `locks`. Once per process, early in
/// main: a second call throws std::logic_error and changes nothing, because calls under the first
/// Locks may hold what the second ones would grant again. Tests say `testing::ScopedLocks`.
///
/// What was installed is never destroyed, so decorated calls work until the process ends, in the
/// destructors of statics too. Thread-safe.
void install(Locks locks);

/// The same from a policy file (docs/policies.md): connects its backends, with `options` for
/// everything that the file does not say (its prefix wins), installs the default one, and puts its
/// policies in force for every decorated method. The whole file is checked against the methods of
/// this program first: throws one PolicyError with all mistakes, and changes nothing then. Which
/// methods may run without their lock is told the listener as one `warning`; std::clog where there
/// is no listener. Throws std::logic_error where something is installed already.
void install_from(const std::string& file, Options options = {});

/// All mistakes of a policy file, checked against this program, in the order of the file. Connects
/// to nothing and changes nothing.
[[nodiscard]] std::vector<PolicyError> check(const std::string& file);

/// Writes every decorated method of this program, with what a policy file is checked against, as
/// one JSON object: `latchkey check latchkey.yaml --sites sites.json` then checks the file without
/// the program (docs/cli.md). Connects to nothing. Thread-safe.
void dump_sites(std::ostream& out);

/// Reads the file that was given to install_from again and puts its policies in force, for all
/// methods at once; a call that has begun keeps what it began with. Wait, lease, hold_for and
/// strategies may change. A mistake anywhere, or a change of what says which lock guards a method
/// (key, type, backend, prefix), throws one PolicyError with all of them and changes nothing.
/// Throws NotConfigured where install_from was not called. Thread-safe.
void reload();

}  // namespace latchkey
