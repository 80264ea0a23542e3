// The metrics of what is more than locks: Leaders, scheduled jobs and latches.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <latchkey/listener.hpp>

#include "adapters/prometheus_metrics.hpp"
#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail::metrics {

/// Every series exists from the start. One thread at a time.
class JobSeries {
 public:
  explicit JobSeries(prometheus::Registry& registry)
      : leaders_(prometheus::BuildGauge()
                     .Name(std::string(leaders.name))
                     .Help(std::string(leaders.help))
                     .Register(registry)
                     .Add({})),
        elections_(family(registry, elections).Add({})),
        depositions_(family(registry, depositions).Add({})) {
    auto& once_family = family(registry, once);
    auto& latch_family = family(registry, latches);
    for (const EventTraits& each : event_kinds) {
      const bool of_once = each.category == EventCategory::once;
      if (!of_once && each.category != EventCategory::latch) continue;
      const std::string name(each.name.substr(each.name.find('_') + 1));  // "ran" of "once_ran"
      counters_[static_cast<std::size_t>(each.kind)] =
          of_once ? &once_family.Add({{"outcome", name}}) : &latch_family.Add({{"event", name}});
    }
  }

  /// An event of one of the three categories.
  void count(const Event& event) {
    switch (event.kind) {
      case Event::Kind::elected:
        elections_.Increment();
        terms_.emplace(event.key, event.fencing_token.value_or(0));
        break;
      case Event::Kind::deposed: depositions_.Increment(); [[fallthrough]];
      case Event::Kind::term_ended:
        terms_.erase({event.key, event.fencing_token.value_or(0)});
        break;
      default: return add(event.kind, 1);
    }
    leaders_.Set(static_cast<double>(terms_.size()));
  }
  /// Events of a kind that is counted only, also if they were dropped.
  void add(Event::Kind kind, std::uint64_t number) {
    prometheus::Counter* const counter = counters_[static_cast<std::size_t>(kind)];
    if (counter != nullptr) counter->Increment(static_cast<double>(number));
  }

 private:
  static prometheus::Family<prometheus::Counter>& family(prometheus::Registry& registry,
                                                         const Metric& metric) {
    return prometheus::BuildCounter()
        .Name(std::string(metric.name))
        .Help(std::string(metric.help))
        .Register(registry);
  }

  prometheus::Gauge& leaders_;
  prometheus::Counter& elections_;
  prometheus::Counter& depositions_;
  std::array<prometheus::Counter*, event_kinds.size()> counters_{};  // null for other kinds
  std::set<std::pair<std::string, std::uint64_t>> terms_;            ///< those that have not ended
};

}  // namespace latchkey::inline v1::detail::metrics
