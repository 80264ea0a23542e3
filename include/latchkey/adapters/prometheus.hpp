// Events as Prometheus metrics: target latchkey::prometheus.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <latchkey/listener.hpp>

namespace prometheus {
class Registry;
}  // namespace prometheus

namespace latchkey::inline v1 {

/// Counts and measures events of locks, in a registry of prometheus-cpp; docs/events.md lists the
/// metrics. The labels are the key template and the method: there are as many series as LOCKED in
/// the program, however many keys there are. Each LOCKED that the program knows has its series, at
/// zero, from the beginning. Events that belong to no LOCKED have an empty template and method.
///
/// Thread-safe: one listener may serve several Locks. It must outlive them as any Listener must;
/// the registry must outlive it.
class PrometheusListener final : public Listener {
 public:
  /// Registers its metrics. Throws what the registry throws if one of the names belongs to a metric
  /// of another kind.
  explicit PrometheusListener(prometheus::Registry& registry);
  PrometheusListener(const PrometheusListener&) = delete;
  PrometheusListener& operator=(const PrometheusListener&) = delete;
  ~PrometheusListener() override;

  void on_event(const Event& event) override;

  struct Metric {
    std::string_view name;
    std::string_view kind;  ///< "histogram", "counter" or "gauge"
    std::string_view help;
  };
  /// All metrics that it registers.
  [[nodiscard]] static std::span<const Metric> metrics() noexcept;

 private:
  class Series;
  std::unique_ptr<Series> series_;
};

}  // namespace latchkey::inline v1
