// Events as metrics: target latchkey::prometheus.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <latchkey/listener.hpp>

namespace prometheus {
class Registry;
}  // namespace prometheus

namespace latchkey {

/// Counts and measures what happens to locks, in a registry of prometheus-cpp; docs/events.md has
/// the names. Labels are the template of the key and the method: as many series as there are LOCKED
/// in the program, however many keys there are. Each LOCKED that the program knows has its series,
/// at zero, from the beginning. What no LOCKED asked for has an empty template and method.
///
/// Thread-safe: one may listen to several Locks. It outlives them as any Listener does; the
/// registry outlives it.
class PrometheusListener final : public Listener {
 public:
  /// Registers its metrics. Throws what the registry throws, where one of the names is taken by a
  /// metric of another kind.
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
  /// All that it registers.
  [[nodiscard]] static std::span<const Metric> metrics() noexcept;

 private:
  class Series;
  std::unique_ptr<Series> series_;
};

}  // namespace latchkey
