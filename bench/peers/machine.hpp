// The machine that the numbers were measured on.
#pragma once

#include <string>

namespace latchkey::bench {

/// One sentence: the processor, the number of processors, the memory and the kernel.
std::string machine();

/// Measures how much of the machine other programs use, from the constructor on.
class OtherPrograms {
 public:
  OtherPrograms();
  /// The part of all processor time that neither this process used nor its children that have
  /// ended.
  [[nodiscard]] double part() const;

 private:
  double busy_, total_, own_;  ///< in seconds, at the start
};

}  // namespace latchkey::bench
