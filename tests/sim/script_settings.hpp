// The settings of scripted coordinators.
#pragma once

#include <chrono>

#include "locks/coordinator/coordinator_context.hpp"

namespace latchkey::inline v1::sim {

using detail::CoordinatorSettings;

/// Every hold is released at the backend.
inline CoordinatorSettings without_cohorts() {
  CoordinatorSettings settings;
  settings.cohort = std::chrono::milliseconds(0);
  return settings;
}

/// Like without_cohorts, for a backend whose requests may overtake each other.
inline CoordinatorSettings unordered() {
  CoordinatorSettings settings = without_cohorts();
  settings.in_order = false;
  return settings;
}

/// Calls of the process hand a hold on for 5 ms.
inline CoordinatorSettings with_cohorts() {
  CoordinatorSettings settings;
  settings.cohort = std::chrono::milliseconds(5);
  return settings;
}

/// With cohorts, and a backend that keeps a process queue.
inline CoordinatorSettings with_grants() {
  CoordinatorSettings settings = with_cohorts();
  settings.grants = true;
  settings.space = {1, 2};
  return settings;
}

/// With a backend that tells of changes of the keys that it watches.
inline CoordinatorSettings with_watches() {
  CoordinatorSettings settings = without_cohorts();
  settings.watches = true;
  return settings;
}

/// With grants, and holds that are kept idle for 100 ms.
inline CoordinatorSettings with_idle_holds() {
  CoordinatorSettings settings = with_grants();
  settings.cache = std::chrono::milliseconds(100);
  return settings;
}

/// Reports every event.
inline CoordinatorSettings with_events(CoordinatorSettings settings) {
  settings.events = CoordinatorSettings::Events::everything;
  return settings;
}

}  // namespace latchkey::inline v1::sim
