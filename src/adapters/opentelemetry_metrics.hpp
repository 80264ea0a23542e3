// The metrics of the OpenTelemetry adapter, and the effects of events on them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <opentelemetry/metrics/meter.h>
#include <opentelemetry/metrics/sync_instruments.h>
#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/nostd/unique_ptr.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <latchkey/adapters/opentelemetry.hpp>

#include "adapters/event_metrics.hpp"

namespace latchkey::inline v1 {

/// One instrument for each metric. Thread-safe.
class OpenTelemetryListener::Instruments {
 public:
  using Meter = opentelemetry::nostd::shared_ptr<opentelemetry::metrics::Meter>;

  /// Null: the meter provider is the no-op one.
  static std::unique_ptr<Instruments> make();

  explicit Instruments(Meter meter);

  void count(const Event& event);

 private:
  class Place;
  using Counter = opentelemetry::nostd::unique_ptr<opentelemetry::metrics::Counter<std::uint64_t>>;
  using UpDown =
      opentelemetry::nostd::unique_ptr<opentelemetry::metrics::UpDownCounter<std::int64_t>>;
  using Histogram = opentelemetry::nostd::unique_ptr<opentelemetry::metrics::Histogram<double>>;

  void count_dropped(const Event& event);
  void count_connection(const Event& event);
  void count_leader(const Event& event);
  void count_job(const Event::Missed& what);

  Meter meter_;
  Counter attempts_;
  Histogram acquire_;
  Histogram wait_;
  UpDown waiters_;
  UpDown holds_;
  UpDown permits_;
  Histogram hold_;
  Histogram used_;
  Histogram lag_;
  Counter lost_;
  Counter held_too_long_;
  Counter revoked_;
  Counter cached_;
  Counter recalled_;
  Counter unconfirmed_;
  UpDown up_;
  Counter reconnects_;
  Counter reports_;
  Counter dropped_;
  UpDown leaders_;
  Counter elections_;
  Counter depositions_;
  Counter once_;
  Counter latches_;
  std::mutex mutex_;
  detail::metrics::OpenTerms terms_;   // guarded by mutex_
  std::map<std::string, bool> is_up_;  // by server; guarded by mutex_
};

}  // namespace latchkey::inline v1
