// Bar charts as SVG.
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace latchkey::bench {
namespace {

constexpr double width = 900, left = 60, right = 15;
constexpr double header = 62, panel_height = 230, panel_top = 30, panel_bottom = 30;
constexpr std::array<std::string_view, 4> colours{"#0b6e99", "#d9730d", "#6b9e3f", "#8f6bb3"};

/// From values to heights above the bottom of a panel.
class Axis {
 public:
  explicit Axis(const Panel& panel) : logarithmic_(panel.logarithmic) {
    double least = 0;
    for (const Series& series : panel.series) {
      for (const double value : series.values) {
        highest_ = std::max(highest_, value);
        if (value > 0 && (least == 0 || value < least)) least = value;
      }
    }
    if (highest_ == 0) highest_ = 1;
    if (logarithmic_) {
      lowest_ = std::pow(10, std::floor(std::log10(std::max(least, 1e-3) * 0.8)));
      highest_ = std::max(highest_ * 1.6, 10 * lowest_);
    } else {
      highest_ *= 1.12;
    }
  }

  [[nodiscard]] double height(double value) const {
    constexpr double full = panel_height - panel_top - panel_bottom;
    if (!logarithmic_) return full * value / highest_;
    return full * std::log(std::max(value, lowest_) / lowest_) / std::log(highest_ / lowest_);
  }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> found;
    if (logarithmic_) {
      for (double tick = lowest_; tick <= highest_; tick *= 10) found.push_back(tick);
      return found;
    }
    const double power = std::pow(10, std::floor(std::log10(highest_)));
    double step = power;
    for (const double part : {0.5, 0.2, 0.1}) {
      if (highest_ / step < 4) step = power * part;
    }
    for (double tick = 0; tick <= highest_; tick += step) found.push_back(tick);
    return found;
  }

 private:
  bool logarithmic_;
  double lowest_ = 0, highest_ = 0;
};

void add_text(std::string& svg, double x, double y, std::string_view anchor, int size,
              std::string_view text) {
  svg +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n",
                  x, y, anchor, size, text);
}

void add_axis(std::string& svg, const Axis& axis, double bottom) {
  for (const double tick : axis.ticks()) {
    const double y = bottom - axis.height(tick);
    svg +=
        fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n",
                    left, y, width - right, y);
    add_text(svg, left - 6, y + 4, "end", 11, short_number(tick));
  }
}

void add_bars(std::string& svg, const Panel& panel, const Axis& axis, double bottom) {
  const double group_width =
      (width - left - right) / static_cast<double>(std::max<std::size_t>(panel.groups.size(), 1));
  for (std::size_t group = 0; group < panel.groups.size(); ++group) {
    const double start = left + group_width * static_cast<double>(group);
    add_text(svg, start + group_width / 2, bottom + 16, "middle", 12, panel.groups[group]);
    std::vector<std::size_t> drawn;
    for (std::size_t series = 0; series < panel.series.size(); ++series) {
      if (panel.series[series].values[group] > 0) drawn.push_back(series);
    }
    const double bar = std::min(group_width * 0.86 / static_cast<double>(drawn.size()), 60.0);
    double x = start + (group_width - bar * static_cast<double>(drawn.size())) / 2;
    for (const std::size_t series : drawn) {
      const double value = panel.series[series].values[group];
      const double height = axis.height(value);
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
          bottom - height, bar - 1.5, height, colours[series % colours.size()]);
      add_text(svg, x + bar / 2, bottom - height - 4, "middle", 10, short_number(value));
      x += bar;
    }
  }
}

void add_legend(std::string& svg, const std::vector<Series>& series) {
  double x = left;
  for (std::size_t each = 0; each < series.size(); ++each) {
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"38\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                       colours[each % colours.size()]);
    add_text(svg, x + 18, 48, "start", 12, series[each].name);
    x += 40 + 7.5 * static_cast<double>(series[each].name.size());
  }
}

}  // namespace

std::string to_svg(const std::string& title, const std::vector<Panel>& panels) {
  const double height = header + panel_height * static_cast<double>(panels.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" fill=\"#222222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height);
  add_text(svg, left, 24, "start", 16, title);
  if (!panels.empty()) add_legend(svg, panels.front().series);
  for (std::size_t each = 0; each < panels.size(); ++each) {
    const Panel& panel = panels[each];
    const double top = header + panel_height * static_cast<double>(each);
    const double bottom = top + panel_height - panel_bottom;
    add_text(svg, left, top + 16, "start", 13, panel.title);
    const Axis axis(panel);
    add_axis(svg, axis, bottom);
    add_bars(svg, panel, axis, bottom);
  }
  return svg + "</svg>\n";
}

std::string short_number(double value) {
  if (value >= 9.995e5) return fmt::format("{:.1f} M", value / 1e6);
  if (value >= 9'950) return fmt::format("{:.0f} k", value / 1e3);
  if (value >= 999.5) return fmt::format("{:.1f} k", value / 1e3);
  if (value >= 10 || value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 1 ? 1 : 2);
}

}  // namespace latchkey::bench
