// A proxy in front of etcd that answers some requests with an error of HTTP.
#include "erring_proxy.hpp"

#include <map>
#include <memory>
#include <string>

namespace latchkey::tests {

using Frame = Http2Frame;

/// The streams of one connection that end with an error, or have.
class ErringProxy::Connection {
 public:
  explicit Connection(ErringProxy& proxy) : proxy_(proxy) {}

  Http2Proxy::Answer from_client(const Frame& frame) {
    const std::uint32_t stream = frame.stream();
    switch (frame.type()) {
      case Frame::settings: return {without_table(frame).bytes, {}};
      case Frame::headers: plan(stream); break;
      case Frame::data:
        if (is(stream, Fate::unsent)) return answer(stream, "503", frame);
        if (is(stream, Fate::over)) return {{}, credit(frame)};
        break;
      default: break;
    }
    return Http2Proxy::forward_to_server(frame);
  }

  Http2Proxy::Answer from_server(const Frame& frame) {
    const std::uint32_t stream = frame.stream();
    if (frame.type() == Frame::headers && is(stream, Fate::unanswered)) {
      return answer(stream, "502", frame);
    }
    if (!is(stream, Fate::over)) return Http2Proxy::forward_to_client(frame);
    return {credit(frame), {}};
  }

 private:
  enum class Fate : std::uint8_t {
    unsent,      ///< an error is sent instead of its first data to the server
    unanswered,  ///< an error is sent instead of its first answer
    over,        ///< an error was sent
  };

  [[nodiscard]] bool is(std::uint32_t stream, Fate fate) const {
    const auto found = fates_.find(stream);
    return found != fates_.end() && found->second == fate;
  }

  void plan(std::uint32_t stream) {
    const unsigned one_in = proxy_.one_in_;
    if (one_in == 0) return;
    // A period would hit the same one of the calls with which a client begins, again and again.
    const unsigned drawn = (++proxy_.streams_ * 2'654'435'761U) >> 16U;
    if (drawn % one_in != 0) return;
    fates_[stream] = drawn / one_in % 2 == 0 ? Fate::unsent : Fate::unanswered;
  }

  /// `instead_of`: a frame of the stream.
  Http2Proxy::Answer answer(std::uint32_t stream, std::string_view status,
                            const Frame& instead_of) {
    fates_[stream] = Fate::over;
    ++proxy_.errors_;
    return {Frame::cancel(stream).bytes, credit(instead_of) + Frame::error(stream, status).bytes};
  }

  /// Returns a window update for a discarded frame: its sender may send as much data again.
  static std::string credit(const Frame& frame) {
    if (frame.type() != Frame::data || frame.content().empty()) return {};
    return Frame::window_update(static_cast<std::uint32_t>(frame.content().size())).bytes;
  }

  /// HPACK's table of header fields stays empty, so that answers can be discarded.
  static Frame without_table(const Frame& settings) {
    if (settings.is_acknowledgement()) return settings;
    return Frame::make(Frame::settings, 0, 0,
                       std::string(settings.content()) + Frame::no_header_table());
  }

  ErringProxy& proxy_;
  std::map<std::uint32_t, Fate> fates_;
};

ErringProxy::ErringProxy(std::uint16_t server_port)
    : proxy_(server_port, [this] {
        const auto connection = std::make_shared<Connection>(*this);
        return Http2Proxy::Rules{
            [connection](const Frame& frame) { return connection->from_client(frame); },
            [connection](const Frame& frame) { return connection->from_server(frame); }};
      }) {}

}  // namespace latchkey::tests
