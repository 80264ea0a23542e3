// The options that every command has: the backend that it uses.
// SPDX-License-Identifier: BSL-1.0
#include "cli/connection_words.hpp"

#include <CLI/CLI.hpp>

#include "cli/connection.hpp"

namespace latchkey::inline v1::cli {

void add_connection_words(CLI::App& command, ConnectionOptions& options) {
  command
      .add_option("uri", options.uri,
                  "Where the locks live, such as redis://127.0.0.1:6379 (default: the backend "
                  "of --config, then $LATCHKEY_URI)")
      ->type_name("URI");
  command
      .add_option("--config,-c", options.config, "A latchkey.yaml whose default backend is used")
      ->type_name("FILE");
  command
      .add_option("--prefix", options.prefix, "Put before every key (default: that of --config)")
      ->type_name("TEXT");
}

}  // namespace latchkey::inline v1::cli
