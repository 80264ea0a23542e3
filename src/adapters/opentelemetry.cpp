// Decorated calls as spans, and events as metrics.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/adapters/opentelemetry.hpp>

#include <new>

#include "adapters/opentelemetry_metrics.hpp"
#include "adapters/opentelemetry_spans.hpp"

namespace latchkey::inline v1 {

OpenTelemetryListener::OpenTelemetryListener(OpenTelemetryOptions options)
    : instruments_(Instruments::make()), spans_(Spans::make(options)) {}

OpenTelemetryListener::~OpenTelemetryListener() = default;

void OpenTelemetryListener::on_event(const Event& event) {
  if (instruments_ != nullptr) instruments_->count(event);
}

bool OpenTelemetryListener::wants_everything() const noexcept { return instruments_ != nullptr; }

std::unique_ptr<CallObservation> OpenTelemetryListener::begin() noexcept {
  try {
    return spans_ != nullptr ? spans_->begin() : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;  // the call has no span
  }
}

bool OpenTelemetryListener::wants_calls() const noexcept { return spans_ != nullptr; }

}  // namespace latchkey::inline v1
