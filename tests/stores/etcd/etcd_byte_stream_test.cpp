// The bytes between this process and a server that breaks off.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/file_descriptor.hpp"
#include "etcd_fixture.hpp"
#include "stores/http2/byte_stream.hpp"
#include "support/servers/certificates.hpp"
#include "support/servers/loopback.hpp"
#include "support/servers/tls_server.hpp"

namespace latchkey::tests {
namespace {

using detail::FileDescriptor;
using detail::etcd::grpc_dialect;
using detail::http2::ByteStream;

/// The other end of one stream, which the test plays.
class StreamPeer {
 public:
  [[nodiscard]] detail::UriEndpoint endpoint() const { return {"127.0.0.1", port_}; }
  void accept() {
    client_ = FileDescriptor(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  /// Whether all of the bytes have arrived at the stream's socket.
  [[nodiscard]] bool sends(std::string_view bytes) const {
    const ssize_t sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) return false;
    return eventually([&] {
      int on_the_way = 0;
      return ::ioctl(client_.get(), SIOCOUTQ, &on_the_way) == 0 && on_the_way == 0;
    });
  }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(client_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client_.reset();
  }
  /// Forwards what has arrived from the stream to `server`, and back.
  void relay(const FileDescriptor& server) const {
    forward(client_, server);
    forward(server, client_);
  }

 private:
  static void forward(const FileDescriptor& from, const FileDescriptor& to) {
    char part[4096];
    const ssize_t size = ::recv(from.get(), part, sizeof part, MSG_DONTWAIT);
    if (size > 0) ::send(to.get(), part, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  }

  const FileDescriptor listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const std::uint16_t port_ = listen_on_loopback(listening_.get());
  FileDescriptor client_;
};

class EtcdByteStream : public ::testing::Test {
 protected:
  ~EtcdByteStream() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] FileDescriptor connected_to(const TlsServer& server) const {
    FileDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::connect(made.get(), plain, sizeof address), 0);
    return made;
  }
  [[nodiscard]] bool is_reset() const {
    return std::ranges::any_of(descriptors_.ready(),
                               [](const auto& each) { return (each.events & POLLERR) != 0; });
  }

  const std::filesystem::path folder_ = fresh_etcd_folder();
  const Certificates files_{folder_, "IP:127.0.0.1"};
  StreamPeer peer_;
  detail::stores::DescriptorSet descriptors_;
  ByteStream stream_{descriptors_, {files_.authority, {}, {}, {}, {}}, grpc_dialect.words};
  std::string received_;
};

// The alert for such a record could not be sent, which freed what the reason was then read from.
TEST_F(EtcdByteStream, ABrokenRecordBeforeAResetDoesNotEndTheProcess) {
  const TlsServer server(files_, {"-www", "-num_tickets", "0"});
  const FileDescriptor behind = connected_to(server);
  stream_.connect(peer_.endpoint());
  peer_.accept();
  ASSERT_TRUE(eventually([&] {
    peer_.relay(behind);
    stream_.advance(received_);
    return stream_.state() == ByteStream::State::open;
  })) << stream_.failure().text;
  ASSERT_TRUE(peer_.sends(std::string(1'000, 'x')));
  peer_.reset();
  ASSERT_TRUE(eventually([&] { return is_reset(); }));
  stream_.advance(received_);
  EXPECT_EQ(stream_.state(), ByteStream::State::broken);
  EXPECT_NE(stream_.failure().text.find("the connection broke"), std::string::npos)
      << stream_.failure().text;
}

// The closed socket was read once more, and "Bad file descriptor" was the reason.
TEST_F(EtcdByteStream, AHandshakeThatFailsInAReadThatFillsTheBufferSaysWhy) {
  stream_.connect(peer_.endpoint());
  peer_.accept();
  ASSERT_TRUE(peer_.sends(std::string(16'384, 'x')));
  stream_.advance(received_);
  EXPECT_EQ(stream_.state(), ByteStream::State::broken);
  EXPECT_NE(stream_.failure().text.find("no TLS with this server"), std::string::npos)
      << stream_.failure().text;
}

// The zone could not be read, and the stream was connected to the etcd of this machine.
TEST(EtcdByteStreams, AnAddressWithAZoneIsNotThatOfThisMachine) {
  const FileDescriptor listening(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening.get(), plain, size) != 0) GTEST_SKIP() << "no IPv6 on this machine";
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  ASSERT_EQ(::getsockname(listening.get(), plain, &size), 0);
  detail::stores::DescriptorSet descriptors;
  ByteStream stream(descriptors, {{}, {}, {}, {}, "etcds://"}, grpc_dialect.words);
  stream.connect({"fe80::1%lo", ntohs(address.sin6_port)});
  std::string received;
  EXPECT_TRUE(eventually([&] {
    stream.advance(received);
    return stream.state() == ByteStream::State::open || stream.state() == ByteStream::State::broken;
  }));
  EXPECT_EQ(stream.state(), ByteStream::State::broken);
}

}  // namespace
}  // namespace latchkey::tests
