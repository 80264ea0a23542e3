// The connection to the API server of Kubernetes: token, check, timeouts, reconnection.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>

#include "backend/connection/failure.hpp"
#include "backend/connection/made_of_files.hpp"
#include "backend/connection/reconnect_policy.hpp"
#include "stores/http2/http_transport.hpp"
#include "stores/kubernetes/uri.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// One connection. A request without an answer within the timeout ends it: all requests under way
/// end without an answer.
///
/// | state    | left when                                                       | for      |
/// |----------|-----------------------------------------------------------------|----------|
/// | down     | the pause of the reconnect policy is over                       | checking |
/// | checking | the server has the API of Leases, and knows this client         | up       |
/// | any      | the connection breaks, or a request stays unanswered            | down     |
class ApiConnection {
 public:
  enum class State : std::uint8_t { down, checking, up };

  /// `on_change`: the link came up or went down. Throws std::invalid_argument if a file of the URI
  /// cannot be used.
  ApiConnection(KubernetesUri uri, stores::DescriptorSet& descriptors, Clock& clock,
                std::chrono::milliseconds timeout, std::function<void(bool up)> on_change);

  /// False also once the server leaves: what is sent then would have no answer.
  [[nodiscard]] bool is_up() const noexcept {
    return state_ == State::up && !failed_ && !transport_.is_leaving();
  }
  [[nodiscard]] const std::string& name_space() const noexcept { return uri_.name_space; }
  /// Why it is down; null: no attempt has failed since it was up.
  [[nodiscard]] const ConnectionFailure* failure() const noexcept { return policy_.last_failure(); }
  /// When a request that was submitted at `submitted` gives up waiting for the link.
  [[nodiscard]] Clock::time_point gives_up_at(Clock::time_point submitted) const noexcept;
  [[nodiscard]] bool start_failed() const noexcept { return failure() != nullptr; }
  /// A caller needs the connection. Finds out whether it has ended meanwhile.
  void want();

  /// Only while the link is up. `path` follows that of the namespace's Leases, such as "/name".
  void get(const std::string& path, http2::OnHttpEnd on_end);
  void write(std::string_view method, const std::string& path, std::string body,
             http2::OnHttpEnd on_end);
  http2::RequestId open_stream(const std::string& path, http2::OnHttpData on_data,
                               http2::OnHttpEnd on_end);
  void cancel(http2::RequestId id) noexcept { transport_.cancel(id); }

  void advance(Clock::time_point now);
  void flush() { transport_.flush(); }
  [[nodiscard]] Clock::time_point due() noexcept;
  /// As StoreClient::start_over. No callback is called.
  void start_over(Clock::time_point now) noexcept;
  void abandon() noexcept;

 private:
  void connect();
  void check(http2::HttpEnd&& end);
  [[nodiscard]] http2::HttpRequest prepared(std::string_view method, std::string_view path);
  /// Ends the connection after what a callback has seen; `advance` closes it.
  void fail(ConnectionFailure failure);
  bool has_ended();
  void close(Clock::time_point now);

  const KubernetesUri uri_;
  const std::string server_, leases_path_;
  Clock& clock_;
  const std::chrono::milliseconds timeout_;
  const std::function<void(bool up)> on_change_;
  std::optional<MadeOfFiles<std::string>> token_;  ///< empty: no token is sent
  http2::HttpTransport transport_;
  ReconnectPolicy policy_;
  State state_ = State::down;
  bool failed_ = false;  ///< `close` is to be called
  ConnectionFailure why_;
};

}  // namespace latchkey::inline v1::detail::kubernetes
