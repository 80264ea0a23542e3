// The backend for the processes of one machine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

namespace latchkey::inline v1::detail::host {

/// Opens the segment of `host:name` or `host:/path`, or makes it. Throws std::invalid_argument if
/// the URI is malformed, and BackendRefused if the segment cannot be used; each with one sentence.
[[nodiscard]] std::unique_ptr<Backend> make_host_backend(std::string_view uri,
                                                         const Options& options);

}  // namespace latchkey::inline v1::detail::host
