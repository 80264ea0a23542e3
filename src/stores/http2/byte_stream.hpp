// The bytes between this process and one server, for HTTP/2.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "backend/connection/failure.hpp"
#include "core/file_descriptor.hpp"
#include "stores/driver/descriptor_set.hpp"
#include "stores/driver/host_lookup.hpp"
#include "stores/http2/tls_filter.hpp"

namespace latchkey::inline v1::detail::http2 {

/// TCP to one server, with TLS if it is wanted. Never blocks. One thread at a time.
///
/// | state         | left when                                        | for                       |
/// |---------------|--------------------------------------------------|---------------------------|
/// | closed        | `connect`                                        | resolving, connecting     |
/// | resolving     | the name server has answered                     | connecting, broken        |
/// | connecting    | TCP is connected; another address is tried if it | shaking_hands, open,      |
/// |               | is not                                           | broken                    |
/// | shaking_hands | TLS is ready                                     | open, broken              |
/// | open          | the server closes it, or the network fails       | broken                    |
/// | any           | `close`                                          | closed                    |
class ByteStream {
 public:
  enum class State : std::uint8_t { closed, resolving, connecting, shaking_hands, open, broken };

  /// Throws std::invalid_argument if a file of `tls` cannot be used.
  ByteStream(stores::DescriptorSet& descriptors, const TlsOptions& tls, const StoreWords& words);
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ~ByteStream() { close(); }

  void connect(const UriEndpoint& endpoint);
  /// Connects, sends what is left, and appends what has arrived.
  void advance(std::string& received);
  /// Sends, while it is open. `advance` sends the bytes that the network does not take now.
  void send(std::string_view bytes);
  void close() noexcept;
  /// In a forked child: sends nothing, and leaves the parent's descriptor set alone.
  void abandon() noexcept;

  [[nodiscard]] State state() const noexcept { return state_; }
  /// Why it is broken.
  [[nodiscard]] const ConnectionFailure& failure() const noexcept { return failure_; }

 private:
  void resolve();
  void connect_next();
  void continue_connect();
  void connect_failed(int error);
  void try_next_or_fail(std::string why, bool nothing_listens = false);
  void connected();
  void shake_hands(std::string_view received);
  void receive(std::string& received);
  void write_out();
  void fail(std::string why, bool nothing_listens = false);
  void close_socket() noexcept;

  stores::DescriptorSet& descriptors_;
  const std::unique_ptr<TlsContext> context_;  ///< null: no TLS
  std::unique_ptr<TlsFilter> filter_;
  std::unique_ptr<stores::HostLookup> lookup_;
  std::deque<stores::HostLookup::Address> addresses_;  ///< not tried yet
  std::string host_;
  FileDescriptor socket_;
  std::string output_;  ///< not taken by the network yet
  State state_ = State::closed;
  ConnectionFailure failure_;
};

}  // namespace latchkey::inline v1::detail::http2
