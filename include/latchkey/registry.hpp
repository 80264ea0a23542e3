// The registry of backends by URI scheme.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/options.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Backend;

/// Makes the backend for one URI. Throws std::invalid_argument with one sentence for a malformed
/// URI. A factory that checks its server waits for `command_timeout` at most, and throws
/// BackendUnavailable or BackendRefused.
using BackendFactory = std::unique_ptr<Backend> (*)(std::string_view uri, const Options& options);

/// Makes `Locks::connect("<scheme>:...")` use `factory` from now on. Call it from main or from a
/// function that main calls: nothing registers itself before main. Throws std::invalid_argument for
/// a scheme that is built in or registered already. Thread-safe.
void register_backend(std::string scheme, BackendFactory factory);

/// The known schemes, sorted: the built-in ones and the registered ones.
[[nodiscard]] std::vector<std::string> backend_schemes();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
