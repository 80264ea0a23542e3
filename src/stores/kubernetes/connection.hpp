// The connection to the API server of Kubernetes: token, check, requests.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backend/connection/made_of_files.hpp"
#include "stores/http2/http_connection.hpp"
#include "stores/kubernetes/uri.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// A server can be used once it has said that it has the API of Leases, and knows this client.
class ApiConnection final : public http2::HttpConnection {
 public:
  /// As HttpConnection; also if there is no token in the URI's file.
  ApiConnection(const KubernetesUri& uri, stores::DescriptorSet& descriptors, Clock& clock,
                std::chrono::milliseconds timeout, std::function<void(bool up)> on_change);

  [[nodiscard]] const std::string& name_space() const noexcept { return name_space_; }

  /// Only while the link is up. `path` follows that of the namespace's Leases, such as "/name".
  void get(const std::string& path, http2::OnHttpEnd on_end);
  void write(std::string_view method, const std::string& path, std::string body,
             http2::OnHttpEnd on_end);
  http2::RequestId open_stream(const std::string& path, http2::OnHttpData on_data,
                               http2::OnHttpEnd on_end);

 private:
  void check() override;
  void on_checked(const http2::HttpEnd& end);
  [[nodiscard]] http2::HttpRequest prepared(std::string_view method, std::string_view path);

  const std::string name_space_, leases_path_;
  const bool has_certificate_;
  std::optional<MadeOfFiles<std::string>> credential_;  ///< empty: none is sent
};

}  // namespace latchkey::inline v1::detail::kubernetes
