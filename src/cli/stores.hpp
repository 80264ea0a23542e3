// The stores that the tool was built with.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace latchkey::inline v1::cli {

/// Registers the schemes of all stores that were found when the tool was built.
void register_stores();

}  // namespace latchkey::inline v1::cli
