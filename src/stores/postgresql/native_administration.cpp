// Reads the rows of inspect and list.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/native_administration.hpp"

#include <algorithm>
#include <limits>

#include "stores/postgresql/layout.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

void append_literally(std::string& expression, char one) {
  const auto code = static_cast<unsigned char>(one);
  const bool plain = code >= 0x80 || (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') ||
                     (one >= 'A' && one <= 'Z') || one == '_';
  if (!plain) expression += '\\';
  expression += one;
}

/// Appends the set that begins after `[`, and returns where it ends.
std::size_t append_set(std::string& expression, std::string_view glob, std::size_t at) {
  expression += '[';
  if (at < glob.size() && glob[at] == '^') {
    expression += '^';
    ++at;
  }
  const std::size_t before = expression.size();
  for (; at < glob.size() && glob[at] != ']'; ++at) {
    if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
    if (glob[at] == '-') {
      expression += '-';
    } else {
      append_literally(expression, glob[at]);
    }
  }
  if (expression.size() == before) expression += "\\x01";  // no key matches an empty set
  expression += ']';
  return at;
}

/// How many holders of a semaphore an inspection reports at most.
constexpr std::size_t most_holders = 1'000;
/// Sums and differences of such numbers are numbers.
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;

LockType type_of(std::string_view mode) noexcept {
  if (mode == "p") return LockType::PERMIT;
  if (mode == "r") return LockType::READ;
  return mode == "w" ? LockType::WRITE : LockType::REENTRANT;
}

}  // namespace

std::string glob_expression(std::string_view glob) {
  std::string expression = "^";
  for (std::size_t at = 0; at < glob.size(); ++at) {
    if (glob[at] == '*') {
      expression += ".*";
    } else if (glob[at] == '?') {
      expression += '.';
    } else if (glob[at] == '[') {
      at = append_set(expression, glob, at + 1);
    } else {
      if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
      append_literally(expression, glob[at]);
    }
  }
  return expression += '$';
}

void read_inspect(const Request& request, const PGresult* result) {
  if (request.info == nullptr) return;
  LockInfo& info = *request.info;
  info = {};
  info.key = request.key;
  std::int64_t total = 0, taken = 0;
  for (int row = 0; row < ::PQntuples(result); ++row) {
    const std::string_view kind = cell(result, row, 0), id = cell(result, row, 1);
    const std::int64_t number = std::clamp(number_in(cell(result, row, 3)), -most, most);
    if (kind == "q") {
      info.queue.emplace_back(id);
    } else if (kind == "s") {
      info.subscribers = static_cast<std::uint64_t>(number);
    } else if (cell(result, row, 2) == "s") {
      info.type = LockType::PERMIT;
      total = std::clamp(number_in(cell(result, row, 4)), std::int64_t{0}, most);
    } else {
      info.locked = true;
      const std::string_view mode = cell(result, row, 2);
      const std::int64_t token = number_in(cell(result, row, 4));
      info.type = type_of(mode);
      if (mode == "p") {
        taken += std::clamp(token, std::int64_t{0}, most - taken);
        if (info.holders.size() == most_holders) continue;
      } else if (token > 0) {
        info.fencing_token = static_cast<std::uint64_t>(token);
      }
      HolderInfo& holder = info.holders.emplace_back();
      holder.id = id;
      holder.left = time_of(number);
      holder.announced = cell(result, row, 5);
    }
  }
  if (total > 0) info.permits = PermitInfo{total - taken, total};
}

// The server's whole listing arrives at once, so there is one page.
void read_list(const Request& request, const PGresult* result) {
  if (request.names == nullptr) return;
  ListPart* const part = request.part;
  const bool awaited = part != nullptr && part->awaited;
  const int rows = ::PQntuples(result);
  std::uint32_t listed = 0;
  for (int row = 0; row < rows; ++row) {
    const std::string_view name = cell(result, row, 0);
    if (awaited && listed == part->budget) break;
    request.names->emplace_back(name);
    if (awaited) {
      part->waiters.push_back(static_cast<std::uint64_t>(number_in(cell(result, row, 1))));
    }
    ++listed;
  }
  if (part == nullptr) return;
  part->cursor = {};
  part->examined = part->total = static_cast<std::uint64_t>(rows);
}

}  // namespace latchkey::inline v1::detail::postgresql
