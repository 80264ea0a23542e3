// An API server of Kubernetes that keeps Leases in memory, over libnghttp2.
// tidy: long-file because the server and what libnghttp2 calls have the streams in common
#include "api_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "support/servers/loopback.hpp"

namespace latchkey::tests {

struct ApiServer::Client {
  ApiServer* server = nullptr;
  detail::FileDescriptor socket;
  nghttp2_session* session = nullptr;
  std::map<std::int32_t, Stream> streams{};

  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::nghttp2_session_del(session); }
};

/// The functions that libnghttp2 calls.
struct ApiCallbacks {
  using Client = ApiServer::Client;

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    ApiCall& call = static_cast<Client*>(user)->streams[frame->hd.stream_id].call;
    const std::string field(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (field == ":method") call.method = text;
    if (field == "authorization") call.token = text;
    if (field == ":path") {
      call.path = text.substr(0, text.find('?'));
      if (call.path.size() < text.size()) call.query = text.substr(call.path.size() + 1);
    }
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    static_cast<Client*>(user)->streams[stream].call.body.append(
        reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!carries || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    auto& client = *static_cast<Client*>(user);
    client.server->on_call(client, frame->hd.stream_id);
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
    static_cast<Client*>(user)->streams.erase(stream);
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& stream = *static_cast<ApiServer::Stream*>(source->ptr);
    const std::size_t length = std::min(size, stream.output.size());
    std::copy_n(stream.output.data(), length, reinterpret_cast<char*>(to));
    stream.output.erase(0, length);
    const bool is_over = stream.output.empty() && (!stream.endless || stream.ended);
    if (is_over) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (length == 0 && !is_over) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(length);
  }
};

ApiServer::ApiServer() : doorbell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  listening_ = detail::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  port_ = listen_on_loopback(listening_.get());
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

ApiServer::~ApiServer() {
  thread_.request_stop();
  static_cast<void>(::eventfd_write(doorbell_.get(), 1));
}

void ApiServer::run(const std::function<void()>& work) {
  std::packaged_task<void()> task(work);
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  static_cast<void>(::eventfd_write(doorbell_.get(), 1));
  done.get();
}

void ApiServer::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> wanted{{.fd = doorbell_.get(), .events = POLLIN, .revents = 0},
                               {.fd = listening_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& each : clients_) {
      wanted.push_back({.fd = each->socket.get(), .events = POLLIN, .revents = 0});
    }
    if (::poll(wanted.data(), wanted.size(), -1) < 0) continue;
    std::size_t at = 2;
    for (auto client = clients_.begin(); client != clients_.end();) {
      const auto one = client++;
      if (wanted[at++].revents != 0 && !receive(**one)) clients_.erase(one);
    }
    if (wanted[1].revents != 0) accept();
    eventfd_t ignored = 0;
    static_cast<void>(::eventfd_read(doorbell_.get(), &ignored));
    std::vector<std::packaged_task<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (auto& task : tasks) task();
    for (const auto& each : clients_) flush(*each);
  }
}

void ApiServer::accept() {
  detail::FileDescriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.valid()) return;
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto client = std::make_unique<Client>();
  client->server = this;
  client->socket = std::move(socket);
  nghttp2_session_callbacks* callbacks = nullptr;
  ::nghttp2_session_callbacks_new(&callbacks);
  ::nghttp2_session_callbacks_set_on_header_callback(callbacks, &ApiCallbacks::header);
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &ApiCallbacks::data);
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &ApiCallbacks::frame);
  ::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &ApiCallbacks::closed);
  ::nghttp2_session_server_new(&client->session, callbacks, client.get());
  ::nghttp2_session_callbacks_del(callbacks);
  ::nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, nullptr, 0);
  clients_.push_back(std::move(client));
}

bool ApiServer::receive(Client& client) {
  char part[16'384];
  const ssize_t size = ::recv(client.socket.get(), part, sizeof part, MSG_DONTWAIT);
  if (size <= 0) return false;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(part);
  return ::nghttp2_session_mem_recv(client.session, bytes, static_cast<std::size_t>(size)) >= 0;
}

void ApiServer::flush(Client& client) {
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = ::nghttp2_session_mem_send(client.session, &bytes);
    if (size <= 0) return;
    ssize_t sent = 0;
    while (sent < size) {
      const ssize_t now = ::send(client.socket.get(), bytes + sent,
                                 static_cast<std::size_t>(size - sent), MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += now;
    }
  }
}

void ApiServer::on_call(Client& client, std::int32_t stream) {
  const ApiCall call = client.streams[stream].call;
  call.is_watch() ? ++watches_ : ++calls_[call.method];
  if (rule_) {
    if (const auto ruled = rule_(call)) {
      if (ruled->status != 0) respond(client, stream, *ruled, false);
      return;
    }
  }
  respond(client, stream, answer(call), call.is_watch());
}

void ApiServer::respond(Client& client, std::int32_t stream, const ApiAnswer& answer,
                        bool endless) {
  Stream& its = client.streams[stream];
  its.output = answer.body;
  its.endless = endless;
  const std::string status = std::to_string(answer.status);
  const auto header = [](std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  };
  std::vector<nghttp2_nv> headers{header(":status", status),
                                  header("content-type", "application/json")};
  if (!answer.retry_after.empty()) headers.push_back(header("retry-after", answer.retry_after));
  nghttp2_data_provider provider{};
  provider.source.ptr = &its;
  provider.read_callback = &ApiCallbacks::read;
  ::nghttp2_submit_response(client.session, stream, headers.data(), headers.size(), &provider);
}

ApiAnswer ApiServer::failed(int status, const std::string& reason, const std::string& message,
                            const std::string& kind) {
  const Json body{{"kind", "Status"},   {"apiVersion", "v1"}, {"status", "Failure"},
                  {"message", message}, {"reason", reason},   {"details", {{"kind", kind}}},
                  {"code", status}};
  return {status, body.dump(), {}};
}

ApiAnswer ApiServer::forbidden(const std::string& verb) {
  return failed(403, "Forbidden",
                "leases.coordination.k8s.io is forbidden: User \"system:serviceaccount:shop:bank\" "
                "cannot " +
                    verb +
                    " resource \"leases\" in API group \"coordination.k8s.io\" in "
                    "the namespace \"shop\"",
                "leases");
}

ApiAnswer ApiServer::answer(const ApiCall& call) {
  const std::string api = "/apis/coordination.k8s.io/v1";
  const std::string folder = api + "/namespaces/shop/leases";
  if (call.path == api) return {200, R"({"kind":"APIResourceList"})", {}};
  if (!call.path.starts_with(folder)) {
    return failed(404, "NotFound", "namespaces \"other\" not found", "namespaces");
  }
  const std::string name =
      call.path.size() > folder.size() ? call.path.substr(folder.size() + 1) : std::string();
  const auto found = leases_.find(name);
  if (call.method == "GET" && name.empty()) {
    ApiAnswer all;
    Json list{{"kind", "LeaseList"}, {"metadata", {{"resourceVersion", std::to_string(version_)}}}};
    list["items"] = Json::array();
    for (const auto& [each, lease] : leases_) {
      list["items"].push_back(lease);
      all.body += Json{{"type", "ADDED"}, {"object", lease}}.dump() + "\n";
    }
    if (!call.is_watch()) all.body = list.dump();
    return all;
  }
  const Json body = Json::parse(call.body, nullptr, false);
  if (call.method == "POST") {
    const std::string made = body["metadata"]["name"];
    if (!leases_.contains(made)) return stored(made, body, 201);
    return failed(409, "AlreadyExists", "leases \"" + made + "\" already exists", "leases");
  }
  if (found == leases_.end()) {
    return failed(404, "NotFound", "leases \"" + name + "\" not found", "leases");
  }
  if (call.method == "GET") return {200, found->second.dump(), {}};
  const bool is_current =
      body["metadata"]["resourceVersion"] == found->second["metadata"]["resourceVersion"];
  if (is_current) return stored(name, body, 200);
  return failed(409, "Conflict", "the object has been modified", "leases");
}

// An update that changes nothing makes no version.
ApiAnswer ApiServer::stored(const std::string& name, Json object, int status) {
  Json& kept = leases_[name];
  const bool is_new = kept.is_null();
  if (kept != object) {
    object["metadata"]["namespace"] = "shop";
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    kept = std::move(object);
    publish(is_new ? "ADDED" : "MODIFIED", kept);
  }
  return {status, kept.dump(), {}};
}

void ApiServer::publish(const std::string& type, const Json& lease) {
  const std::string line = Json{{"type", type}, {"object", lease}}.dump() + "\n";
  for (const auto& client : clients_) {
    for (auto& [id, stream] : client->streams) {
      if (!stream.endless) continue;
      stream.output += line;
      ::nghttp2_session_resume_data(client->session, id);
    }
  }
}

ApiServer::Json ApiServer::lease(const std::string& name) {
  Json found;
  run([&] {
    if (const auto kept = leases_.find(name); kept != leases_.end()) found = kept->second;
  });
  return found;
}

void ApiServer::write(const std::string& name, const Json& spec) {
  run([&] {
    Json object = leases_.contains(name)
                      ? leases_[name]
                      : Json{{"apiVersion", "coordination.k8s.io/v1"},
                             {"kind", "Lease"},
                             {"metadata", {{"name", name}, {"annotations", {{"team", "shop"}}}}}};
    object["spec"] = spec;
    static_cast<void>(stored(name, object, 200));
  });
}

void ApiServer::remove(const std::string& name) {
  run([&] {
    const auto found = leases_.find(name);
    if (found == leases_.end()) return;
    Json last = found->second;
    last["metadata"]["resourceVersion"] = std::to_string(++version_);
    leases_.erase(found);
    publish("DELETED", last);
  });
}

void ApiServer::set_rule(Rule rule) {
  run([&] { rule_ = std::move(rule); });
}

int ApiServer::calls(const std::string& method) {
  int count = 0;
  run([&] { count = calls_[method]; });
  return count;
}

int ApiServer::watches() {
  int count = 0;
  run([&] { count = watches_; });
  return count;
}

void ApiServer::send_to_watches(const std::string& line) {
  run([&] {
    for (const auto& client : clients_) {
      for (auto& [id, stream] : client->streams) {
        if (!stream.endless) continue;
        stream.output += line + "\n";
        ::nghttp2_session_resume_data(client->session, id);
      }
    }
  });
}

void ApiServer::end_watches(const std::string& line) {
  if (!line.empty()) send_to_watches(line);
  run([&] {
    for (const auto& client : clients_) {
      for (auto& [id, stream] : client->streams) {
        stream.ended = true;
        if (stream.endless) ::nghttp2_session_resume_data(client->session, id);
      }
    }
  });
}

void ApiServer::go_down() {
  run([&] {
    clients_.clear();
    listening_.reset();
  });
}

void ApiServer::come_back() {
  run([&] {
    listening_ = detail::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(listening_.get(), plain, sizeof address) != 0 ||
        ::listen(listening_.get(), 8) != 0) {
      throw std::runtime_error("the port is taken");
    }
  });
}

}  // namespace latchkey::tests
