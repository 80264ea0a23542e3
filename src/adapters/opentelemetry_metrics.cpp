// The metrics of the OpenTelemetry adapter, and the effects of events on them.
// SPDX-License-Identifier: BSL-1.0
#include "adapters/opentelemetry_metrics.hpp"

#include <opentelemetry/common/attribute_value.h>
#include <opentelemetry/context/context.h>
#include <opentelemetry/metrics/noop.h>
#include <opentelemetry/metrics/provider.h>
#include <opentelemetry/nostd/string_view.h>

#include <array>
#include <string_view>
#include <utility>

#include <latchkey/site.hpp>
#include <latchkey/version.hpp>

#include "adapters/opentelemetry_text.hpp"

namespace latchkey::inline v1 {
namespace {

namespace nostd = opentelemetry::nostd;
namespace api = opentelemetry::metrics;
using Metric = OpenTelemetryListener::Metric;
using detail::telemetry_text;
using Kind = Event::Kind;
using enum Metric::Kind;

constexpr Metric attempts{"latchkey.lock.attempts", counter, "{attempt}",
                          "Acquires that have ended, by outcome."};
constexpr Metric acquire{"latchkey.lock.acquire.duration", histogram, "s",
                         "How long acquires took that were granted, round trips and waits."};
constexpr Metric wait{"latchkey.lock.wait.duration", histogram, "s",
                      "How long others were in the way of acquires that were granted and waited."};
constexpr Metric waiters{"latchkey.lock.waiters", up_down_counter, "{acquire}",
                         "Acquires that wait for a busy lock now."};
constexpr Metric holds{"latchkey.lock.holds", up_down_counter, "{lock}",
                       "Locks that are held now."};
constexpr Metric permits{"latchkey.semaphore.permits", up_down_counter, "{permit}",
                         "Permits of semaphores that are taken now."};
constexpr Metric hold{"latchkey.lock.hold.duration", histogram, "s",
                      "How long locks were held, until they were released or lost."};
constexpr Metric used{"latchkey.lock.lease.utilization", histogram, "1",
                      "The share of its lease that was over when a lock was released; 1: lost."};
constexpr Metric lag{"latchkey.lock.renewal.lag", histogram, "s",
                     "How long after they were due renewals were confirmed."};
constexpr Metric lost{"latchkey.lock.lost", counter, "{lock}",
                      "Holds that ended before their holder released them."};
constexpr Metric held_too_long{"latchkey.lock.held_too_long", counter, "{lock}",
                               "Those of them that held_at_most ended."};
constexpr Metric revoked{"latchkey.lock.revoked", counter, "{lock}",
                         "Holds whose holder was asked to release the lock."};
constexpr Metric cached{
    "latchkey.lock.cached", counter, "{acquire}",
    "Acquires that took an idle lock of their process, without asking the server."};
constexpr Metric recalled{"latchkey.lock.recalled", counter, "{lock}",
                          "Idle locks that were given back because others wanted them."};
constexpr Metric unconfirmed{"latchkey.lock.releases_unconfirmed", counter, "{release}",
                             "Releases that the backend did not confirm."};
constexpr Metric up{"latchkey.backend.connections", up_down_counter, "{server}",
                    "1: the connection to the server is there, or not needed; 0: it is lost."};
constexpr Metric reconnects{"latchkey.backend.reconnects", counter, "{reconnect}",
                            "How often a lost connection came back."};
constexpr Metric reports{"latchkey.reports", counter, "{report}",
                         "What could not be thrown: errors of unlocks, abandoned locks, warnings."};
constexpr Metric dropped{"latchkey.events.dropped", counter, "{event}",
                         "Events that came faster than they could be counted."};
constexpr Metric leaders{"latchkey.leader.leaders", up_down_counter, "{leader}",
                         "Leaders of this process that lead now."};
constexpr Metric elections{"latchkey.leader.elections", counter, "{term}",
                           "Terms that Leaders of this process have begun."};
constexpr Metric depositions{"latchkey.leader.depositions", counter, "{term}",
                             "Terms whose Leader lost its lock, or could not renew it in time."};
constexpr Metric once{"latchkey.once.runs", counter, "{run}",
                      "Runs of OncePer, by what became of them."};
constexpr Metric latches{"latchkey.latch.events", counter, "{event}",
                         "Counts of latches, waits for them, and their failures."};

constexpr std::array all_metrics{
    attempts,   acquire, wait,          waiters, holds,     permits,     hold,        used,
    lag,        lost,    held_too_long, revoked, cached,    recalled,    unconfirmed, up,
    reconnects, reports, dropped,       leaders, elections, depositions, once,        latches};

using Attribute = std::pair<nostd::string_view, opentelemetry::common::AttributeValue>;

auto counter_of(api::Meter& meter, const Metric& metric) {
  return meter.CreateUInt64Counter(telemetry_text(metric.name), telemetry_text(metric.description),
                                   telemetry_text(metric.unit));
}
auto up_down_of(api::Meter& meter, const Metric& metric) {
  return meter.CreateInt64UpDownCounter(
      telemetry_text(metric.name), telemetry_text(metric.description), telemetry_text(metric.unit));
}
auto histogram_of(api::Meter& meter, const Metric& metric) {
  return meter.CreateDoubleHistogram(
      telemetry_text(metric.name), telemetry_text(metric.description), telemetry_text(metric.unit));
}

std::string_view method_of(const Origin& origin) {
  return origin.site != nullptr ? origin.site->name() : std::string_view();
}

}  // namespace

/// The metrics of the calls of one place, as add and measure of event_metrics.hpp change them.
class OpenTelemetryListener::Instruments::Place {
 public:
  Place(Instruments& all, const Origin& origin)
      : all_(all),
        attributes_{Attribute{"latchkey.key.template", telemetry_text(origin.key_template)},
                    Attribute{"code.function.name", telemetry_text(method_of(origin))}} {}

  void permits(double number) { change(all_.permits_, number); }
  void waiters(double number) { change(all_.waiters_, number); }
  void holds(double number) { change(all_.holds_, number); }
  void revoked(double number) { increase(all_.revoked_, number); }
  void cached(double number) { increase(all_.cached_, number); }
  void recalled(double number) { increase(all_.recalled_, number); }
  void lost(double number) { increase(all_.lost_, number); }
  void unconfirmed(double number) { increase(all_.unconfirmed_, number); }
  void held_too_long() { increase(all_.held_too_long_, 1); }
  void attempts(Kind outcome, double number) {
    const std::array with_outcome{
        attributes_[0], attributes_[1],
        Attribute{"latchkey.outcome", telemetry_text(to_string(outcome))}};
    all_.attempts_->Add(static_cast<std::uint64_t>(number), with_outcome);
  }
  void acquire(double time) { record(all_.acquire_, time); }
  void wait(double time) { record(all_.wait_, time); }
  void lag(double time) { record(all_.lag_, time); }
  void hold(double time) { record(all_.hold_, time); }
  void used(double part) { record(all_.used_, part); }

 private:
  void increase(Counter& counter, double number) {
    counter->Add(static_cast<std::uint64_t>(number), attributes_);
  }
  void change(UpDown& gauge, double number) {
    if (number != 0) gauge->Add(static_cast<std::int64_t>(number), attributes_);
  }
  void record(Histogram& histogram, double value) {
    histogram->Record(value, attributes_, opentelemetry::context::Context{});
  }

  Instruments& all_;
  std::array<Attribute, 2> attributes_;
};

OpenTelemetryListener::Instruments::Instruments(Meter meter)
    : meter_(std::move(meter)),
      attempts_(counter_of(*meter_, attempts)),
      acquire_(histogram_of(*meter_, acquire)),
      wait_(histogram_of(*meter_, wait)),
      waiters_(up_down_of(*meter_, waiters)),
      holds_(up_down_of(*meter_, holds)),
      permits_(up_down_of(*meter_, permits)),
      hold_(histogram_of(*meter_, hold)),
      used_(histogram_of(*meter_, used)),
      lag_(histogram_of(*meter_, lag)),
      lost_(counter_of(*meter_, lost)),
      held_too_long_(counter_of(*meter_, held_too_long)),
      revoked_(counter_of(*meter_, revoked)),
      cached_(counter_of(*meter_, cached)),
      recalled_(counter_of(*meter_, recalled)),
      unconfirmed_(counter_of(*meter_, unconfirmed)),
      up_(up_down_of(*meter_, up)),
      reconnects_(counter_of(*meter_, reconnects)),
      reports_(counter_of(*meter_, reports)),
      dropped_(counter_of(*meter_, dropped)),
      leaders_(up_down_of(*meter_, leaders)),
      elections_(counter_of(*meter_, elections)),
      depositions_(counter_of(*meter_, depositions)),
      once_(counter_of(*meter_, once)),
      latches_(counter_of(*meter_, latches)) {}

std::unique_ptr<OpenTelemetryListener::Instruments> OpenTelemetryListener::Instruments::make() {
  const auto provider = api::Provider::GetMeterProvider();
  if (dynamic_cast<const api::NoopMeterProvider*>(provider.get()) != nullptr) return nullptr;
  return std::make_unique<Instruments>(provider->GetMeter("latchkey", telemetry_text(version())));
}

void OpenTelemetryListener::Instruments::count(const Event& event) {
  using Category = detail::EventCategory;
  const std::lock_guard lock(mutex_);
  switch (detail::traits_of(event.kind).category) {
    case Category::connection: return count_connection(event);
    case Category::report: {
      const std::array kind{
          Attribute{"latchkey.report.kind", telemetry_text(to_string(event.kind))}};
      return reports_->Add(1, kind);
    }
    case Category::dropped: return count_dropped(event);
    case Category::leader: return count_leader(event);
    case Category::once:
    case Category::latch:
      return count_job({.kind = event.kind, .origin = event.origin, .count = 1});
    case Category::progress:
    case Category::outcome:
    case Category::hold: break;
  }
  Place at(*this, event.origin);
  detail::metrics::add(at, detail::metrics::totals_of(event));
  detail::metrics::measure(at, event);
}

void OpenTelemetryListener::Instruments::count_dropped(const Event& event) {
  dropped_->Add(event.count);
  for (const Event::Missed& each : event.missed) {
    if (detail::metrics::is_of_job(each.kind)) {
      count_job(each);
    } else {
      Place at(*this, each.origin);
      detail::metrics::add(at, each);
    }
  }
}

// A sum of 1 and -1, since there is no instrument that is set to a value before version 2 of the
// ABI.
void OpenTelemetryListener::Instruments::count_connection(const Event& event) {
  const std::array server{Attribute{"latchkey.backend", telemetry_text(event.backend)},
                          Attribute{"server.address", telemetry_text(event.server)}};
  const bool is_up = event.kind != Kind::connection_lost;
  bool& was_up = is_up_[event.server];
  const int change = static_cast<int>(is_up) - static_cast<int>(std::exchange(was_up, is_up));
  up_->Add(change, server);
  if (event.kind == Kind::connection_restored) reconnects_->Add(1, server);
}

void OpenTelemetryListener::Instruments::count_leader(const Event& event) {
  const auto before = static_cast<std::int64_t>(terms_.size());
  terms_.note(event);
  leaders_->Add(static_cast<std::int64_t>(terms_.size()) - before);
  if (event.kind == Kind::elected) elections_->Add(1);
  if (event.kind == Kind::deposed) depositions_->Add(1);
}

void OpenTelemetryListener::Instruments::count_job(const Event::Missed& what) {
  const detail::EventTraits& traits = detail::traits_of(what.kind);
  const auto word = telemetry_text(detail::metrics::last_word(traits));
  if (traits.category == detail::EventCategory::latch) {
    const std::array event{Attribute{"latchkey.latch.event", word}};
    return latches_->Add(what.count, event);
  }
  const std::array run{Attribute{"code.function.name", telemetry_text(method_of(what.origin))},
                       Attribute{"latchkey.outcome", word}};
  once_->Add(what.count, run);
}

std::span<const Metric> OpenTelemetryListener::metrics() noexcept { return all_metrics; }

}  // namespace latchkey::inline v1
