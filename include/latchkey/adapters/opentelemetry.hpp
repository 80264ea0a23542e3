// Decorated calls as spans, and events as metrics: target latchkey::opentelemetry.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <latchkey/call_observer.hpp>
#include <latchkey/listener.hpp>

namespace latchkey::inline v1 {

struct OpenTelemetryOptions {
  /// Spans have the attribute latchkey.key. Keys may be personal data, and there are many of them;
  /// the key template is recorded in any case.
  bool records_keys = false;
};

/// One span for each decorated call, by the tracer, and metrics of all events, by the meter of
/// opentelemetry-cpp's global providers. docs/opentelemetry.md lists spans and metrics.
///
/// As Options::call_observer it makes the spans, as Options::listener the metrics; either may be
/// left out. Set the providers first: those that are set when this is made are used, and while they
/// are the no-op ones of the API, no call is observed and no routine event is made.
///
/// Thread-safe: one may serve several Locks. It must outlive them as any Listener must.
class OpenTelemetryListener final : public Listener, public CallObserver {
 public:
  explicit OpenTelemetryListener(OpenTelemetryOptions options = {});
  OpenTelemetryListener(const OpenTelemetryListener&) = delete;
  OpenTelemetryListener& operator=(const OpenTelemetryListener&) = delete;
  ~OpenTelemetryListener() override;

  void on_event(const Event& event) override;
  [[nodiscard]] bool wants_everything() const noexcept override;

  [[nodiscard]] std::unique_ptr<CallObservation> begin() noexcept override;
  [[nodiscard]] bool wants_calls() const noexcept override;

  struct Metric {
    enum class Kind : std::uint8_t { counter, up_down_counter, histogram };

    std::string_view name;
    Kind kind;
    std::string_view unit;
    std::string_view description;
  };
  /// All metrics.
  [[nodiscard]] static std::span<const Metric> metrics() noexcept;

 private:
  class Instruments;
  class Spans;

  std::unique_ptr<Instruments> instruments_;  ///< null: there is no meter
  std::unique_ptr<Spans> spans_;              ///< null: there is no tracer
};

}  // namespace latchkey::inline v1
