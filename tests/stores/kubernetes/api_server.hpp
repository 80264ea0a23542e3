// An API server of Kubernetes that keeps Leases in memory, for the tests of the store kubernetes.
#pragma once

#include <sys/eventfd.h>

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/file_descriptor.hpp"

namespace latchkey::tests {

/// A request that has arrived as a whole.
struct ApiCall {
  std::string method, path, query, token, body;
  [[nodiscard]] bool is_watch() const { return query.find("watch=true") != std::string::npos; }
};

/// The answer to a call; status 0: there is none.
struct ApiAnswer {
  int status = 200;
  std::string body{};
  std::string retry_after{};
};

/// Speaks HTTP/2 without TLS on a free port of 127.0.0.1, in a thread of its own. It serves the
/// Leases of one namespace as Kubernetes does: versions, conflicts, lists, and watches that begin
/// with the state.
class ApiServer {
 public:
  using Json = nlohmann::json;
  /// Answers a call instead of the server; empty: the server does.
  using Rule = std::function<std::optional<ApiAnswer>(const ApiCall&)>;

  ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;
  ~ApiServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string uri(const std::string& options = {}) const {
    return "k8s://shop?server=http://127.0.0.1:" + std::to_string(port_) + options;
  }

  /// The Lease; null: there is none.
  [[nodiscard]] Json lease(const std::string& name);
  /// Another client writes this spec.
  void write(const std::string& name, const Json& spec);
  void remove(const std::string& name);
  /// From now on `rule` is asked first.
  void set_rule(Rule rule);
  /// How many calls of this method have arrived, watches aside.
  [[nodiscard]] int calls(const std::string& method);
  [[nodiscard]] int watches();
  /// Ends all watches, as the server does after some minutes; first `line` is sent.
  void end_watches(const std::string& line = {});
  /// Sends a line to all watches.
  void send_to_watches(const std::string& line);
  /// Breaks all connections. While it is down, it accepts none.
  void go_down();
  void come_back();
  /// The answer that a real API server gives to a request that RBAC does not allow.
  [[nodiscard]] static ApiAnswer forbidden(const std::string& verb);
  [[nodiscard]] static ApiAnswer failed(int status, const std::string& reason,
                                        const std::string& message, const std::string& kind = {});

 private:
  struct Client;
  struct Stream {
    ApiCall call;
    std::string output;
    bool endless = false, ended = false;
  };

  void serve(const std::stop_token& stop);
  /// Runs `work` in the server's thread, and waits for it.
  void run(const std::function<void()>& work);
  bool receive(Client& client);
  void flush(Client& client);
  void accept();
  void on_call(Client& client, std::int32_t stream);
  void respond(Client& client, std::int32_t stream, const ApiAnswer& answer, bool endless);
  [[nodiscard]] ApiAnswer answer(const ApiCall& call);
  [[nodiscard]] ApiAnswer stored(const std::string& name, Json object, int status);
  void publish(const std::string& type, const Json& lease);

  friend struct ApiCallbacks;

  std::map<std::string, Json> leases_;
  std::int64_t version_ = 100;
  Rule rule_;
  std::map<std::string, int> calls_;
  int watches_ = 0;
  std::uint16_t port_ = 0;
  detail::FileDescriptor listening_, doorbell_;
  std::list<std::unique_ptr<Client>> clients_;
  std::mutex mutex_;
  std::vector<std::packaged_task<void()>> tasks_;  ///< guarded by mutex_
  std::jthread thread_;
};

}  // namespace latchkey::tests
