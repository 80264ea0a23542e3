// A holder that writes too late, with each guard and without.
#pragma once

#include <string>
#include <vector>

namespace latchkey::tests {

/// The first argument of the process that writes too late.
inline const std::string late_writer_word = "late-writer";
/// The key of the lock, and of the fences.
inline const std::string late_writer_key = "order:42";

/// How it ended.
struct LateWrite {
  std::string value;      ///< of the resource, at the end
  bool rejected = false;  ///< the late writer got FenceRejected
  std::string printed;    ///< by the late writer
};

/// Process A takes the lock, reads the value, and is stopped by SIGSTOP until its lease has ended.
/// This process takes the lock, reads the value and appends "B". Then A continues, and appends "A"
/// to what it has read before. Both write under their fences if `guarded`. Throws
/// std::runtime_error if a step fails.
LateWrite run_late_write(const std::string& kind, const std::string& where, bool guarded);

/// The part of A, for main: its arguments after the name of the program. Returns the exit status.
int run_late_writer(const std::vector<std::string>& arguments);

}  // namespace latchkey::tests
