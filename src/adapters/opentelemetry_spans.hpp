// One span for each observed call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/trace/tracer.h>

#include <memory>

#include <latchkey/adapters/opentelemetry.hpp>

namespace latchkey::inline v1 {

/// Starts spans by one tracer. Thread-safe.
class OpenTelemetryListener::Spans {
 public:
  using Tracer = opentelemetry::nostd::shared_ptr<opentelemetry::trace::Tracer>;

  /// Null: the tracer provider is the no-op one.
  static std::unique_ptr<Spans> make(OpenTelemetryOptions options);

  Spans(Tracer tracer, OpenTelemetryOptions options)
      : tracer_(std::move(tracer)), options_(options) {}

  [[nodiscard]] std::unique_ptr<CallObservation> begin() const;

 private:
  Tracer tracer_;
  OpenTelemetryOptions options_;
};

}  // namespace latchkey::inline v1
