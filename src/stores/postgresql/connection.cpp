// The connection's way to the first request.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/connection.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "stores/postgresql/connect_failure.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

/// Drops notices, which libpq would print.
void ignore_notice(void* /*context*/, const PGresult* /*notice*/) {}

/// The arrays that PQconnectStartParams takes.
class Parameters {
 public:
  void add(const char* name, std::string value) {
    if (!value.empty()) all_.emplace_back(name, std::move(value));
  }
  [[nodiscard]] PGconn* connect() const {
    std::vector<const char*> names, values;
    for (const auto& [name, value] : all_) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    return ::PQconnectStartParams(names.data(), values.data(), 0);
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

/// How many bytes have arrived at the socket and were not read.
std::size_t unread_bytes(int socket) {
  int bytes = 0;
  ::ioctl(socket, FIONREAD, &bytes);
  return static_cast<std::size_t>(std::max(bytes, 0));
}

/// How many bytes have ever arrived at the socket; empty: it is none of TCP.
std::optional<std::uint64_t> bytes_received_by_tcp(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  constexpr std::size_t needed =
      offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
  const bool is_tcp = ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  if (!is_tcp || size < needed) return std::nullopt;
  return info.tcpi_bytes_received;
}

}  // namespace

PostgresqlConnection::PostgresqlConnection(const PostgresqlUri& uri, const Layout& layout,
                                           const Subscriptions& subscriptions,
                                           stores::DescriptorSet& descriptors,
                                           std::chrono::milliseconds timeout)
    : uri_(uri),
      layout_(layout),
      subscriptions_(subscriptions),
      descriptors_(descriptors),
      timeout_(timeout) {}

PostgresqlConnection::~PostgresqlConnection() { close(); }

void PostgresqlConnection::start(Clock::time_point now) {
  ends_at_ = later(now, timeout_);
  created_ = false;
  std::vector<stores::HostLookup::Address> addresses;
  for (const UriEndpoint& each : uri_.hosts) {
    if (stores::is_plain_host(each.host)) addresses.push_back({each, each.host});
  }
  if (addresses.size() == uri_.hosts.size()) return connect(addresses);
  lookup_ = std::make_unique<stores::HostLookup>(uri_.hosts);
  descriptors_.watch(lookup_->descriptor(), POLLIN);
  state_ = State::resolving;
}

std::optional<ConnectionFailure> PostgresqlConnection::resolve() {
  auto answer = lookup_->answer();
  if (!answer) return std::nullopt;
  descriptors_.forget(lookup_->descriptor());
  lookup_.reset();
  if (auto* const failure = std::get_if<ConnectionFailure>(&*answer)) return std::move(*failure);
  connect(std::get<0>(*answer));
  return std::nullopt;
}

void PostgresqlConnection::connect(const std::vector<stores::HostLookup::Address>& addresses) {
  std::string hosts, numbers, ports;
  const auto add_host = [&](const stores::HostLookup::Address& each) {
    const char* const comma = hosts.empty() ? "" : ",";
    const bool is_path = each.endpoint.host.starts_with('/');
    hosts += comma + each.endpoint.host;
    numbers += comma + (is_path ? std::string() : each.number);
    ports += comma + std::to_string(each.endpoint.port);
  };
  for (const auto& each : addresses) add_host(each);
  // libpq takes PGHOSTADDR, the address of another server, if this parameter is empty. With two
  // hosts it is a comma.
  if (numbers.empty()) add_host(addresses.front());
  Parameters parameters;
  parameters.add("host", hosts);
  parameters.add("hostaddr", numbers);
  parameters.add("port", ports);
  parameters.add("user", uri_.user);
  parameters.add("password", uri_.password);
  parameters.add("dbname", uri_.database);
  parameters.add("fallback_application_name", "latchkey");
  parameters.add("client_encoding", "UTF8");
  parameters.add("target_session_attrs", uri_.hosts.size() > 1 ? "read-write" : "any");
  for (const auto& [name, value] : uri_.parameters) parameters.add(name.c_str(), value);
  connection_.reset(parameters.connect());
  if (!connection_) throw std::bad_alloc();
  ::PQsetErrorVerbosity(connection_.get(), PQERRORS_SQLSTATE);
  ::PQsetNoticeReceiver(connection_.get(), ignore_notice, nullptr);
  state_ = State::connecting;
  watch(POLLOUT);
}

void PostgresqlConnection::watch(short events) {
  watched_ = ::PQsocket(connection_.get());
  if (watched_ >= 0) descriptors_.watch(watched_, events);
}

// libpq closes a broken connection's descriptor itself, and the next one may have its number.
void PostgresqlConnection::forget_descriptor() noexcept {
  if (const int descriptor = std::exchange(watched_, -1); descriptor >= 0) {
    descriptors_.forget(descriptor);
  }
}

std::optional<ConnectionFailure> PostgresqlConnection::advance(Clock::time_point now) {
  if (state_ == State::down || state_ == State::up) return std::nullopt;
  std::optional<ConnectionFailure> failure = step(now);
  if (!failure && !is_up() && now >= ends_at_) {
    const bool waits_for_old = state_ == State::ending_old;
    failure = ConnectionFailure{
        false, waits_for_old ? "the last session at the server does not end"
                             : "no answer for " + std::to_string(timeout_.count()) + " ms"};
  }
  if (failure) close();
  return failure;
}

std::optional<ConnectionFailure> PostgresqlConnection::step(Clock::time_point now) {
  for (State before = State::down; before != state_;) {
    before = state_;
    std::optional<ConnectionFailure> failure;
    if (state_ == State::resolving) {
      failure = resolve();
    } else if (state_ == State::connecting) {
      failure = poll_connection();
    } else if (state_ == State::ending_old && now >= again_at_) {
      again_at_ = Clock::never();
      failure = query(State::ending_old, old_session_query());
    } else if (!is_up()) {
      if (!flush() || !read()) return lost();
      if (state_ == State::restoring) {
        failure = read_restored();
      } else if (const ResultHandle found = result()) {
        failure = read_result(found.get(), now);
      }
    }
    if (failure) return failure;
  }
  return std::nullopt;
}

// libpq may change the descriptor with each step, and closes it itself.
std::optional<ConnectionFailure> PostgresqlConnection::poll_connection() {
  PGconn* const connection = connection_.get();
  if (::PQstatus(connection) == CONNECTION_BAD) {
    return connect_failure(::PQerrorMessage(connection));
  }
  if (watched_ >= 0 && descriptors_.ready(watched_) == 0) return std::nullopt;
  forget_descriptor();
  const PostgresPollingStatusType status = ::PQconnectPoll(connection);
  if (status == PGRES_POLLING_FAILED) return connect_failure(::PQerrorMessage(connection));
  const bool done = status == PGRES_POLLING_OK;
  watch(done || status == PGRES_POLLING_READING ? POLLIN : POLLOUT);
  if (!done) return std::nullopt;
  ::PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
  ::PQsetnonblocking(connection, 1);
  constexpr int oldest = 120000;
  if (const int version = ::PQserverVersion(connection); version < oldest) {
    return ConnectionFailure{true, "the server is PostgreSQL " + std::to_string(version / 10000) +
                                       ", and latchkey needs PostgreSQL 12 or later"};
  }
  return query(State::identifying, identity_query());
}

std::optional<ConnectionFailure> PostgresqlConnection::query(State next, const std::string& sql) {
  state_ = next;
  if (::PQsendQuery(connection_.get(), sql.c_str()) == 0 || !flush()) return lost();
  return std::nullopt;
}

bool PostgresqlConnection::flush() {
  const int left = ::PQflush(connection_.get());
  if (left < 0) return false;
  if (::PQsocket(connection_.get()) != watched_ || watched_ < 0) return false;
  watch(left > 0 ? static_cast<short>(POLLIN | POLLOUT) : POLLIN);
  return true;
}

// libpq does not say how much it has read. It makes space first, and reads all if that suffices. If
// more waits, TCP says how much was read. On a Unix socket it is at least as much as has left the
// socket's buffer and, since bytes may arrive meanwhile, at least that space.
bool PostgresqlConnection::read() {
  constexpr std::size_t least_space = 8192;
  const int socket = ::PQsocket(connection_.get());
  const std::size_t before = unread_bytes(socket);
  if (::PQconsumeInput(connection_.get()) != 1) return false;
  if (before <= least_space) {
    bytes_read_ += before;
  } else if (const auto received = bytes_received_by_tcp(socket)) {
    bytes_read_ = *received - std::min<std::uint64_t>(unread_bytes(socket), *received);
  } else {
    bytes_read_ += std::max(before - std::min(unread_bytes(socket), before), least_space);
  }
  return !is_too_long();
}

bool PostgresqlConnection::is_too_long() const noexcept {
  return bytes_read_ - bytes_ended_ > longest_result;
}

std::string PostgresqlConnection::why_broken() const {
  return is_too_long() ? "the server's reply is longer than 64 MiB" : "the connection ended";
}

ResultHandle PostgresqlConnection::result() {
  while (::PQisBusy(connection_.get()) == 0) {
    ResultHandle next(::PQgetResult(connection_.get()));
    result_ended();
    if (!next) return std::move(collected_);
    if (is_copy(next.get())) return next;
    const bool failed = collected_ && ::PQresultStatus(collected_.get()) == PGRES_FATAL_ERROR;
    if (!failed) collected_ = std::move(next);
  }
  return nullptr;
}

ConnectionFailure PostgresqlConnection::lost() const {
  if (is_too_long()) return {false, why_broken()};
  std::string why = connect_failure(::PQerrorMessage(connection_.get())).text;
  return {false, "the connection ended: " + std::move(why)};
}

void PostgresqlConnection::close() noexcept {
  if (lookup_) descriptors_.forget(lookup_->descriptor());
  lookup_.reset();
  forget_descriptor();
  forget_connection();
}

void PostgresqlConnection::forget_connection() noexcept {
  collected_.reset();
  connection_.reset();
  state_ = State::down;
  bytes_read_ = bytes_ended_ = 0;
  ends_at_ = again_at_ = Clock::never();
}

// PQfinish says goodbye to the server. The parent uses the same socket, so the goodbye is sent
// elsewhere.
void PostgresqlConnection::abandon() noexcept {
  lookup_.reset();
  const int descriptor = connection_ ? ::PQsocket(connection_.get()) : -1;
  if (descriptor >= 0) {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || ::dup2(nowhere, descriptor) < 0) {
      static_cast<void>(connection_.release());  // better a leak than a word to the server
      ::close(descriptor);
    }
    if (nowhere >= 0) ::close(nowhere);
  }
  forget_connection();
  watched_ = -1;
  mine_ = old_ = Identity{};
}

Clock::time_point PostgresqlConnection::due() const noexcept {
  if (state_ == State::down || state_ == State::up) return Clock::never();
  return std::min(ends_at_, again_at_);
}

}  // namespace latchkey::inline v1::detail::postgresql
