// Examines a segment, and puts a new one in its place.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include "host/segment/segment_file.hpp"

namespace latchkey::inline v1::detail::host {

/// The contradictions in the segment, each as a clause; empty: there are none. Waits for the
/// segment's lock, and changes nothing, except that it undoes a change whose process is dead.
/// Throws Unusable.
[[nodiscard]] std::vector<std::string> check_segment(const SegmentPlace& place);

/// Puts a new segment in the place of one that is damaged. Its processes find each of their holds
/// lost. Fencing tokens go on. Throws Unusable.
void replace_segment(const SegmentPlace& place);

}  // namespace latchkey::inline v1::detail::host
