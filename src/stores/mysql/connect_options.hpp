// How a connection is made: by the URI alone.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mysql.h>

#include "stores/mysql/connection.hpp"
#include "stores/mysql/uri.hpp"

namespace latchkey::inline v1::detail::mysql {

/// Sets what Connector/C would otherwise decide by itself: that localhost is a Unix socket, the
/// user, which plugin a server may ask for, and that a server without TLS gets everything in the
/// clear. A user that the URI lacks is added to it. The error, if there is one, is that of a file
/// that cannot be read.
[[nodiscard]] SqlError set_options(MYSQL* mysql, MysqlUri& uri);

}  // namespace latchkey::inline v1::detail::mysql
