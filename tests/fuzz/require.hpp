// The check of the promises that must hold in every play.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace latchkey::fuzz {

inline void require(bool promise,
                    const std::source_location& place = std::source_location::current()) {
  if (promise) return;
  std::fprintf(stderr, "%s:%u: this does not hold\n", place.file_name(),
               static_cast<unsigned>(place.line()));
  std::abort();
}

}  // namespace latchkey::fuzz
