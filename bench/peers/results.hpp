// The medians of all rounds of a workload.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure.hpp"
#include "plan.hpp"
#include "side_by_side.hpp"

namespace latchkey::bench {

/// A workload with what its rounds gave. A round that failed has no sample.
struct Result {
  Workload load;
  std::vector<Sample> samples{};
  std::vector<std::string> failures{};

  /// The median of a value; 0 if every round failed.
  template <class Value>
  [[nodiscard]] double median_of(Value value) const {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(value(sample));
    return values.empty() ? 0 : median(std::move(values));
  }
  [[nodiscard]] double rate() const {
    return median_of([](const Sample& sample) { return sample.rate; });
  }
  [[nodiscard]] double rate_of(std::size_t process) const {
    return median_of([process](const Sample& sample) { return sample.rates[process]; });
  }
};

/// The results of one group, in the order of the plan.
struct GroupResults {
  Group group;
  std::vector<Result> results{};
};

}  // namespace latchkey::bench
