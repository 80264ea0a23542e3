// The error of a call.
#pragma once

#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::tests {

/// The text of the error that `action` throws; "taken" if there is none.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
    return "taken";
  } catch (const Error& error) {
    return error.what();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

/// The text of the Thrown that `action` throws; "taken" if there is none. Other errors pass.
template <class Thrown, class Action>
std::string refusal_by(Action&& action) {
  try {
    action();
    return "taken";
  } catch (const Thrown& error) {
    return error.what();
  }
}

/// The text of the error of Locks::connect; "taken" if there is none.
inline std::string refusal_of(const std::string& uri, const Options& options = {}) {
  return refusal([&] { const Locks locks = Locks::connect(uri, options); });
}

}  // namespace latchkey::tests
