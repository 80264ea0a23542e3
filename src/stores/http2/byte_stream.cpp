// The bytes between this process and one server, for HTTP/2.
// SPDX-License-Identifier: BSL-1.0
#include "stores/http2/byte_stream.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <variant>

#include <latchkey/detail/in_quotes.hpp>

namespace latchkey::inline v1::detail::http2 {
namespace {

using Address = stores::HostLookup::Address;

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using SocketAddress = std::unique_ptr<addrinfo, FreeAddresses>;

/// A numeric address, in the zone that it may name (fe80::1%eth0). Null: the zone is not there.
SocketAddress socket_address_of(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  const std::string port = std::to_string(address.endpoint.port);
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.number.c_str(), port.c_str(), &hints, &found);
  return SocketAddress(error == 0 ? found : nullptr);
}

/// TCP connects a socket to itself if the system gives it the very port that it connects to.
bool is_connected_to_itself(int socket) noexcept {
  sockaddr_storage here{}, there{};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||    // NOLINT
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) {  // NOLINT
    return false;
  }
  return here_size == there_size && std::memcmp(&here, &there, here_size) == 0;
}

bool would_block(int error) noexcept { return error == EAGAIN || error == EINTR; }

std::string text_of(int error) { return std::generic_category().message(error); }

}  // namespace

ByteStream::ByteStream(stores::DescriptorSet& descriptors, const TlsOptions& tls,
                       const StoreWords& words)
    : descriptors_(descriptors),
      context_(tls.offered() ? std::make_unique<TlsContext>(tls, words) : nullptr) {}

void ByteStream::connect(const UriEndpoint& endpoint) {
  close();
  host_ = endpoint.host;
  if (stores::is_plain_host(host_)) {
    addresses_.push_back({endpoint, host_});
    return connect_next();
  }
  state_ = State::resolving;
  lookup_ = std::make_unique<stores::HostLookup>(std::vector<UriEndpoint>{endpoint});
  descriptors_.watch(lookup_->descriptor(), POLLIN);
}

void ByteStream::resolve() {
  auto answer = lookup_->answer();
  if (!answer) return;
  descriptors_.forget(lookup_->descriptor());
  lookup_.reset();
  if (auto* const found = std::get_if<std::vector<Address>>(&*answer)) {
    addresses_.assign(found->begin(), found->end());
    return connect_next();
  }
  fail(std::get<ConnectionFailure>(*answer).text);
}

void ByteStream::connect_next() {
  const Address address = std::move(addresses_.front());
  addresses_.pop_front();
  state_ = State::connecting;
  const SocketAddress name = socket_address_of(address);
  if (name == nullptr) {
    return try_next_or_fail("connect: " + in_quotes(address.number) +
                            " is no address here: the word behind its '%' must name a network "
                            "interface of this machine");
  }
  socket_ =
      FileDescriptor(::socket(name->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return fail("socket: " + text_of(errno));
  const int on = 1;  // a connection without the options works, too
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const int done = ::connect(socket_.get(), name->ai_addr, name->ai_addrlen);
  if (done != 0 && errno != EINPROGRESS) return connect_failed(errno);
  descriptors_.watch(socket_.get(), POLLOUT);
  continue_connect();
}

void ByteStream::continue_connect() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  pollfd ready{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
  if (error == 0 && ::poll(&ready, 1, 0) == 0) return;
  if (error == 0 && is_connected_to_itself(socket_.get())) error = ECONNREFUSED;
  error == 0 ? connected() : connect_failed(error);
}

void ByteStream::connect_failed(int error) {
  const bool refused = error == ECONNREFUSED;
  try_next_or_fail(
      refused ? "connection refused: nothing listens there" : "connect: " + text_of(error),
      refused);
}

void ByteStream::try_next_or_fail(std::string why, bool nothing_listens) {
  if (addresses_.empty()) return fail(std::move(why), nothing_listens);
  close_socket();
  connect_next();
}

void ByteStream::connected() {
  addresses_.clear();
  descriptors_.watch(socket_.get(), POLLIN);
  if (context_ == nullptr) {
    state_ = State::open;
    return;
  }
  state_ = State::shaking_hands;
  filter_ = std::make_unique<TlsFilter>(*context_, host_);
  shake_hands({});
}

void ByteStream::shake_hands(std::string_view received) {
  const TlsFilter::State state = filter_->shake_hands(received, output_);
  write_out();
  if (state_ == State::broken) return;
  if (state == TlsFilter::State::ready) state_ = State::open;
  if (state == TlsFilter::State::broken) fail(filter_->failure());
}

void ByteStream::advance(std::string& received) {
  if (state_ == State::resolving) resolve();
  if (state_ == State::connecting) continue_connect();
  if (state_ == State::open && !output_.empty()) write_out();
  if (state_ == State::open || state_ == State::shaking_hands) receive(received);
}

// A read that does not fill the buffer has emptied the socket. Bytes after the first MiB are read
// next time: the socket stays readable.
void ByteStream::receive(std::string& received) {
  constexpr int most_reads = 64;
  std::array<char, 16'384> part;  // NOLINT(*-member-init): recv fills it
  int reads = 0;
  for (ssize_t size = sizeof part; size == sizeof part && reads < most_reads; ++reads) {
    size = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (size < 0) {
      if (!would_block(errno)) fail("the connection broke: " + text_of(errno));
      return;
    }
    if (size == 0) return fail("the server has closed the connection");
    const std::string_view bytes(part.data(), static_cast<std::size_t>(size));
    if (filter_ == nullptr) {
      received += bytes;
      continue;
    }
    const bool was_open = state_ == State::open;
    if (!was_open) shake_hands(bytes);
    if (state_ == State::broken) return;
    if (state_ != State::open) continue;
    const TlsFilter::State state =
        filter_->decrypt(was_open ? bytes : std::string_view(), received, output_);
    write_out();
    if (state_ == State::broken) return;
    if (state == TlsFilter::State::ended) return fail("the server has closed the connection");
    if (state == TlsFilter::State::broken) return fail(filter_->failure());
  }
}

void ByteStream::send(std::string_view bytes) {
  if (filter_ == nullptr) {
    output_ += bytes;
  } else if (filter_->encrypt(bytes, output_) == TlsFilter::State::broken) {
    return fail(filter_->failure());
  }
  write_out();
}

void ByteStream::write_out() {
  while (!output_.empty()) {
    const ssize_t size = ::send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) return fail("the connection broke: " + text_of(errno));
    if (size < 0) return descriptors_.watch(socket_.get(), POLLIN | POLLOUT);
    output_.erase(0, static_cast<std::size_t>(size));
  }
  descriptors_.watch(socket_.get(), POLLIN);
}

// A server without TLS closes the connection, or resets it, when it reads the first bytes.
void ByteStream::fail(std::string why, bool nothing_listens) {
  if (state_ == State::shaking_hands && filter_->failure().empty()) {
    why = "no TLS with this server: " + why + context_->hint();
  }
  close();
  state_ = State::broken;
  failure_ = {.permanent = false, .text = std::move(why), .nothing_listens = nothing_listens};
}

void ByteStream::close_socket() noexcept {
  if (socket_.valid()) descriptors_.forget(socket_.get());
  socket_.reset();
}

void ByteStream::close() noexcept {
  if (lookup_ != nullptr) descriptors_.forget(lookup_->descriptor());
  close_socket();
  abandon();
}

void ByteStream::abandon() noexcept {
  lookup_.reset();
  socket_.reset();
  filter_.reset();
  addresses_.clear();
  output_.clear();
  state_ = State::closed;
}

}  // namespace latchkey::inline v1::detail::http2
