// What the tests of mysql:// share.
#pragma once

#include <latchkey/backend.hpp>
#include <latchkey/mysql.hpp>
#include <latchkey/options.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "backend/registry.hpp"

namespace latchkey::tests {

inline std::unique_ptr<Backend> make_mysql(const std::string& uri, const Options& options = {}) {
  register_mysql();
  return detail::find_backend_factory("mysql")(uri, options);
}

/// A key that was never used before.
inline std::string next_key() {
  static std::atomic<int> last{0};
  return "key:" + std::to_string(++last);
}

}  // namespace latchkey::tests
