// The version of the library, as text.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/version.hpp>

#define LATCHKEY_DETAIL_QUOTE(x) #x
#define LATCHKEY_DETAIL_VERSION(major, minor, patch) \
  LATCHKEY_DETAIL_QUOTE(major) "." LATCHKEY_DETAIL_QUOTE(minor) "." LATCHKEY_DETAIL_QUOTE(patch)

namespace latchkey::inline v1 {

std::string_view version() noexcept {
  return LATCHKEY_DETAIL_VERSION(LATCHKEY_VERSION_MAJOR, LATCHKEY_VERSION_MINOR,
                                 LATCHKEY_VERSION_PATCH);
}

}  // namespace latchkey::inline v1
