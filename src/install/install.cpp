// Naming the Locks that decorated calls use.
#include <latchkey/install.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

#include <latchkey/default_locks.hpp>

namespace latchkey {

void install(Locks locks) {
  auto kept = std::make_unique<Locks>(std::move(locks));
  if (!detail::install_default(*kept)) {
    throw std::logic_error(
        "latchkey::install was called twice: the default is named once, at the start of main; say "
        ".in(locks) where a call needs other Locks, or latchkey::testing::ScopedLocks in a test");
  }
  static_cast<void>(kept.release());
}

}  // namespace latchkey
