// The bytes of a play.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace latchkey::fuzz {

/// Reads the fuzzer's bytes; zeros after their end.
class Moves {
 public:
  Moves(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool over() const noexcept { return rest_.empty(); }
  std::size_t below(std::size_t bound) { return byte() % bound; }
  std::string_view bytes(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  unsigned char byte() {
    const std::string_view one = bytes(1);
    return one.empty() ? 0 : static_cast<unsigned char>(one.front());
  }
  std::string_view rest_;
};

}  // namespace latchkey::fuzz
