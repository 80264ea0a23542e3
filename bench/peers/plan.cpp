// The workloads, and which libraries take part in each.
#include "plan.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace latchkey::bench {
namespace {

class Plan {
 public:
  explicit Plan(Group group) : group_(group) {}

  void add_each_library(LockType type, int processes, int threads, int inside_us) {
    for (const Library library : all_libraries) {
      if (!has(library, type)) continue;
      const auto count = static_cast<std::size_t>(processes);
      add(type, std::vector<Library>(count, library), threads, inside_us);
    }
  }
  void add(LockType type, std::vector<Library> processes, int threads, int inside_us) {
    workloads_.push_back({group_, type, std::move(processes), threads, inside_us});
  }

  std::vector<Workload> take() { return std::move(workloads_); }

 private:
  Group group_;
  std::vector<Workload> workloads_;
};

void add_hot(Plan& plan, LockType type) {
  struct Shape {
    int processes, threads;
  };
  for (const int inside_us : {0, 50}) {
    for (const Shape shape : {Shape{1, 8}, Shape{2, 4}, Shape{4, 4}}) {
      plan.add_each_library(type, shape.processes, shape.threads, inside_us);
    }
  }
}

void add_mixed(Plan& plan, LockType type) {
  for (const int inside_us : {0, 50}) {
    for (const int threads : {1, 4}) {
      plan.add(type, {Library::latchkey, Library::latchkey, Library::redisson, Library::redisson},
               threads, inside_us);
    }
  }
}

}  // namespace

std::string_view to_string(Group group) {
  switch (group) {
    case Group::own: return "own";
    case Group::hot: return "hot";
    case Group::hand_off: return "hand-off";
    case Group::mixed: return "mixed";
  }
  return "?";
}

std::string_view to_string(Library library) {
  switch (library) {
    case Library::latchkey: return "latchkey";
    case Library::redisson: return "Redisson";
    case Library::rueidislock: return "rueidislock";
    case Library::redsync: return "redsync";
  }
  return "?";
}

bool has(Library library, LockType type) {
  const bool java_or_cpp = library == Library::latchkey || library == Library::redisson;
  return type == LockType::REENTRANT || java_or_cpp;
}

std::string Workload::load() const {
  if (group == Group::own) return std::to_string(threads);
  if (group == Group::mixed) return fmt::format("2 + 2 × {}, {} µs", threads, inside_us);
  return fmt::format("{} × {}, {} µs", processes.size(), threads, inside_us);
}

std::string Workload::words(int warm_up_ms, int measure_ms) const {
  return fmt::format(
      "--workload {} --type {} --threads {} --inside-us {} --warm-up-ms {} --measure-ms {}",
      group == Group::own ? "own" : "hot", to_string(type), threads, inside_us, warm_up_ms,
      measure_ms);
}

std::vector<Workload> plan(Group group) {
  Plan plan(group);
  switch (group) {
    case Group::own:
      for (const int threads : {1, 2, 4, 8, 32, 128}) {
        plan.add_each_library(LockType::REENTRANT, 1, threads, 0);
      }
      break;
    case Group::hot:
      for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
        add_hot(plan, type);
      }
      break;
    case Group::hand_off:
      for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
        plan.add_each_library(type, 2, 1, 0);
      }
      break;
    case Group::mixed:
      for (const LockType type :
           {LockType::REENTRANT, LockType::WRITE, LockType::FENCED, LockType::FAIR}) {
        add_mixed(plan, type);
      }
      break;
  }
  return plan.take();
}

}  // namespace latchkey::bench
