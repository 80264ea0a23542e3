// Why there is no connection to PostgreSQL, in words.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include "backend/connection/failure.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// `message`: libpq's with PQERRORS_SQLSTATE, so that the server's words, which contain the user,
/// are not in it.
[[nodiscard]] ConnectionFailure connect_failure(std::string_view message);

}  // namespace latchkey::inline v1::detail::postgresql
