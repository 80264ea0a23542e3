// The metrics of what is more than locks: Leaders, scheduled jobs and latches.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/listener.hpp>
#include <latchkey/site.hpp>

#include "adapters/event_metrics.hpp"
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
        depositions_(family(registry, depositions).Add({})),
        once_(family(registry, once)) {
    for (const EventTraits& each : event_kinds) {
      if (each.category != EventCategory::latch) continue;
      latches_[static_cast<std::size_t>(each.kind)] =
          &family(registry, latches).Add({{"event", std::string(last_word(each))}});
    }
    begin({});  // the series of OncePer::run
  }

  /// Begins the series of a LOCKED_ONCE_PER, at zero.
  void begin(std::string_view method) {
    for (const EventTraits& each : event_kinds) {
      if (each.category == EventCategory::once) run_of(each, method);
    }
  }

  /// An event of one of the three categories.
  void count(const Event& event) {
    switch (event.kind) {
      case Event::Kind::elected: elections_.Increment(); break;
      case Event::Kind::deposed: depositions_.Increment(); break;
      case Event::Kind::term_ended: break;
      default: return add({.kind = event.kind, .origin = event.origin, .count = 1});
    }
    terms_.note(event);
    leaders_.Set(static_cast<double>(terms_.size()));
  }
  /// Events of a kind that is counted only, also if they were dropped.
  void add(const Event::Missed& what) {
    const EventTraits& traits = traits_of(what.kind);
    const Site* const site = what.origin.site;
    prometheus::Counter* const counter =
        traits.category == EventCategory::once
            ? &run_of(traits, site != nullptr ? site->name() : std::string_view())
            : latches_[static_cast<std::size_t>(what.kind)];
    if (counter != nullptr) counter->Increment(static_cast<double>(what.count));
  }

 private:
  prometheus::Counter& run_of(const EventTraits& traits, std::string_view method) {
    return once_.Add(
        {{"method", std::string(method)}, {"outcome", std::string(last_word(traits))}});
  }

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
  prometheus::Family<prometheus::Counter>& once_;
  std::array<prometheus::Counter*, event_kinds.size()> latches_{};  // null for other kinds
  OpenTerms terms_;
};

}  // namespace latchkey::inline v1::detail::metrics
