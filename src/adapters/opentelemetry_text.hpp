// Texts as the API of OpenTelemetry takes them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <opentelemetry/nostd/string_view.h>

#include <string_view>

namespace latchkey::inline v1::detail {

inline opentelemetry::nostd::string_view telemetry_text(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

}  // namespace latchkey::inline v1::detail
