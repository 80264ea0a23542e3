// The canonical text of a duration and of a point in time.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstring>

#include <latchkey/detail/reflect/made_text.hpp>

namespace latchkey::inline v1::reflect {
namespace {

// Holds the product of a 64-bit count and a 64-bit period.
__extension__ using Wide = unsigned __int128;

constexpr Wide seconds_in_a_day = 86400;

struct Writer {
  TimeText text{};

  void put(char byte) noexcept { text.bytes[text.size++] = byte; }

  /// Writes at least `width` digits.
  void put(Wide number, std::size_t width) noexcept {
    const std::size_t begin = text.size;
    do {
      put(static_cast<char>('0' + static_cast<int>(number % 10)));
      number /= 10;
    } while (number != 0 || text.size - begin < width);
    std::reverse(text.bytes + begin, text.bytes + text.size);
  }

  /// Writes `rest`/`parts` as a decimal fraction without trailing zeros; nothing for 0.
  void put_fraction(Wide rest, Wide parts) noexcept {
    if (rest == 0) return;
    put('.');
    while (rest != 0) {
      rest *= 10;
      put(static_cast<char>('0' + static_cast<int>(rest / parts)));
      rest %= parts;
    }
  }
};

struct Date {
  bool before_year_zero;
  Wide year;
  unsigned month;
  unsigned day;
};

// Days are counted from 1 March of a year that is a multiple of 400, so that a leap day comes last.
Date date_of(bool before_1970, Wide days) noexcept {
  constexpr Wide days_of_era = 146097;
  constexpr Wide from_march_0_to_1970 = 719468;
  // Days before 1970 are shifted by whole eras into the positive range, and the year is shifted
  // back.
  Wide eras_lifted = 0;
  Wide day = days + from_march_0_to_1970;
  if (before_1970) {
    eras_lifted = days / days_of_era + 1;
    day = eras_lifted * days_of_era + from_march_0_to_1970 - days;
  }
  const Wide era = day / days_of_era;
  const auto of_era = static_cast<unsigned>(day % days_of_era);
  const unsigned year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned from_march = (5 * of_year + 2) / 153;
  const unsigned month = from_march < 10 ? from_march + 3 : from_march - 9;
  const Wide year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
  const Wide lifted = eras_lifted * 400;
  return {year < lifted, year < lifted ? lifted - year : year - lifted, month,
          of_year - (153 * from_march + 2) / 5 + 1};
}

}  // namespace

TimeText duration_text(Ticks length) noexcept {
  Writer out;
  const Wide all = Wide{length.count} * length.seconds;
  if (length.negative) out.put('-');
  out.put(all / length.parts, 1);
  out.put_fraction(all % length.parts, length.parts);
  out.put('s');
  return out.text;
}

TimeText instant_text(Ticks since_1970) noexcept {
  Writer out;
  const Wide all = Wide{since_1970.count} * since_1970.seconds;
  Wide whole = all / since_1970.parts;
  Wide rest = all % since_1970.parts;
  Wide of_day = whole % seconds_in_a_day;
  Wide days = whole / seconds_in_a_day;
  if (since_1970.negative) {
    // Before 1970 the fraction and the time of day count backwards: each becomes its complement to
    // the next larger unit.
    if (rest != 0) {
      rest = since_1970.parts - rest;
      ++whole;
      of_day = whole % seconds_in_a_day;
      days = whole / seconds_in_a_day;
    }
    if (of_day != 0) {
      of_day = seconds_in_a_day - of_day;
      ++days;
    }
  }
  const Date date = date_of(since_1970.negative, days);
  if (date.before_year_zero) out.put('-');
  if (!date.before_year_zero && date.year > 9999) out.put('+');
  out.put(date.year, 4);
  out.put(date.month, 2);
  out.put(date.day, 2);
  out.put('T');
  out.put(of_day / 3600, 2);
  out.put(of_day / 60 % 60, 2);
  out.put(of_day % 60, 2);
  out.put_fraction(rest, since_1970.parts);
  out.put('Z');
  return out.text;
}

}  // namespace latchkey::inline v1::reflect
