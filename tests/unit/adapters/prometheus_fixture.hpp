// A PrometheusListener, and what a test reads of its registry.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <chrono>
#include <future>
#include <map>
#include <string>

#include <latchkey/adapters/prometheus.hpp>
#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey::inline v1 {

using namespace std::chrono_literals;

class PrometheusTest : public ::testing::Test {
 protected:
  using Labels = std::map<std::string, std::string>;

  /// The series of one family by their labels.
  std::map<Labels, prometheus::ClientMetric> series(const std::string& name) {
    std::map<Labels, prometheus::ClientMetric> found;
    locks_.locks().flush(10s);
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != name) continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        Labels labels;
        for (const auto& label : metric.label) labels[label.name] = label.value;
        found[labels] = metric;
      }
    }
    return found;
  }
  /// The metric of a place in this file with events: all other LOCKED have zeros.
  prometheus::ClientMetric at(const std::string& name, const std::string& key_template,
                              Labels more = {}) {
    prometheus::ClientMetric found;
    int count = 0;
    for (const auto& [labels, metric] : series(name)) {
      bool fits = labels.at("template") == key_template;
      for (const auto& [label, value] : more) fits = fits && labels.at(label) == value;
      if (!fits) continue;
      found = metric;
      ++count;
    }
    EXPECT_EQ(count, 1) << name << ' ' << key_template;
    return found;
  }
  prometheus::ClientMetric only(const std::string& name) { return at(name, "prometheus:{id}"); }
  double attempts(const std::string& outcome, const std::string& key_template = "prometheus:{id}") {
    return at("latchkey_attempts_total", key_template, {{"outcome", outcome}}).counter.value;
  }

  prometheus::Registry registry_;
  PrometheusListener listener_{registry_};
  latchkey::testing::ManualClock clock_;
  const latchkey::testing::ScopedLocks locks_{Options{.clock = &clock_, .listener = &listener_}};
  std::future<void> waiter_;
};

template <class Body>
void work(int id, Body&& body) {
  LOCKED("prometheus:{id}", LockType::WRITE, 3s, 10s).named<"work">() AROUND(id) { body(); };
}

}  // namespace latchkey::inline v1
