// Changes a history so that it breaks a promise: TLC must reject it.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sim/spec/tla_text.hpp"

namespace latchkey::inline v1::sim {

/// One change of a history.
struct Planted {
  std::string_view name;
  std::string_view promise;  ///< the formula of docs/spec/Promises.tla that TLC must name
  /// Makes the change. False if the history has no step that it could be made to.
  std::function<bool(std::vector<Observation>&)> plant;
};

[[nodiscard]] const std::vector<Planted>& all_planted();

}  // namespace latchkey::inline v1::sim
