// Reads what the kernel says about the machine.
#include "machine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
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

struct ProcessorTime {
  double busy = 0, total = 0;  ///< in seconds, of all processors
};

ProcessorTime processor_time() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft;
  const double busy = user + nice + system + interrupts + soft;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {busy / ticks, (busy + idle + waiting) / ticks};
}

double own_time() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  return seconds;
}

}  // namespace

OtherPrograms::OtherPrograms()
    : busy_(processor_time().busy), total_(processor_time().total), own_(own_time()) {}

double OtherPrograms::part() const {
  const ProcessorTime now = processor_time();
  const double others = now.busy - busy_ - (own_time() - own_);
  return std::max(0.0, others / std::max(now.total - total_, 0.01));
}

std::string machine() {
  const double gib = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30);
  return fmt::format("{}{}, {} processors, {:.0f} GiB, Linux {}", processor_model(),
                     is_virtual() ? " (virtual machine)" : "", ::sysconf(_SC_NPROCESSORS_ONLN), gib,
                     kernel());
}

}  // namespace latchkey::bench
