// One direction of one connection through a FaultProxy.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::tests {

struct ProxyRules {
  bool holding = false;
  bool dropping = false;
  bool frozen = false;
  std::chrono::milliseconds delay{0};
  std::size_t fragment = 0;                ///< 0: pieces are not split
  std::optional<std::size_t> cut_after{};  ///< this many bytes more, then the connection is reset
};

/// The bytes that were read and not yet written, and the rules for them. Does no I/O.
class ProxyStream {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ProxyRules rules;
  bool ended = false;  ///< the sender has closed

  void put(std::string bytes, Time now) {
    if (!rules.dropping) pieces_.push_back({std::move(bytes), now + rules.delay});
  }

  /// Returns the bytes that may be written now.
  [[nodiscard]] std::string_view ready(Time now) const {
    if (rules.holding || pieces_.empty() || pieces_.front().due > now) return {};
    const std::string_view bytes = pieces_.front().bytes;
    const std::size_t most = rules.cut_after.value_or(bytes.size());
    return bytes.substr(0, rules.fragment == 0 ? most : std::min(most, rules.fragment));
  }
  void written(std::size_t count) {
    if (rules.cut_after) *rules.cut_after -= count;
    std::string& bytes = pieces_.front().bytes;
    bytes.erase(0, count);
    if (bytes.empty()) pieces_.pop_front();
  }

  /// Whether the connection must be reset.
  [[nodiscard]] bool is_cut() const { return rules.cut_after == 0U; }
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] bool reads() const { return !rules.frozen && !ended; }
  /// When the next piece becomes ready.
  [[nodiscard]] Time due() const {
    return rules.holding || pieces_.empty() ? Time::max() : pieces_.front().due;
  }
  void clear() { pieces_.clear(); }

 private:
  struct Piece {
    std::string bytes;
    Time due;
  };
  std::deque<Piece> pieces_;
};

}  // namespace latchkey::tests
