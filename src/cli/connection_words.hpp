// The options that every command has: the backend that it uses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

struct ConnectionOptions;

/// Adds the URI, --config and --prefix to a command. `options` must outlive it.
void add_connection_words(CLI::App& command, ConnectionOptions& options);

}  // namespace latchkey::inline v1::cli
