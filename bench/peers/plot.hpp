// Bar charts as SVG.
#pragma once

#include <string>
#include <vector>

namespace latchkey::bench {

/// One colour of the bars: a value for each group of the panel. 0 draws no bar.
struct Series {
  std::string name;
  std::vector<double> values{};
};

/// A chart with its own axis.
struct Panel {
  std::string title;
  std::vector<std::string> groups{};  ///< the words below the bars
  std::vector<Series> series{};
  bool logarithmic = false;
};

/// Draws the panels below one another, with one legend: their series have the same names.
std::string to_svg(const std::string& title, const std::vector<Panel>& panels);

/// Such as "1.5", "840", "12 k" or "3.4 M".
std::string short_number(double value);

}  // namespace latchkey::bench
