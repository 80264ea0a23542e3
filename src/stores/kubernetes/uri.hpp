// The URI of the Leases in a namespace of Kubernetes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#include "backend/uri/tls_options.hpp"
#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// How a pod finds the API server, by environment variables and by files that the kubelet keeps.
struct PodEnvironment {
  std::string host, port;  ///< KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; empty: no pod
  std::string folder;      ///< of the service account: the files token, ca.crt and namespace

  /// That of this process.
  [[nodiscard]] static PodEnvironment current();
};

/// `k8s://namespace` in a pod, and `k8s://namespace?server=https://host:6443&token_file=…&tls_ca=…`
/// elsewhere. Without a namespace it is that of the pod.
struct KubernetesUri {
  std::string name_space;
  std::string server;      ///< as in the URI; empty: that of the pod
  UriEndpoint endpoint;    ///< of the server
  std::string token_file;  ///< read again when it has changed; empty: no token is sent
  TlsOptions tls;          ///< offered: the server is https://

  /// Throws std::invalid_argument with one sentence.
  [[nodiscard]] static KubernetesUri parse(std::string_view text) {
    return parse(text, PodEnvironment::current());
  }
  [[nodiscard]] static KubernetesUri parse(std::string_view text, const PodEnvironment& pod);
  [[nodiscard]] std::string describe() const;
};

}  // namespace latchkey::inline v1::detail::kubernetes
