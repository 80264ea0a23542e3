// The keys that two translation units render from equal objects.
#pragma once

#include <string>
#include <utility>
#include <vector>

/// Templates and the keys made of them, in order.
using Rendered = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Compiled as C++20: fields by Boost.PFR and LATCHKEY_FIELDS.
Rendered keys_by_macros();
/// Compiled as C++26: fields by reflection, nothing declared.
Rendered keys_by_reflection();
