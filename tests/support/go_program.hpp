// Programs in Go that tests run beside latchkey.
#pragma once

#include <filesystem>
#include <string>

namespace latchkey::tests {

/// Builds the program of `sources`, with the versions of its go.mod and go.sum. The first time
/// takes minutes, because it downloads them. Tests that run at the same time may call it. Returns
/// why `program` is not at hand, as a clause; empty: it is.
std::string build_go_program(const std::filesystem::path& sources,
                             const std::filesystem::path& program);

}  // namespace latchkey::tests
