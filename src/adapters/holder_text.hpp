// Taking apart the text that names a lock's holder.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace latchkey::inline v1::detail {

/// The parts of the text of Event::holder, as far as it has them.
struct HolderText {
  std::string_view method{};  ///< "Bank::deposit"
  std::string_view host{};    ///< "web-3"
  std::optional<std::int64_t> process{};
  bool is_of_this_process = false;  ///< then the text has neither host nor process
};

/// Reads "Bank::deposit (bank.cpp:12), owner 3 of this process (thread 4711), for 12 ms" and what a
/// holder announces, "Bank::deposit (bank.cpp:12) on web-3, process 7 (bank), since …". Of all
/// other texts, such as the id of a hold, it says nothing.
inline HolderText parse_holder(std::string_view text) {
  constexpr std::string_view of_this = " of this process", before_process = ", process ",
                             before_host = " on ", nobody = "a program";
  HolderText found;
  std::string_view place;
  if (text.find(of_this) != std::string_view::npos) {
    found.is_of_this_process = true;
    const std::size_t owner = text.find(", owner ");
    if (owner != std::string_view::npos) place = text.substr(0, owner);
  } else if (const std::size_t process = text.find(before_process);
             process != std::string_view::npos) {
    const std::size_t host = text.rfind(before_host, process);
    if (host == std::string_view::npos) return found;
    place = text.substr(0, host);
    found.host = text.substr(host + before_host.size(), process - host - before_host.size());
    const std::string_view number = text.substr(process + before_process.size());
    std::int64_t read = 0;
    const auto end = std::from_chars(number.data(), number.data() + number.size(), read);
    if (end.ec == std::errc()) found.process = read;
  }
  if (place != nobody) found.method = place.substr(0, place.rfind(" ("));
  return found;
}

}  // namespace latchkey::inline v1::detail
