// Reads the URI of the Leases in a namespace of Kubernetes.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/uri.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/uri/uri_options.hpp"
#include "stores/kubernetes/lease_name.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

constexpr UriSyntax syntax("k8s", "k8s://billing");
constexpr std::string_view scheme = "k8s://", plain = "http://", secure = "https://";
constexpr std::uint16_t plain_port = 80, secure_port = 443;

constexpr std::array uri_options{
    KnownOption<KubernetesUri>{"server", &store_value<&KubernetesUri::server>},
    KnownOption<KubernetesUri>{"token_file", &store_value<&KubernetesUri::token_file>},
    tls_ca<KubernetesUri>,
    tls_cert<KubernetesUri>,
    tls_key<KubernetesUri>,
    tls_server_name<KubernetesUri>,
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Whether the options of a URI say that the server is one without TLS. These come before `server`
/// is read, which may be anywhere among them.
bool is_plain(std::string_view options) {
  for (const UriOption& option : syntax.options(options)) {
    if (option.name == "server") return syntax.decoded(option.value, "server").starts_with(plain);
  }
  return false;
}

void read_server(KubernetesUri& uri) {
  const std::string& server = uri.server;
  constexpr std::string_view expected = "https://host:port";
  const bool is_secure = server.starts_with(secure);
  if (!is_secure && !server.starts_with(plain)) syntax.refuse_value("server", server, expected);
  std::string_view place = server;
  place.remove_prefix(is_secure ? secure.size() : plain.size());
  while (place.ends_with('/')) place.remove_suffix(1);
  if (place.find_first_of("/?#@,") != std::string_view::npos) {
    syntax.refuse_value("server", server, expected);
  }
  uri.endpoint = syntax.endpoint(place, is_secure ? secure_port : plain_port);
  if (!is_secure && !is_loopback(uri.endpoint.host)) {
    throw std::invalid_argument(
        "the option 'server' of the k8s URI is " + in_quotes(server) +
        ", which would send the token in the clear; expected https://, or http:// with 127.0.0.1");
  }
}

void use_pod(KubernetesUri& uri, const PodEnvironment& pod) {
  if (pod.host.empty()) {
    throw std::invalid_argument(
        "the k8s URI names no server, and this process runs in no pod: KUBERNETES_SERVICE_HOST is "
        "not set; outside of a cluster write k8s://" +
        (uri.name_space.empty() ? "namespace" : uri.name_space) +
        "?server=https://host:6443&token_file=…&tls_ca=…");
  }
  const std::string port = pod.port.empty() ? std::to_string(secure_port) : pod.port;
  const bool is_ipv6 = pod.host.find(':') != std::string::npos;
  uri.endpoint =
      syntax.endpoint((is_ipv6 ? "[" + pod.host + "]" : pod.host) + ":" + port, secure_port);
  if (uri.token_file.empty()) uri.token_file = pod.folder + "/token";
  if (uri.tls.ca.empty()) uri.tls.ca = pod.folder + "/ca.crt";
}

}  // namespace

PodEnvironment PodEnvironment::current() {
  return {variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"),
          "/var/run/secrets/kubernetes.io/serviceaccount"};
}

KubernetesUri KubernetesUri::parse(std::string_view text, const PodEnvironment& pod) {
  KubernetesUri uri;
  text.remove_prefix(scheme.size());
  const UriParts parts = syntax.split(text);
  uri.name_space = parts.hosts;
  if (!parts.user.empty() || !parts.password.empty()) {
    throw std::invalid_argument(
        "the k8s URI has a user; expected k8s://namespace, and a token in the file of token_file");
  }
  if (parts.path.size() > 1) {
    throw std::invalid_argument("the k8s URI has the path " + in_quotes(parts.path) +
                                "; expected k8s://namespace and options after a '?'");
  }
  if (parts.has_options && is_plain(parts.options)) uri.tls.missing_scheme = "server=https://";
  read_options(syntax, parts, uri_options, uri);
  uri.server.empty() ? use_pod(uri, pod) : read_server(uri);
  uri.tls.complete(syntax);
  if (uri.name_space.empty()) uri.name_space = text_of(pod.folder + "/namespace");
  if (uri.name_space.empty()) {
    throw std::invalid_argument(
        "the k8s URI names no namespace, and no service account does; expected k8s://namespace");
  }
  if (!is_label(uri.name_space)) {
    throw std::invalid_argument("the k8s URI names the namespace " + in_quotes(uri.name_space) +
                                "; expected at most 63 lower-case letters, digits and '-'");
  }
  return uri;
}

std::string KubernetesUri::describe() const {
  return std::string(scheme) + name_space + (server.empty() ? "" : "?server=" + server);
}

}  // namespace latchkey::inline v1::detail::kubernetes
