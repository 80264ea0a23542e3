// The connection to the API server of Kubernetes: token, check, requests.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/connection.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/kubernetes/api_reply.hpp"
#include "stores/kubernetes/lease.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

constexpr const char* api_path = "/apis/coordination.k8s.io/v1";
constexpr http2::HttpDialect dialect{{"k8s", "HTTP/2", "server=http://", "server=https://"},
                                     std::size_t{64} << 20U,
                                     {"retry-after"}};

/// The value of the header "authorization".
std::string read_credential(const std::string& path) {
  std::ifstream file(path);
  std::string token(std::istreambuf_iterator<char>(file), {});
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  const bool is_text =
      std::ranges::all_of(token, [](char byte) { return byte > ' ' && byte < 127; });
  if (token.empty() || !is_text) {
    throw std::invalid_argument("the option 'token_file' of the k8s URI names " + in_quotes(path) +
                                ", which cannot be used: there is no token in it");
  }
  return "Bearer " + token;
}

std::optional<MadeOfFiles<std::string>> credential_of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return MadeOfFiles<std::string>({path}, [path] { return read_credential(path); });
}

}  // namespace

ApiConnection::ApiConnection(const KubernetesUri& uri, stores::DescriptorSet& descriptors,
                             Clock& clock, std::chrono::milliseconds timeout,
                             std::function<void(bool up)> on_change)
    : HttpConnection({{uri.endpoint}, uri.tls, dialect}, descriptors, clock, timeout,
                     std::move(on_change)),
      name_space_(uri.name_space),
      leases_path_(std::string(api_path) + "/namespaces/" + uri.name_space + "/leases"),
      has_certificate_(!uri.tls.certificate.empty()),
      credential_(credential_of(uri.token_file)) {}

void ApiConnection::check() {
  http().request(prepared("GET", api_path), [this](http2::HttpEnd&& end) { on_checked(end); });
}

// Every user that is authenticated may read which APIs there are.
void ApiConnection::on_checked(const http2::HttpEnd& end) {
  const bool is_known = credential_ || has_certificate_;
  if (end.status == HttpStatus::ok || (end.status == HttpStatus::forbidden && is_known)) {
    return passed();
  }
  if (end.status == 0) return fail_here(end.text, end.nothing_listens);
  if (end.status == HttpStatus::forbidden) {
    return fail(
        {true, "the API server does not know this client; expected token_file, or tls_cert"});
  }
  if (end.status == HttpStatus::not_found && !read_status(end.body).reason.empty()) {
    return fail({true,
                 "the API server has no coordination.k8s.io/v1; expected Kubernetes 1.14 or "
                 "later"});
  }
  const std::string why = reason_of(end, {"get", name_space_});
  if (end.status == HttpStatus::unauthorized) return fail({true, why});
  fail_here(why);
}

http2::HttpRequest ApiConnection::prepared(std::string_view method, std::string_view path) {
  http2::HttpRequest request{
      .method = method, .path = path, .headers = {{"accept", "application/json"}}};
  if (credential_) request.headers.emplace_back("authorization", credential_->current());
  return request;
}

void ApiConnection::get(const std::string& path, http2::OnHttpEnd on_end) {
  const std::string whole = leases_path_ + path;
  http().request(prepared("GET", whole), std::move(on_end));
}

void ApiConnection::write(std::string_view method, const std::string& path, std::string body,
                          http2::OnHttpEnd on_end) {
  const std::string whole = leases_path_ + path;
  http2::HttpRequest request = prepared(method, whole);
  request.headers.emplace_back("content-type", "application/json");
  request.body = std::move(body);
  http().request(std::move(request), std::move(on_end));
}

http2::RequestId ApiConnection::open_stream(const std::string& path, http2::OnHttpData on_data,
                                            http2::OnHttpEnd on_end) {
  const std::string whole = leases_path_ + path;
  return http().open_stream(prepared("GET", whole), std::move(on_data), std::move(on_end));
}

}  // namespace latchkey::inline v1::detail::kubernetes
