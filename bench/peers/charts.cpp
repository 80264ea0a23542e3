// The plot of each group.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "page.hpp"
#include "plot.hpp"

namespace latchkey::bench {
namespace {

std::vector<Series> a_series_of_each_library() {
  std::vector<Series> series;
  for (const Library library : all_libraries) {
    series.push_back({std::string(to_string(library)), {}});
  }
  return series;
}

/// One panel for each type; `value` of a result is a bar, and `label` names its group.
template <class Value, class Label>
std::vector<Panel> panels_by_type(const GroupResults& group, Value value, Label label) {
  std::vector<Panel> panels;
  for (const Result& result : group.results) {
    const std::string type(to_string(result.load.type));
    if (panels.empty() || panels.back().title != type) {
      panels.push_back({type, {}, a_series_of_each_library()});
    }
    Panel& panel = panels.back();
    if (panel.groups.empty() || panel.groups.back() != label(result)) {
      panel.groups.push_back(label(result));
    }
    for (Series& series : panel.series) series.values.resize(panel.groups.size());
    const auto library = static_cast<std::size_t>(result.load.library());
    panel.series[library].values.back() = value(result);
  }
  return panels;
}

double rate_of(const Result& result) { return result.rate(); }
std::string load_of(const Result& result) { return result.load.load(); }

std::string own_plot(const GroupResults& group) {
  const auto label = [](const Result& result) {
    return fmt::format("{} thread{}", result.load.threads, result.load.threads == 1 ? "" : "s");
  };
  std::vector<Panel> panels = panels_by_type(group, rate_of, label);
  for (Panel& panel : panels) panel.title = "acquire and release pairs per second";
  return to_svg("Own keys: each thread locks a key of its own", panels);
}

std::string hot_plot(const GroupResults& group) {
  std::vector<Panel> panels = panels_by_type(group, rate_of, load_of);
  for (Panel& panel : panels) panel.logarithmic = true;
  return to_svg(
      "One hot key: grants per second (logarithmic), by processes × threads and time inside",
      panels);
}

std::string hand_off_plot(const GroupResults& group) {
  const auto trips = [](const Result& result) {
    return result.median_of([](const Sample& sample) { return sample.hand_off->trips; });
  };
  const auto type = [](const Result& result) { return std::string(to_string(result.load.type)); };
  std::vector<Panel> panels = panels_by_type(group, trips, type);
  Panel joined{"median, in round trips (logarithmic)"};
  joined.logarithmic = true;
  joined.series = a_series_of_each_library();
  for (const Panel& panel : panels) {
    joined.groups.push_back(panel.title);
    for (std::size_t each = 0; each < joined.series.size(); ++each) {
      joined.series[each].values.push_back(panel.series[each].values.back());
    }
  }
  return to_svg("Hand-off from one process to another", {joined});
}

std::string mixed_plot(const GroupResults& group) {
  std::vector<Panel> panels;
  for (const Result& result : group.results) {
    const std::string title =
        fmt::format("{}: each process's part of all grants, in %", to_string(result.load.type));
    if (panels.empty() || panels.back().title != title) {
      panels.push_back(
          {title, {}, {{"latchkey 1"}, {"latchkey 2"}, {"Redisson 1"}, {"Redisson 2"}}});
    }
    Panel& panel = panels.back();
    panel.groups.push_back(result.load.load());
    double sum = 0;
    for (std::size_t each = 0; each < panel.series.size(); ++each) sum += result.rate_of(each);
    for (std::size_t each = 0; each < panel.series.size(); ++each) {
      panel.series[each].values.push_back(100 * result.rate_of(each) / std::max(sum, 1.0));
    }
  }
  return to_svg("Two latchkey and two Redisson processes on one key", panels);
}

}  // namespace

std::string plot_of(const GroupResults& group) {
  switch (group.group) {
    case Group::own: return own_plot(group);
    case Group::hot: return hot_plot(group);
    case Group::hand_off: return hand_off_plot(group);
    case Group::mixed: return mixed_plot(group);
  }
  return {};
}

}  // namespace latchkey::bench
