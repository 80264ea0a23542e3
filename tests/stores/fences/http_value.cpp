// A value that a service keeps: examples/fenced_service.cpp.
#include <cstddef>
#include <istream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include <latchkey/fence.hpp>

#include "stores/fences/resource.hpp"

namespace latchkey::tests {
namespace {

struct Reply {
  int status = 0;
  std::string text;
};

class HttpValue : public Resource {
 public:
  explicit HttpValue(const std::string& where)
      : port_(where.substr(0, where.find('/'))), path_(where.substr(where.find('/')) + "/42") {}

  std::string read() override { return send("GET " + path_).text; }
  void write(const std::string& value, const std::optional<Fence>& fence) override {
    const Reply reply = send("PUT " + path_ + "/" + value,
                             fence ? "Latchkey-Fence: " + fence->text() + "\r\n" : "");
    if (reply.status == 412) throw RejectedByService(reply.text);
    if (reply.status != 200) throw std::runtime_error(reply.text);
  }

 private:
  Reply send(const std::string& request, const std::string& headers = {}) const {
    boost::asio::ip::tcp::iostream stream("127.0.0.1", port_);
    stream << request << " HTTP/1.1\r\n" << headers << "\r\n" << std::flush;
    Reply reply;
    std::string word, line;
    std::size_t length = 0;
    stream >> word >> reply.status;
    std::getline(stream, line);
    stream >> word >> length;
    std::getline(stream, line);
    std::getline(stream, line);
    reply.text.resize(length);
    stream.read(reply.text.data(), static_cast<std::streamsize>(length));
    if (!stream) throw std::runtime_error("the service on port " + port_ + " does not answer");
    return reply;
  }

  std::string port_, path_;
};

}  // namespace

std::unique_ptr<Resource> open_http_value(const std::string& where) {
  return std::make_unique<HttpValue>(where);
}

}  // namespace latchkey::tests
