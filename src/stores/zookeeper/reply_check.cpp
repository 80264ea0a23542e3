// Whether libzookeeper can read what the server sent.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/reply_check.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

/// xid, zxid, error.
constexpr std::size_t header_size = 16, stat_size = 68;
/// Replies and messages that belong to no operation.
constexpr std::int32_t watcher_event = -1, ping = -2, authentication = -4, set_watches = -8;

/// Reads a message from its front. False once something is missing.
class Cursor {
 public:
  /// `bytes`: the front of the message, or all of it. `length`: that of the whole message.
  Cursor(std::string_view bytes, std::size_t length) : bytes_(bytes), left_(length) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  /// Whether the rest of the message is not in `bytes`.
  [[nodiscard]] bool is_cut() const noexcept { return bytes_.size() < left_; }
  void skip(std::size_t count) noexcept {
    if (count > left_) good_ = false;
    if (!good_) return;
    left_ -= count;
    bytes_.remove_prefix(count < bytes_.size() ? count : bytes_.size());
  }
  std::int32_t number() noexcept {
    if (bytes_.size() < 4) good_ = false;
    if (!good_) return 0;
    std::uint32_t value = 0;
    for (const char byte : bytes_.substr(0, 4))
      value = value << 8 | static_cast<unsigned char>(byte);
    skip(4);
    return static_cast<std::int32_t>(value);
  }
  /// A text, or data, which is absent if its length is -1.
  void text() noexcept {
    const std::int32_t size = number();
    if (size < -1) good_ = false;
    if (size > 0) skip(static_cast<std::size_t>(size));
  }
  /// Each name has a length at least.
  void texts() noexcept {
    const std::int32_t count = number();
    if (count < -1 || (count > 0 && static_cast<std::size_t>(count) > left_ / 4)) good_ = false;
    for (std::int32_t at = 0; at < count && good_; ++at) {
      if (bytes_.size() < 4 && is_cut()) return;
      text();
    }
  }
  /// The results of `steps` operations in one step, of which the last returns a text if `creates`.
  /// The library frees what it keeps of an operation when it reads the operation's result.
  void results(int steps, bool creates) noexcept {
    for (int step = 0; good_; ++step) {
      const std::int32_t type = number();
      const bool done = !bytes_.empty() && bytes_.front() != 0;
      skip(1);
      number();
      if (done != (step == steps)) good_ = false;
      if (done) return;
      if (type == -1) {
        number();
      } else if (creates && step == steps - 1) {
        text();
      }
    }
  }

 private:
  std::string_view bytes_;
  std::size_t left_;
  bool good_ = true;
};

void read(Cursor& cursor, ReplyShape shape) noexcept {
  switch (shape) {
    case ReplyShape::nothing: return;
    case ReplyShape::text: return cursor.text();
    case ReplyShape::stat: return cursor.skip(stat_size);
    case ReplyShape::created:
    case ReplyShape::data: cursor.text(); return cursor.skip(stat_size);
    case ReplyShape::children: return cursor.texts();
    case ReplyShape::checked: return cursor.results(1, false);
    case ReplyShape::replaced: return cursor.results(2, true);
  }
}

bool may_be_long(ReplyShape shape) noexcept {
  return shape == ReplyShape::data || shape == ReplyShape::children;
}

}  // namespace

std::size_t message_length(std::string_view bytes) noexcept {
  Cursor cursor(bytes, bytes.size());
  const std::int32_t length = cursor.number();
  const bool possible = cursor.good() && length >= static_cast<std::int32_t>(header_size) &&
                        static_cast<std::size_t>(length) <= longest_message;
  return possible ? static_cast<std::size_t>(length) : 0;
}

bool is_readable(std::string_view message, std::size_t length, const ReplyShape* awaited) noexcept {
  Cursor cursor(message, length);
  const std::int32_t xid = cursor.number();
  cursor.skip(8);
  const std::int32_t error = cursor.number();
  if (!cursor.good()) return false;
  if (xid == ping || xid == authentication || xid == set_watches) return !cursor.is_cut();
  if (xid == watcher_event) {
    cursor.skip(8);  // type, state
    cursor.text();
    return cursor.good() && !cursor.is_cut();
  }
  if (awaited == nullptr || (cursor.is_cut() && !may_be_long(*awaited))) return false;
  if (error == 0) read(cursor, *awaited);
  return cursor.good();
}

}  // namespace latchkey::inline v1::detail::zookeeper
