// Reads the rows of inspect and list.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/native_administration.hpp"

#include <optional>
#include <utility>

#include "core/text/glob.hpp"
#include "stores/mysql/native_permits.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using std::chrono::milliseconds;

/// Values of the column `what` of latchkey_inspect, beside the modes 1, 2 and 3 and those that
/// native_permits.cpp reads.
constexpr std::int64_t place_row = 4, fence_row = 5;

std::optional<milliseconds> time_left(std::string_view cell) {
  return std::chrono::floor<milliseconds>(std::chrono::microseconds(number_in(cell)));
}

}  // namespace

void read_info(LockInfo& info, std::string_view key, const Rows& rows) {
  info = LockInfo{};
  info.key = key;
  for (const auto& row : rows) {
    const std::int64_t what = number_in(row.at(0));
    if (what == fence_row) {
      info.fencing_token = token_in(row.at(3));
    } else if (what == place_row) {
      info.queue.push_back(row.at(1));
    } else if (is_of_semaphore(what)) {
      read_permits(info, what, row);
    } else {
      info.locked = true;
      info.type = what == 1 ? LockType::REENTRANT : what == 2 ? LockType::WRITE : LockType::READ;
      HolderInfo holder;
      holder.id = row.at(1);
      holder.left = time_left(row.at(2));
      info.holders.push_back(std::move(holder));
    }
  }
}

// There is one page: a release between two of them would move the rows of other keys to the page
// before, which has been read.
void read_list(const Request& request, const Rows& rows) {
  for (const auto& row : rows) {
    const std::string& name = row.at(0);
    if (row.at(1) == "1" && glob_matches(request.key, name)) request.names->push_back(name);
  }
  ListPart* const part = request.part;
  if (part == nullptr) return;
  part->cursor = {};
  part->examined = part->total = rows.size();
}

}  // namespace latchkey::inline v1::detail::mysql
