// JSON for other programs: one object on one line.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace latchkey::inline v1::cli {

/// The object and a newline. Keys are bytes: what is not UTF-8 becomes the replacement character.
inline std::string json_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace latchkey::inline v1::cli
