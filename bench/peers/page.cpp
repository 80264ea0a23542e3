// The generated parts of docs/benchmarks.md.
#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace latchkey::bench {
namespace {

using Cells = std::vector<std::string>;

std::string row(const Cells& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string header(const Cells& cells) { return row(cells) + row(Cells(cells.size(), "---")); }

std::string microseconds(double value) {
  if (value >= 9'995) return fmt::format("{:.0f} ms", value / 1e3);
  if (value >= 999.5) return fmt::format("{:.1f} ms", value / 1e3);
  return fmt::format("{:.0f} µs", value);
}

std::string median_us(const Result& result, double Sample::* value) {
  return microseconds(result.median_of([&](const Sample& sample) { return sample.*value; }));
}

std::string ratio(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

/// The median over rounds of latchkey's rate divided by this library's; both ran in each round.
std::string multiple(const GroupResults& group, const Result& result) {
  if (result.load.library() == Library::latchkey) return "";
  const auto ours = std::ranges::find_if(group.results, [&](const Result& each) {
    return each.load.library() == Library::latchkey && each.load.type == result.load.type &&
           each.load.load() == result.load.load();
  });
  if (ours == group.results.end()) return "";
  std::vector<double> ratios;
  const std::size_t rounds = std::min(ours->samples.size(), result.samples.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    ratios.push_back(ours->samples[round].rate / std::max(result.samples[round].rate, 1.0));
  }
  return ratios.empty() ? "" : ratio(median(std::move(ratios)));
}

std::string server_time(const Result& result) {
  return fmt::format("{:.1f} µs",
                     result.median_of([](const Sample& sample) { return sample.server_us; }));
}
/// The median, and the worst round: a waiter that misses a message waits long, but seldom.
template <class Value>
std::string median_and_worst(const Result& result, Value value) {
  double worst = 0;
  for (const Sample& sample : result.samples) worst = std::max(worst, value(sample));
  return fmt::format("{:.0f}; {:.0f} ms", result.median_of(value), worst);
}
std::string longest(const Result& result) {
  return median_and_worst(result, [](const Sample& sample) { return sample.longest_ms; });
}
std::string share(const Result& result) {
  return fmt::format("{:.2f}", result.median_of([](const Sample& sample) { return sample.share; }));
}
std::string rate(double value) { return fmt::format("{:.0f}", value); }

std::string contest_table(const GroupResults& group) {
  const bool own = group.group == Group::own;
  Cells names{own ? "threads" : "processes × threads, inside",
              "library",
              "pairs/s",
              "latchkey ÷ it",
              "p50",
              "p99",
              "mean",
              "longest wait: median; worst"};
  if (!own) names.insert(names.begin(), "type");
  if (!own) names.emplace_back("slowest ÷ fastest process");
  names.emplace_back("server time per pair");
  std::string text = header(names);
  for (const Result& result : group.results) {
    Cells cells{result.load.load(),
                std::string(to_string(result.load.library())),
                rate(result.rate()),
                multiple(group, result),
                median_us(result, &Sample::p50_us),
                median_us(result, &Sample::p99_us),
                median_us(result, &Sample::mean_us),
                longest(result)};
    if (!own) cells.insert(cells.begin(), std::string(to_string(result.load.type)));
    if (!own) cells.push_back(result.load.processes.size() > 1 ? share(result) : "");
    cells.push_back(server_time(result));
    text += row(cells);
  }
  return text;
}

std::string hand_off_table(const GroupResults& group) {
  std::string text = header({"type", "library", "hand-off, median", "in round trips", "round trip",
                             "grants that changed the process", "grants/s",
                             "longest wait: median; worst", "slowest ÷ fastest"});
  for (const Result& result : group.results) {
    const auto of = [&](double HandOff::* value) {
      return result.median_of([&](const Sample& sample) { return (*sample.hand_off).*value; });
    };
    const bool changed = of(&HandOff::part) > 0;
    text += row(
        {std::string(to_string(result.load.type)), std::string(to_string(result.load.library())),
         changed ? microseconds(of(&HandOff::us)) : "none",
         changed ? ratio(of(&HandOff::trips)) : "", microseconds(of(&HandOff::round_trip_us)),
         fmt::format("{:.0f} %", 100 * of(&HandOff::part)), rate(result.rate()), longest(result),
         share(result)});
  }
  return text;
}

/// The longest wait of all processes of one library.
std::string longest_of(const Result& result, Library library) {
  return median_and_worst(result, [&](const Sample& sample) {
    double longest = 0;
    for (std::size_t each = 0; each < sample.waits_ms.size(); ++each) {
      if (result.load.processes[each] == library) {
        longest = std::max(longest, sample.waits_ms[each]);
      }
    }
    return longest;
  });
}

std::string mixed_table(const GroupResults& group) {
  std::string text = header({"type", "processes × threads, inside", "latchkey 1", "latchkey 2",
                             "Redisson 1", "Redisson 2", "fastest ÷ slowest",
                             "longest wait, latchkey", "longest wait, Redisson"});
  for (const Result& result : group.results) {
    Cells cells{std::string(to_string(result.load.type)), result.load.load()};
    for (std::size_t process = 0; process < result.load.processes.size(); ++process) {
      cells.push_back(rate(result.rate_of(process)));
    }
    const double part = result.median_of([](const Sample& sample) { return sample.share; });
    cells.push_back(part > 0 ? ratio(1 / part) : "∞");
    cells.push_back(longest_of(result, Library::latchkey));
    cells.push_back(longest_of(result, Library::redisson));
    text += row(cells);
  }
  return text;
}

}  // namespace

std::string table_of(const GroupResults& group) {
  std::string text;
  switch (group.group) {
    case Group::own:
    case Group::hot: text = contest_table(group); break;
    case Group::hand_off: text = hand_off_table(group); break;
    case Group::mixed: text = mixed_table(group); break;
  }
  for (const Result& result : group.results) {
    for (const std::string& failure : result.failures) {
      text += fmt::format("\n* Failed: {}, {}, {}: {}", to_string(result.load.library()),
                          to_string(result.load.type), result.load.load(), failure);
    }
  }
  return text;
}

void replace_part(const std::filesystem::path& page, std::string_view name,
                  const std::string& text) {
  std::ifstream in(page);
  std::string all{std::istreambuf_iterator<char>(in), {}};
  const std::string first = fmt::format("<!-- generated: {} -->\n", name);
  const std::size_t begin = all.find(first);
  const std::size_t end = all.find("<!-- end -->", begin);
  if (begin == std::string::npos || end == std::string::npos) {
    throw std::runtime_error(fmt::format("{}: no generated part '{}'", page.string(), name));
  }
  const std::size_t start = begin + first.size();
  all.replace(start, end - start, text + (text.ends_with('\n') ? "" : "\n"));
  std::ofstream(page) << all;
}

}  // namespace latchkey::bench
