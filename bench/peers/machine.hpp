// What the numbers were measured on.
#pragma once

#include <string>

namespace latchkey::bench {

/// One sentence: the processor, the number of processors, the memory and the kernel.
std::string machine();

}  // namespace latchkey::bench
