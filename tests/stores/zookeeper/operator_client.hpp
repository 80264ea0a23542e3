// Another client of the server, which deletes nodes and writes into them as an operator does.
#pragma once

#include <zookeeper/zookeeper.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "zookeeper_server.hpp"

namespace latchkey::tests {

class OperatorClient {
 public:
  explicit OperatorClient(const ZooKeeperServer& server)
      : handle_(::zookeeper_init2(server.address().c_str(), nullptr, 10'000, nullptr, nullptr,
                                  ZOO_NO_LOG_CLIENTENV, [](const char*) {})) {
    if (handle_ == nullptr) throw std::runtime_error("no handle");
    while (::zoo_state(handle_.get()) != ZOO_CONNECTED_STATE) drive();
  }

  void remove(const std::string& path) {
    await([&](const void* result) {
      return ::zoo_adelete(handle_.get(), path.c_str(), -1, done, result);
    });
  }
  void write(const std::string& path, const std::string& data) {
    await([&](const void* result) {
      constexpr auto written = [](int code, const Stat*, const void* to) { done(code, to); };
      return ::zoo_aset(handle_.get(), path.c_str(), data.data(), static_cast<int>(data.size()), -1,
                        written, result);
    });
  }

 private:
  struct Closes {
    void operator()(zhandle_t* handle) const noexcept { ::zookeeper_close(handle); }
  };
  using Result = std::optional<int>;

  static void done(int code, const void* result) {
    *static_cast<Result*>(const_cast<void*>(result)) = code;
  }
  /// libzookeeper_st waits for nothing itself, so this polls.
  void drive() {
    int descriptor = -1, interest = 0;
    timeval wait{};
    ::zookeeper_interest(handle_.get(), &descriptor, &interest, &wait);
    ::zookeeper_process(handle_.get(), interest);
  }
  template <class Begin>
  void await(Begin&& begin) {
    Result result;
    begin(&result);
    while (!result) drive();
    if (*result != ZOK) throw std::runtime_error(::zerror(*result));
  }

  std::unique_ptr<zhandle_t, Closes> handle_;
};

}  // namespace latchkey::tests
