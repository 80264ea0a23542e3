// Has Porcupine check a round.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/porcupine.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "chaos/judge/operations.hpp"
#include "support/process.hpp"

namespace latchkey::chaos {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

void judge_linearizability(const std::filesystem::path& program,
                           const std::filesystem::path& folder, const History& history,
                           Violations& found) {
  const std::filesystem::path operations = folder / "operations", said = folder / "porcupine.log";
  std::ofstream(operations) << operations_of(history);
  std::filesystem::remove(said);
  const int status = tests::Process({program, operations}, said).wait();
  if (status == 0) return;
  if (status != 1) throw std::runtime_error(program.string() + ": " + read(said));
  found.push_back({"Porcupine: a history is not linearizable", read(said)});
}

}  // namespace latchkey::chaos
