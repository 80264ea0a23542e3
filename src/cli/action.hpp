// What a command does once the command line has been read.
#pragma once

#include <functional>

namespace latchkey::cli {

/// Gives the exit status.
using Action = std::function<int()>;

}  // namespace latchkey::cli
