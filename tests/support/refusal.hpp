// The error of a connection attempt.
#pragma once

#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::tests {

/// The text of the error of Locks::connect; "taken" if there is none.
inline std::string refusal_of(const std::string& uri, const Options& options = {}) {
  try {
    const Locks locks = Locks::connect(uri, options);
    return "taken";
  } catch (const Error& error) {
    return error.what();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

}  // namespace latchkey::tests
