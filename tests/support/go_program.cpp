// Programs in Go that tests run beside latchkey.
#include "support/go_program.hpp"

#include <unistd.h>

#include "support/process.hpp"

namespace latchkey::tests {

namespace fs = std::filesystem;

// The program gets its name as a whole.
std::string build_go_program(const fs::path& sources, const fs::path& program) {
  fs::create_directories(program.parent_path());
  const std::string own = program.string() + "-" + std::to_string(::getpid()), log = own + ".log";
  const bool usual = fs::exists("/usr/local/go/bin/go");
  // Tests that run at the same time build it one after the other: the second one finds it built.
  Process build({"env", "GOFLAGS=" LATCHKEY_GOFLAGS, "flock", program.string() + ".lock",
                 usual ? "/usr/local/go/bin/go" : "go", "build", "-C", sources, "-o", own, "."},
                log);
  const int status = build.wait(Process::build_limit);
  if (status == 127) return "there is no go (1.26 or newer)";
  if (status != 0) return "go could not build " + program.filename().string() + ", see " + log;
  fs::remove(log);
  fs::rename(own, program);
  return {};
}

}  // namespace latchkey::tests
