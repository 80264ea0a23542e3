// How each half of the program describes its own latchkey.
#pragma once

#include <string>

struct Half {
  std::string type;    ///< latchkey::Locks as the compiler mangles it
  bool holds = false;  ///< it holds a lock of its own installed Locks
  int sites = 0;       ///< the decorated methods that its latchkey knows
};

namespace this_version {
Half run();
}
namespace other_version {
Half run();
}
