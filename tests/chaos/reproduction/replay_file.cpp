// The options of a failed round, in a file.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/replay_file.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace latchkey::chaos {

void write_replay(const std::filesystem::path& file, const Settings& settings,
                  std::uint64_t seed_of_round) {
  std::ofstream text(file);
  text << "# make chaos REPLAY=FILE, or latchkey_chaos --replay FILE, runs this round again\n";
  for (const auto& [name, value] : replay_options(settings, seed_of_round)) {
    text << name << ' ' << value << '\n';
  }
}

std::vector<ReplayLine> read_replay(const std::filesystem::path& file) {
  std::ifstream text(file);
  if (!text) throw std::invalid_argument("cannot read '" + file.string() + "'");
  std::vector<ReplayLine> lines;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || space + 1 == line.size()) {
      throw std::invalid_argument(file.string() + ":" + std::to_string(number) +
                                  ": no value for '" + line.substr(0, space) + "'");
    }
    lines.push_back({{line.substr(0, space), line.substr(space + 1)}, number});
  }
  return lines;
}

}  // namespace latchkey::chaos
