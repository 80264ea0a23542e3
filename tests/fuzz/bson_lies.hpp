// Documents of BSON with fields that are missing, twice, or of a type and a value that neither
// MongoDB nor latchkey writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "fuzz/moves.hpp"
#include "stores/mongodb/bson.hpp"

namespace latchkey::fuzz {

/// Elements of BSON as their bytes, which may have any type and any length.
namespace bson_bytes {

constexpr char floating = 1, text = 2, embedded = 3, array = 4, flag = 8, date = 9, null = 10,
               int32 = 16, int64 = 18;

template <class Number>
std::string little_endian(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// A value with its type.
struct Value {
  char type;
  std::string bytes;
};

inline Value of_text(std::string_view content) {
  return {text, little_endian(static_cast<std::int32_t>(content.size() + 1)) +
                    std::string(content) + '\0'};
}
inline Value of_int32(std::int32_t value) { return {int32, little_endian(value)}; }
inline Value of_int64(std::int64_t value) { return {int64, little_endian(value)}; }
inline Value of_date(std::int64_t value) { return {date, little_endian(value)}; }
inline Value of_double(double value) { return {floating, little_endian(value)}; }
inline Value of_flag(bool value) { return {flag, std::string(1, value ? '\1' : '\0')}; }

inline std::string element(std::string_view name, const Value& value) {
  return value.type + std::string(name) + '\0' + value.bytes;
}
inline std::string document(const std::string& elements) {
  return little_endian(static_cast<std::int32_t>(elements.size() + 5)) + elements + '\0';
}

}  // namespace bson_bytes

/// Makes elements and documents as the fuzzer's input says.
class BsonLies {
 public:
  explicit BsonLies(Moves& moves) : moves_(moves) {}

 protected:
  using Value = bson_bytes::Value;

  bool rarely(std::size_t bound) { return moves_.below(bound) == bound - 1; }
  bool lies(std::size_t bound) { return !is_honest_ && rarely(bound); }

  std::int64_t moment() {
    const std::array<std::int64_t, 14> moments{now_,
                                               now_,
                                               now_ - 1,
                                               now_ + 1,
                                               now_ - 40'000,
                                               now_ + 40'000,
                                               0,
                                               -1,
                                               detail::mongodb::Date::latest,
                                               detail::mongodb::Date::latest + 1,
                                               -detail::mongodb::Date::latest,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min(),
                                               now_ + 1'000};
    return moments[moves_.below(moments.size())];
  }
  std::int64_t amount() {
    static constexpr std::array<std::int64_t, 12> amounts{
        30'000,
        0,
        1,
        2,
        1'000,
        -1,
        std::int64_t{1} << 31,
        std::int64_t{1} << 53,
        std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::max() - (std::int64_t{1} << 33),
        std::numeric_limits<std::int64_t>::min(),
        1'700'000'000'000'000};
    return amounts[moves_.below(amounts.size())];
  }
  std::string words() {
    static constexpr std::array<std::string_view, 6> some{"WRITE", "READ", "REENTRANT",
                                                          "b",     "",     "isdbgrid"};
    const std::size_t which = moves_.below(some.size() + 3);
    if (which < some.size()) return std::string(some[which]);
    if (which == some.size()) return owner_;
    if (which == some.size() + 1) return key_;
    return std::string(moves_.bytes(moves_.below(12)));
  }
  Value any() {
    using namespace bson_bytes;
    switch (moves_.below(14)) {
      case 0: return of_text(words());
      case 1: return of_int32(static_cast<std::int32_t>(amount()));
      case 2: return of_int64(amount());
      case 3: return of_date(moment());
      case 4: {
        static constexpr std::array numbers{0.0,
                                            1.0,
                                            -1.0,
                                            0.5,
                                            1e18,
                                            1e300,
                                            30'000.0,
                                            std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
        return of_double(numbers[moves_.below(numbers.size())]);
      }
      case 5: return {null, {}};
      case 6: return of_flag(moves_.below(2) == 0);
      case 7: return {embedded, document({})};
      case 8: return {array, document({})};
      case 9: return {array, document(element("0", of_int32(1)))};
      case 10: return {embedded, document(element("0", of_text(words())))};
      case 11: {  // binary data
        const std::string content(moves_.bytes(moves_.below(8)));
        return {5, little_endian(static_cast<std::int32_t>(content.size())) +
                       static_cast<char>(moves_.below(3)) + content};
      }
      case 12: return {static_cast<char>(19), std::string(16, '\1')};
      default: return {static_cast<char>(moves_.below(256)), std::string(moves_.bytes(8))};
    }
  }
  /// An element that may be missing, twice, or of another type.
  std::string field(std::string_view name, const Value& value) {
    const std::string good = bson_bytes::element(name, value);
    if (is_honest_) return good;
    switch (moves_.below(16)) {
      case 12: return {};
      case 13: return good + bson_bytes::element(name, any());
      case 14:
      case 15: return bson_bytes::element(name, any());
      default: return good;
    }
  }
  Value owner() {
    return bson_bytes::of_text(is_honest_ || moves_.below(3) > 0 ? owner_ : words());
  }
  std::string lock_document(const std::string& key) {
    using namespace bson_bytes;
    std::string all = field("_id", of_text(key));
    switch (moves_.below(6)) {
      case 0:
      case 1:
        all += field("owner", owner()) + field("type", of_text(words())) +
               field("since", of_date(is_honest_ ? now_ : moment())) +
               field("lease", of_int64(is_honest_ ? 30'000 : amount()));
        break;
      case 2:
      case 3: {
        std::string readers;
        for (std::size_t left = 1 + moves_.below(3); left > 0; --left) {
          readers += element(
              std::to_string(left),
              {embedded, document(field("owner", owner()) + field("ends", of_date(moment())))});
        }
        all += field("readers", {array, document(readers)});
        if (moves_.below(2) == 0) all += field("writer", of_date(moment()));
        break;
      }
      case 4: break;
      default: all += field("lockedBy", owner()) + field("lockUntil", of_date(moment())); break;
    }
    if (moves_.below(3) == 0) all += field("fence", of_int64(amount()));
    return document(all);
  }

  Moves& moves_;
  std::string owner_, key_;  ///< the request's owner and key
  std::int64_t now_ = 1'700'000'000'000;
  bool is_honest_ = false;  ///< the current reply is correct
};

}  // namespace latchkey::fuzz
