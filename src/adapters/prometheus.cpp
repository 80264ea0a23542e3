// Metric families, a series for each decorated place, and the effect of each event on them.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/adapters/prometheus.hpp>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <latchkey/site.hpp>

#include "adapters/event_metrics.hpp"
#include "adapters/prometheus_jobs.hpp"
#include "adapters/prometheus_metrics.hpp"
#include "locks/event_kinds.hpp"

namespace latchkey::inline v1 {
namespace {

using namespace detail::metrics;  // NOLINT(google-build-using-namespace): our own names
using Category = detail::EventCategory;
using Kind = Event::Kind;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

// Seconds, from an uncontended lock in memory to a lease of minutes.
const Histogram::BucketBoundaries wait_bounds{1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05,
                                              0.1,  0.5,  1,    3,    10,   30,   60};
const Histogram::BucketBoundaries hold_bounds{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1,
                                              0.5,  1,    3,    10,   30,   60,   300};
const Histogram::BucketBoundaries used_bounds{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};
const Histogram::BucketBoundaries lag_bounds{1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10};

Family<Histogram>& histogram(prometheus::Registry& registry, const Metric& metric) {
  return prometheus::BuildHistogram()
      .Name(std::string(metric.name))
      .Help(std::string(metric.help))
      .Register(registry);
}

Family<Counter>& counter(prometheus::Registry& registry, const Metric& metric) {
  return prometheus::BuildCounter()
      .Name(std::string(metric.name))
      .Help(std::string(metric.help))
      .Register(registry);
}

Family<Gauge>& gauge(prometheus::Registry& registry, const Metric& metric) {
  return prometheus::BuildGauge()
      .Name(std::string(metric.name))
      .Help(std::string(metric.help))
      .Register(registry);
}

}  // namespace

/// The metric families, and in each of them the series of every known place.
class PrometheusListener::Series {
 public:
  explicit Series(prometheus::Registry& registry)
      : attempts_(counter(registry, attempts)),
        acquire_(histogram(registry, acquire)),
        wait_(histogram(registry, wait)),
        waiters_(gauge(registry, waiters)),
        holds_(gauge(registry, holds)),
        permits_(gauge(registry, permits)),
        hold_(histogram(registry, hold)),
        used_(histogram(registry, used)),
        lag_(histogram(registry, lag)),
        lost_(counter(registry, lost)),
        held_too_long_(counter(registry, held_too_long)),
        revoked_(counter(registry, revoked)),
        cached_(counter(registry, cached)),
        recalled_(counter(registry, recalled)),
        unconfirmed_(counter(registry, unconfirmed)),
        up_(gauge(registry, up)),
        reconnects_(counter(registry, reconnects)),
        reports_(counter(registry, reports)),
        dropped_(counter(registry, dropped).Add({})),
        jobs_(registry) {
    for (const detail::EventTraits& each : detail::event_kinds) {
      if (each.category == Category::report) report_of(each.kind);
    }
    // A counter that appears with its first event shows no increase, so all series start now.
    for (const Site& site : sites()) {
      for (const SiteNote* note = site.notes(); note != nullptr; note = note->next) {
        if (note->kind == "LOCKED") of({&site, note->text});
        if (note->kind == "LOCKED_ONCE_PER") {
          of({&site, detail::once_template});
          jobs_.begin(site.name());
        }
      }
    }
  }

  void count(const Event& event) {
    const std::lock_guard lock(mutex_);
    switch (detail::traits_of(event.kind).category) {
      case Category::connection: return count_connection(event);
      case Category::report: return report_of(event.kind).Increment();
      case Category::dropped: return count_dropped(event);
      case Category::leader:
      case Category::once:
      case Category::latch: return jobs_.count(event);
      case Category::progress:
      case Category::outcome:
      case Category::hold: break;
    }
    Place at{*this, of(event.origin)};
    add(at, totals_of(event));
    measure(at, event);
  }

 private:
  /// The series of one template and method: of one place or, for a LOCKED in a template, of
  /// several.
  struct At {
    std::size_t places = 0;
    prometheus::Labels labels;
    Gauge* permits = nullptr;                                   // null until there is a permit
    std::array<Counter*, detail::event_kinds.size()> attempts;  // null for other than outcomes
    Histogram* acquire;
    Histogram* wait;
    Gauge* waiters;
    Gauge* holds;
    Histogram* hold;
    Histogram* used;
    Histogram* lag;
    Counter* lost;
    Counter* held_too_long;
    Counter* revoked;
    Counter* cached;
    Counter* recalled;
    Counter* unconfirmed;
  };
  using Key = std::pair<const Site*, std::string_view>;
  using Labels = std::pair<std::string, std::string>;  // template and method

  At& of(const Origin& origin) {
    const Key place{origin.site, origin.key_template};
    const std::string_view method = origin.site != nullptr ? origin.site->name() : "";
    const auto known = places_.find(place);
    if (known != places_.end()) {
      if (known->second->first.second == method) return known->second->second;
      // The name given by `.named("...")` is known only from the first call on.
      if (--known->second->second.places == 0) {
        remove(known->second->second);
        all_.erase(known->second);
      }
      places_.erase(known);
    }
    const Labels labels{origin.key_template, method};
    const auto at = all_.find(labels);
    const auto made = at != all_.end() ? at : all_.emplace(labels, make(labels)).first;
    ++made->second.places;
    places_.emplace(place, made);
    return made->second;
  }

  At make(const Labels& of) {
    const prometheus::Labels labels{{"template", of.first}, {"method", of.second}};
    At made{0,
            labels,
            nullptr,
            {},
            &acquire_.Add(labels, wait_bounds),
            &wait_.Add(labels, wait_bounds),
            &waiters_.Add(labels),
            &holds_.Add(labels),
            &hold_.Add(labels, hold_bounds),
            &used_.Add(labels, used_bounds),
            &lag_.Add(labels, lag_bounds),
            &lost_.Add(labels),
            &held_too_long_.Add(labels),
            &revoked_.Add(labels),
            &cached_.Add(labels),
            &recalled_.Add(labels),
            &unconfirmed_.Add(labels)};
    for (const detail::EventTraits& each : detail::event_kinds) {
      if (each.category != Category::outcome) continue;
      if (each.kind == Kind::taken && of.first != detail::once_template) continue;
      prometheus::Labels its = labels;
      its["outcome"] = std::string(each.name);
      made.attempts[static_cast<std::size_t>(each.kind)] = &attempts_.Add(its);
    }
    return made;
  }

  void remove(const At& at) {
    for (Counter* const each : at.attempts) {
      if (each != nullptr) attempts_.Remove(each);
    }
    acquire_.Remove(at.acquire);
    wait_.Remove(at.wait);
    waiters_.Remove(at.waiters);
    holds_.Remove(at.holds);
    hold_.Remove(at.hold);
    used_.Remove(at.used);
    lag_.Remove(at.lag);
    lost_.Remove(at.lost);
    held_too_long_.Remove(at.held_too_long);
    revoked_.Remove(at.revoked);
    cached_.Remove(at.cached);
    recalled_.Remove(at.recalled);
    unconfirmed_.Remove(at.unconfirmed);
    if (at.permits != nullptr) permits_.Remove(at.permits);
  }

  /// The metrics of one series, as add of event_metrics.hpp and measure change them.
  struct Place {
    void permits(double number) const {
      if (at.permits == nullptr) at.permits = &series.permits_.Add(at.labels);
      at.permits->Increment(number);
    }
    void waiters(double number) const { at.waiters->Increment(number); }
    void holds(double number) const { at.holds->Increment(number); }
    void revoked(double number) const { at.revoked->Increment(number); }
    void cached(double number) const { at.cached->Increment(number); }
    void recalled(double number) const { at.recalled->Increment(number); }
    void lost(double number) const { at.lost->Increment(number); }
    void unconfirmed(double number) const { at.unconfirmed->Increment(number); }
    void held_too_long() const { at.held_too_long->Increment(); }
    void attempts(Kind outcome, double number) const {
      Counter* const ended = at.attempts[static_cast<std::size_t>(outcome)];
      if (ended != nullptr) ended->Increment(number);
    }
    void acquire(double time) const { at.acquire->Observe(time); }
    void wait(double time) const { at.wait->Observe(time); }
    void lag(double time) const { at.lag->Observe(time); }
    void hold(double time) const { at.hold->Observe(time); }
    void used(double part) const { at.used->Observe(part); }

    Series& series;
    At& at;
  };

  void count_dropped(const Event& event) {
    dropped_.Increment(static_cast<double>(event.count));
    for (const Event::Missed& each : event.missed) {
      if (is_of_job(each.kind)) {
        jobs_.add(each);
      } else {
        Place at{*this, of(each.origin)};
        add(at, each);
      }
    }
  }

  void count_connection(const Event& event) {
    const prometheus::Labels labels{{"backend", event.backend}, {"server", event.server}};
    up_.Add(labels).Set(event.kind == Kind::connection_lost ? 0 : 1);
    Counter& back = reconnects_.Add(labels);
    if (event.kind == Kind::connection_restored) back.Increment();
  }

  Counter& report_of(Kind kind) { return reports_.Add({{"kind", std::string(to_string(kind))}}); }

  Family<Counter>& attempts_;
  Family<Histogram>& acquire_;
  Family<Histogram>& wait_;
  Family<Gauge>& waiters_;
  Family<Gauge>& holds_;
  Family<Gauge>& permits_;
  Family<Histogram>& hold_;
  Family<Histogram>& used_;
  Family<Histogram>& lag_;
  Family<Counter>& lost_;
  Family<Counter>& held_too_long_;
  Family<Counter>& revoked_;
  Family<Counter>& cached_;
  Family<Counter>& recalled_;
  Family<Counter>& unconfirmed_;
  Family<Gauge>& up_;
  Family<Counter>& reconnects_;
  Family<Counter>& reports_;
  Counter& dropped_;
  JobSeries jobs_;

  std::mutex mutex_;  // guards the two members below
  std::map<Labels, At> all_;
  std::map<Key, std::map<Labels, At>::iterator> places_;
};

PrometheusListener::PrometheusListener(prometheus::Registry& registry)
    : series_(std::make_unique<Series>(registry)) {}

PrometheusListener::~PrometheusListener() = default;

void PrometheusListener::on_event(const Event& event) { series_->count(event); }

std::span<const Metric> PrometheusListener::metrics() noexcept { return all_metrics; }

}  // namespace latchkey::inline v1
// tidy: long-file because a series is made, updated and removed in one class
