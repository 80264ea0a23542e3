// Families, series for each decorated place, and what each event adds to them.
#include <latchkey/adapters/prometheus.hpp>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace latchkey {
namespace {

using Kind = Event::Kind;
using Metric = PrometheusListener::Metric;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;

constexpr Metric wait{"latchkey_wait_seconds", "histogram",
                      "How long acquires waited that were granted."};
constexpr Metric hold{"latchkey_hold_seconds", "histogram",
                      "How long locks were held, until they were released or lost."};
constexpr Metric used{"latchkey_lease_used_ratio", "histogram",
                      "The share of its lease that was over when a lock was released; 1: lost."};
constexpr Metric lag{"latchkey_renewal_lag_seconds", "histogram",
                     "How long after they were due renewals were confirmed."};
constexpr Metric timeouts{"latchkey_timeouts_total", "counter",
                          "Acquires that gave up because the lock was busy for the whole wait."};
constexpr Metric lost{"latchkey_lost_total", "counter",
                      "Holds that ended before their holder released them."};
constexpr Metric reports{"latchkey_reports_total", "counter",
                         "What could not be thrown: errors of unlocks, abandoned locks, warnings."};
constexpr Metric dropped{"latchkey_events_dropped_total", "counter",
                         "Events that came faster than they could be counted."};
constexpr std::array all_metrics{wait, hold, used, lag, timeouts, lost, reports, dropped};

// Seconds, from an uncontended lock in memory to a lease of minutes.
const Histogram::BucketBoundaries wait_bounds{1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05,
                                              0.1,  0.5,  1,    3,    10,   30,   60};
const Histogram::BucketBoundaries hold_bounds{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1,
                                              0.5,  1,    3,    10,   30,   60,   300};
const Histogram::BucketBoundaries used_bounds{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};
const Histogram::BucketBoundaries lag_bounds{1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10};

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

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

}  // namespace

/// Families, and in each of them the series of every place that was heard of.
class PrometheusListener::Series {
 public:
  explicit Series(prometheus::Registry& registry)
      : wait_(histogram(registry, wait)),
        hold_(histogram(registry, hold)),
        used_(histogram(registry, used)),
        lag_(histogram(registry, lag)),
        timeouts_(counter(registry, timeouts)),
        lost_(counter(registry, lost)),
        reports_(counter(registry, reports)),
        dropped_(counter(registry, dropped).Add({})) {
    for (const Kind kind :
         {Kind::abandoned, Kind::unlock_error, Kind::hidden_error, Kind::warning, Kind::order}) {
      report_of(kind);
    }
  }

  void count(const Event& event) {
    switch (event.kind) {
      case Kind::granted: return of(event).wait.Observe(seconds(event.waited));
      case Kind::timeout: return of(event).timeouts.Increment();
      case Kind::renewed: return of(event).lag.Observe(seconds(event.late));
      case Kind::released: {
        const At& at = of(event);
        at.hold.Observe(seconds(event.held));
        const double lease = seconds(event.lease);
        if (lease > 0) at.used.Observe(1 - seconds(event.left) / lease);
        return;
      }
      case Kind::lost: {
        const At& at = of(event);
        at.lost.Increment();
        at.hold.Observe(seconds(event.held));
        return at.used.Observe(1);
      }
      case Kind::abandoned:
      case Kind::unlock_error:
      case Kind::hidden_error:
      case Kind::warning:
      case Kind::order: return report_of(event.kind).Increment();
      case Kind::dropped: return dropped_.Increment(static_cast<double>(event.count));
      case Kind::attempt:
      case Kind::waiting: return;
    }
  }

 private:
  /// The series of one place and type.
  struct At {
    Histogram& wait;
    Histogram& hold;
    Histogram& used;
    Histogram& lag;
    Counter& timeouts;
    Counter& lost;
  };
  using Place = std::tuple<const Site*, std::string_view, LockType>;

  const At& of(const Event& event) {
    const Place place{event.origin.site, event.origin.key_template, event.type};
    const std::lock_guard lock(mutex_);
    if (const auto known = places_.find(place); known != places_.end()) return known->second;
    const prometheus::Labels labels{{"template", std::string(event.origin.key_template)},
                                    {"method", std::string(event.method())},
                                    {"type", std::string(to_string(event.type))}};
    const At made{wait_.Add(labels, wait_bounds), hold_.Add(labels, hold_bounds),
                  used_.Add(labels, used_bounds), lag_.Add(labels, lag_bounds),
                  timeouts_.Add(labels),          lost_.Add(labels)};
    return places_.emplace(place, made).first->second;
  }

  Counter& report_of(Kind kind) { return reports_.Add({{"kind", std::string(to_string(kind))}}); }

  Family<Histogram>& wait_;
  Family<Histogram>& hold_;
  Family<Histogram>& used_;
  Family<Histogram>& lag_;
  Family<Counter>& timeouts_;
  Family<Counter>& lost_;
  Family<Counter>& reports_;
  Counter& dropped_;

  std::mutex mutex_;
  std::map<Place, At> places_;  // guarded by mutex_; what it gives is never taken away
};

PrometheusListener::PrometheusListener(prometheus::Registry& registry)
    : series_(std::make_unique<Series>(registry)) {}

PrometheusListener::~PrometheusListener() = default;

void PrometheusListener::on_event(const Event& event) { series_->count(event); }

std::span<const Metric> PrometheusListener::metrics() noexcept { return all_metrics; }

}  // namespace latchkey
