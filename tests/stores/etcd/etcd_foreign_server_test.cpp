// Servers that are no etcd, or not one that latchkey can use: one clear sentence.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "etcd_fixture.hpp"
#include "support/servers/scripted_server.hpp"

namespace latchkey::tests {
namespace {

constexpr std::size_t preface_size = 24, head_size = 9;
constexpr char data = 0, headers = 1, settings = 4;
constexpr char end_stream = 1, end_headers = 4;

/// A frame of HTTP/2 (RFC 9113, section 4.1).
std::string frame(char type, char flags, char stream, std::string_view content) {
  std::string made{'\0',
                   static_cast<char>(content.size() >> 8),
                   static_cast<char>(content.size()),
                   type,
                   flags,
                   '\0',
                   '\0',
                   '\0',
                   stream};
  return made.append(content);
}

/// A header of HPACK, as a literal (RFC 7541, section 6.2.2).
std::string header(std::string_view name, std::string_view value) {
  std::string made{'\0', static_cast<char>(name.size())};
  made.append(name).push_back(static_cast<char>(value.size()));
  return made.append(value);
}

/// Whether the client has sent the whole of its first call.
bool has_called(std::string_view received) {
  for (std::size_t at = preface_size; at + head_size <= received.size();) {
    const auto byte = [&](std::size_t index) {
      return static_cast<std::size_t>(static_cast<unsigned char>(received[at + index]));
    };
    const std::size_t size = byte(0) << 16U | byte(1) << 8U | byte(2);
    if (received[at + 3] == data && received[at + 8] == 1 && (received[at + 4] & end_stream) != 0) {
      return true;
    }
    at += head_size + size;
  }
  return false;
}

/// Answers the question for the status, the first call, as an etcd of this version.
ScriptedServer::Answer etcd_of(std::string version, bool has_leader) {
  std::string status{'\x12', static_cast<char>(version.size())};
  status += version;
  if (has_leader) status += "\x20\x01";
  std::string body{'\0', '\0', '\0', '\0', static_cast<char>(status.size())};
  body += status;
  const std::string reply =
      frame(settings, 0, 0, {}) +
      frame(headers, end_headers, 1, '\x88' + header("content-type", "application/grpc")) +
      frame(data, 0, 1, body) +
      frame(headers, end_headers | end_stream, 1, header("grpc-status", "0"));
  return [reply](std::string& received, std::string& to_send) {
    if (!has_called(received)) return;
    received.clear();
    to_send = reply;
  };
}

TEST(EtcdForeignServer, AnOldEtcdIsRefused) {
  const ScriptedServer server(etcd_of("3.3.25", true));
  const std::string why = etcd_refusal("etcd://" + server.address());
  EXPECT_NE(why.find("etcd '3.3.25' is too old: 3.4 is the least"), std::string::npos) << why;
}

TEST(EtcdForeignServer, AClusterWithoutALeaderIsNamed) {
  const ScriptedServer server(etcd_of("3.4.23", false));
  const std::string why = etcd_refusal("etcd://" + server.address());
  EXPECT_NE(why.find("has no leader"), std::string::npos) << why;
}

TEST(EtcdForeignServer, AServerOfAnotherProtocolIsNamed) {
  const ScriptedServer redis([](std::string& received, std::string& to_send) {
    if (!received.empty()) to_send = "-ERR unknown command 'PRI'\r\n";
  });
  const std::string why = etcd_refusal("etcd://" + redis.address());
  EXPECT_NE(why.find("speaks no gRPC"), std::string::npos) << why;
}

TEST(EtcdForeignServer, AnHttp2ServerWithoutGrpcIsNamed) {
  const ScriptedServer web([](std::string& received, std::string& to_send) {
    if (!has_called(received)) return;
    received.clear();
    to_send = frame(settings, 0, 0, {}) +
              frame(headers, end_headers | end_stream, 1, header(":status", "404"));
  });
  const std::string why = etcd_refusal("etcd://" + web.address());
  EXPECT_NE(why.find("HTTP status 404"), std::string::npos) << why;
}

TEST(EtcdForeignServer, ACallThatFailsWithoutATextHasItsStatusAsTheReason) {
  const ScriptedServer silent([](std::string& received, std::string& to_send) {
    if (!has_called(received)) return;
    received.clear();
    to_send =
        frame(settings, 0, 0, {}) +
        frame(headers, end_headers | end_stream, 1,
              '\x88' + header("content-type", "application/grpc") + header("grpc-status", "2"));
  });
  const std::string why = etcd_refusal("etcd://" + silent.address());
  EXPECT_NE(why.find("gRPC status 2"), std::string::npos) << why;
}

TEST(EtcdForeignServer, AReplyWithoutEndIsRefused) {
  const ScriptedServer endless([](std::string& received, std::string& to_send) {
    if (!has_called(received)) return;
    received.clear();
    to_send = frame(settings, 0, 0, {}) +
              frame(headers, end_headers, 1, '\x88' + header("content-type", "application/grpc")) +
              frame(data, 0, 1, std::string("\0\xFF\xFF\xFF\xFF", 5));
  });
  const std::string why = etcd_refusal("etcd://" + endless.address());
  EXPECT_NE(why.find("a reply of more than 256 MiB"), std::string::npos) << why;
}

}  // namespace
}  // namespace latchkey::tests
