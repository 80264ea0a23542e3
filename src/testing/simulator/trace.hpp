// The record of everything that happened in a simulation.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::sim {

/// A hash of all that happened, and on request also its text. Two runs are equal if their hashes
/// are equal; a seed that fails is run again for the text.
class Trace {
 public:
  explicit Trace(bool keeps_text) noexcept : keeps_text_(keeps_text) {}

  void note(Clock::duration at, std::uint32_t client, std::string_view what,
            std::string_view detail = {}, std::uint64_t id = 0, std::int64_t value = 0) {
    mix(static_cast<std::uint64_t>(at.count()));
    mix((std::uint64_t{client} << 32) + what.size() + detail.size() * 256);
    for (std::string_view text : {what, detail}) {
      for (char letter : text) hash_ = (hash_ ^ static_cast<unsigned char>(letter)) * prime;
    }
    mix(id);
    mix(static_cast<std::uint64_t>(value));
    if (keeps_text_) write(at, client, what, detail, id, value);
  }

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a's

  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * prime;
    hash_ ^= hash_ >> 29;
  }

  void write(Clock::duration at, std::uint32_t client, std::string_view what,
             std::string_view detail, std::uint64_t id, std::int64_t value) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(at).count();
    std::string time = std::to_string(micros);
    if (time.size() < 10) time.insert(0, 10 - time.size(), ' ');
    text_ += time + " us  c" + std::to_string(client) + "  ";
    text_ += what;
    if (!detail.empty()) (text_ += ' ') += detail;
    if (id != 0) text_ += " #" + std::to_string(id);
    if (value != 0) text_ += " " + std::to_string(value);
    text_ += '\n';
  }

  std::uint64_t hash_ = 0xcbf29ce484222325;  // FNV-1a's
  bool keeps_text_;
  std::string text_;
};

}  // namespace latchkey::inline v1::sim
