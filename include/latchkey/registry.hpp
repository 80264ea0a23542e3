// Which backend serves which URI scheme.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/options.hpp>

namespace latchkey {

class Backend;

/// Makes the backend for one URI. Throws std::invalid_argument with one sentence for a URI that
/// makes no sense. One that asks its server whether it can serve waits for `command_timeout` at
/// most, and throws BackendUnavailable or BackendRefused.
using BackendFactory = std::unique_ptr<Backend> (*)(std::string_view uri, const Options& options);

/// From now on `Locks::connect("<scheme>:...")` uses `factory`. Call it from main or from a
/// function that main calls: nothing registers itself before main. A scheme that is taken, or
/// latchkey's own, is a std::invalid_argument. Thread-safe.
void register_backend(std::string scheme, BackendFactory factory);

/// The schemes known now, sorted: the built-in ones and those registered.
[[nodiscard]] std::vector<std::string> backend_schemes();

}  // namespace latchkey
