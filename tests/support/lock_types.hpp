// All lock types.
#pragma once

#include <latchkey/lock_type.hpp>

namespace latchkey::tests {

inline constexpr LockType all_types[] = {LockType::REENTRANT, LockType::FENCED, LockType::FAIR,
                                         LockType::READ, LockType::WRITE};

}  // namespace latchkey::tests
