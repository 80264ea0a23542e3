// Terminal output: colours, bars and a progress line, each only if the terminal supports it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace demo {

enum class Ink : std::uint8_t { bold, dim, bar, good, bad };

/// 81204 as "81,204".
std::string with_commas(std::uint64_t number);

/// Standard output. A terminal gets colours (unless NO_COLOR is set) and a progress line that is
/// rewritten in place; anything else gets plain lines. A locale that is not UTF-8 gets ASCII.
class Screen {
 public:
  Screen();

  void print(std::string_view text) const;

  /// `text` in that colour, if colours are supported.
  [[nodiscard]] std::string ink(Ink ink, std::string_view text) const;

  /// `width` columns, `share` (0 to 1) of them filled, in eighths if the terminal supports it.
  [[nodiscard]] std::string bar(double share, int width) const;

  /// A tick or a cross, in colour.
  [[nodiscard]] std::string mark(bool good) const;

  /// "210 µs", "4.1 ms", "1.32 s"
  [[nodiscard]] std::string time(std::chrono::nanoseconds time) const;

  void progress(double share, std::chrono::duration<double> passed, std::uint64_t operations);
  void progress_done();

 private:
  bool terminal_ = false;
  bool colours_ = false;
  bool utf8_ = true;
  std::int64_t told_ = 0;  // whole seconds that were printed already
};

}  // namespace demo
