// Reads what the kernel says about the machine.
#include "machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace latchkey::bench {
namespace {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

/// Such as 6.1: the rest of the name says who built it.
std::string kernel() {
  utsname names{};
  ::uname(&names);
  const std::string release = names.release;
  return release.substr(0, release.find('-'));
}

bool is_virtual() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return line.find(" hypervisor") != std::string::npos;
  }
  return false;
}

}  // namespace

std::string machine() {
  const double gib = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30);
  return fmt::format("{}{}, {} processors, {:.0f} GiB, Linux {}", processor_model(),
                     is_virtual() ? " (virtual machine)" : "", ::sysconf(_SC_NPROCESSORS_ONLN), gib,
                     kernel());
}

}  // namespace latchkey::bench
