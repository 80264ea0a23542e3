// Fixture of the tests of `latchkey run`.
#include "cli/run_fixture.hpp"

#include <fstream>

namespace latchkey::tests {

bool CliRun::alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const std::size_t state = line.rfind(") ") + 2;
  return line[state] != 'Z' && line[state] != 'X';
}

}  // namespace latchkey::tests
