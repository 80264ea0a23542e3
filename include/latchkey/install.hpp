// Installs the Locks that decorated calls use.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <iosfwd>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Makes every decorated call without `.in(...)` use `locks`. Call it once per process, early in
/// main: a second call throws std::logic_error and changes nothing, because calls under the first
/// Locks may hold keys that the second Locks would grant again. Tests use `testing::ScopedLocks`
/// instead.
///
/// Installed Locks are never destroyed, so decorated calls work until the process ends, in
/// destructors of static objects too. Thread-safe.
void install(Locks locks);

/// Installs from a policy file (docs/policies.md): connects its backends, with `options` for
/// everything that the file does not set (the file's prefix has precedence), installs the default
/// backend, and applies the policies to every decorated method. Checks the whole file against the
/// methods of this program first: throws one PolicyError with all errors of the file, and then
/// changes nothing. The listener gets one `warning` that lists the methods that may run without
/// their lock; without a listener it goes to std::clog. Throws std::logic_error if something is
/// installed already.
void install_from(const std::string& file, Options options = {});

/// All errors of a policy file, checked against this program, in the order of the file. Connects to
/// nothing and changes nothing.
[[nodiscard]] std::vector<PolicyError> check_policy_file(const std::string& file);

/// Writes every decorated method of this program, with the facts that a policy file is checked
/// against, as one JSON object. `latchkey check latchkey.yaml --sites sites.json` then checks the
/// file without the program (docs/cli.md). Connects to nothing. Thread-safe.
void dump_sites(std::ostream& out);

/// Reads the file of install_from again and applies its policies to all methods at once; calls in
/// progress keep their old policy. Wait, lease, hold_for and strategies may change. An error
/// anywhere in the file, or a change of what determines the lock of a method (key, type, backend,
/// prefix), throws one PolicyError with all errors and changes nothing. Throws NotConfigured if
/// install_from was not called. Thread-safe.
void reload_policies();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
