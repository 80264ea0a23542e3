// The workloads, and which libraries take part in each.
#pragma once

#include <latchkey/lock_type.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace latchkey::bench {

enum class Group { own, hot, hand_off, mixed };
enum class Library { latchkey, redisson, rueidislock, redsync };

std::string_view to_string(Group group);
std::string_view to_string(Library library);

inline constexpr Group all_groups[] = {Group::own, Group::hot, Group::hand_off, Group::mixed};
inline constexpr Library all_libraries[] = {Library::latchkey, Library::redisson,
                                            Library::rueidislock, Library::redsync};

/// Redisson has all types; the Go libraries have a plain mutex only, which is called REENTRANT
/// here.
bool has(Library library, LockType type);

/// One workload of one library, or of two if the processes are mixed.
struct Workload {
  Group group;
  LockType type;
  std::vector<Library> processes;  ///< one element each
  int threads;                     ///< the number in each process
  int inside_us;                   ///< how long each thread works while it holds the lock

  [[nodiscard]] Library library() const { return processes.front(); }
  /// Such as "2 x 4, 50 µs". The libraries of one workload have the same load.
  [[nodiscard]] std::string load() const;
  /// The line that a worker reads, without the key.
  [[nodiscard]] std::string words(int warm_up_ms, int measure_ms) const;
};

/// All workloads of a group. Those that differ only in the library are neighbours.
std::vector<Workload> plan(Group group);

}  // namespace latchkey::bench
