// Every error text about keys that a user can get at run time, word for word.
#include <gtest/gtest.h>

#include <latchkey/error.hpp>
#include <latchkey/key.hpp>
#include <latchkey/parsed_key.hpp>

#include "unit/key/sample.hpp"

namespace latchkey {
namespace {

using sample::Account;

struct Closed {
  int id = 0;
};

template <class Call>
std::string sentence(Call call) {
  try {
    call();
  } catch (const KeyError& error) {
    return error.what();
  }
  return "no error";
}

std::string of_parsing(std::string_view text) {
  return sentence([&] { parse_key(text); });
}

template <FixedString Names, class... Args>
std::string of_binding(std::string_view text) {
  return sentence([&] { bind_key(parse_key(text), schema_of<Names, Args...>()); });
}

TEST(KeyMessages, SyntaxErrorsNameTheWordItsColumnAndWhatWasExpected) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "a key must not be empty"},
      {"a:{b.c",
       "key 'a:{b.c', column 3: '{b.c' is never closed: '}' is missing; write '{{' for a "
       "brace that is text"},
      {"{}",
       "key '{}', column 1: '{}' names nothing: write an argument in it, as in {account.id} "
       "or {0}"},
      {"a}", "key 'a}', column 2: '}' closes nothing: write '}}' for a brace that is text"},
      {"{'{'}",
       "key '{'{'}', column 3: '{' cannot stand inside an expression or a quoted text: "
       "braces are written '{{' and '}}' in the template's own text"},
      {"'a",
       "key ''a', column 1: ''a' is never closed: a quote is missing; write '' for a quote "
       "inside a text"},
      {"{''}", "key '{''}', column 2: '''' gives an empty text, which makes no key"},
      {"{a + }",
       "key '{a + }', column 6: expected an argument's name, a position, a 'text', a "
       "function or '(', found '}'"},
      {"#",
       "key '#', column 2: expected an argument's name, a position, a 'text', a function or "
       "'(', found the end"},
      {"{a bc}",
       "key '{a bc}', column 4: 'bc' is unexpected; expected the end of the "
       "expression, '+', '%' or '?:'"},
      {"{(a}", "key '{(a}', column 2: '(a' is never closed: ')' is missing"},
      {"{a[0}", "key '{a[0}', column 3: '[0' is never closed: ']' is missing"},
      {"{a.}", "key '{a.}', column 4: expected a member's name after '.', found '}'"},
      {"{a[-1]}",
       "key '{a[-1]}', column 4: expected a number, a 'text' or * between '[' and ']', "
       "found '-'"},
      {"{a['x''y']}", "key '{a['x''y']}', column 5: 'x''y' holds a quote, which an index cannot"},
      {"{a % 99999999999999999999}",
       "key '{a % 99999999999999999999}', column 6: "
       "'99999999999999999999' is too large: numbers end at "
       "18446744073709551615"},
      {"{a % b}", "key '{a % b}', column 6: expected a number after '%', found 'b'"},
      {"{a % 0}", "key '{a % 0}', column 6: '0' cannot follow '%': it must be at least 1"},
      {"{lower(a) % 2}",
       "key '{lower(a) % 2}', column 11: '%' needs an integer before it: a path, "
       "hash(...), size(...) or another '%'"},
      {"{loewr(a)}",
       "key '{loewr(a)}', column 2: 'loewr' is an unknown function; expected one of lower, upper, "
       "hash, size, raw"},
      {"{size('a')}",
       "key '{size('a')}', column 2: 'size('a')' takes a path, as in "
       "size(account.entries)"},
      {"{a[*][*]}", "key '{a[*][*]}', column 6: '[*]' is the second [*]; expected at most one"},
      {"{a}{b.c}",
       "key '{a}{b.c}', column 5: 'b' could run into the value before it: put one of : "
       "/ , | # or a space between them, or raw(...) around one"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(of_parsing(text), expected);
  const std::string deep = std::string(40, '(') + "a";
  EXPECT_EQ(of_parsing("#a+" + deep), "key '#a+" + deep +
                                          "', column 36: '(' is nested too deeply: parentheses "
                                          "nest at most 31 deep");
  EXPECT_EQ(of_parsing(std::string(5000, 'x')), "key '" + std::string(64, 'x') +
                                                    "': the template begun so is longer than 4096 "
                                                    "bytes");
}

TEST(KeyMessages, KeysThatDoNotFitTheArgumentsNameWhatWouldFit) {
  const auto account = [](std::string_view text) { return of_binding<"account", Account>(text); };
  EXPECT_EQ(
      (of_binding<"account, amount", Account, int>("k:{acount.id}")),
      "key 'k:{acount.id}', column 4: unknown argument 'acount'; expected one of account, amount");
  EXPECT_EQ((of_binding<"", Account>("{account.id}")),
            "key '{account.id}', column 2: unknown argument 'account'; expected a position: {0}, "
            "{1}, ...");
  EXPECT_EQ((of_binding<"">("{account}")),
            "key '{account}', column 2: unknown argument 'account'; there are none");
  EXPECT_EQ(account("{1}"),
            "key '{1}', column 2: unknown position '1'; there is 1 argument, counted "
            "from 0");
  EXPECT_EQ((of_binding<"a, b", int, int>("{2}")),
            "key '{2}', column 2: unknown position '2'; there are 2 arguments, counted from 0");
  EXPECT_EQ((of_binding<"home", sample::Address>("{home.zipp}")),
            "key '{home.zipp}', column 7: unknown field 'zipp' of sample::Address; expected one of "
            "zip, number");
  EXPECT_EQ(account("{account.id.x}"),
            "key '{account.id.x}', column 13: unknown field 'x'; the type " +
                std::string(reflect::type_name<std::int64_t>()) + " has none");
  const std::string closed = std::string(reflect::type_name<Closed>());
  EXPECT_EQ((of_binding<"a", Closed>("{a.id}")),
            "key '{a.id}', column 4: 'id' cannot be found: " + closed +
                " has not told its fields to keys from files: write LATCHKEY_REFLECT(" + closed +
                ") or LATCHKEY_FIELDS(" + closed + ", ...) beside it");
  EXPECT_EQ((of_binding<"a", Closed>("{a}")),
            "key '{a}', column 2: 'a' is an object, which makes no key; " + closed +
                " has not told its fields to keys from files: write LATCHKEY_REFLECT(" + closed +
                ") or LATCHKEY_FIELDS(" + closed + ", ...) beside it" +
                ", or std::string latchkey_key(const " + closed + "&) beside it");
  EXPECT_EQ((of_binding<"home", sample::Address>("{home}")),
            "key '{home}', column 2: 'home' is an object, which makes no key: name one of its "
            "fields: zip, number; or write std::string latchkey_key(const sample::Address&) beside "
            "it");
  EXPECT_EQ((of_binding<"rate", double>("{rate}")),
            "key '{rate}', column 2: 'rate' is a floating-point number, which makes no key");
  EXPECT_EQ(account("{account.days}"),
            "key '{account.days}', column 2: 'account.days' is a container, which makes no key: "
            "write [0], ['text'] or [*] after it");
  EXPECT_EQ((of_binding<"c", wchar_t>("{c}")),
            "key '{c}', column 2: 'c' is of type wchar_t, which makes no key");
  EXPECT_EQ((of_binding<"n", int>("{n[0]}")),
            "key '{n[0]}', column 4: '0' indexes containers, and maps with integer keys, not "
            "the type int");
  EXPECT_EQ((of_binding<"n", int>("{n['x']}")),
            "key '{n['x']}', column 5: 'x' indexes maps with text keys, not the type int");
  EXPECT_EQ((of_binding<"n", int>("{n[*]}")),
            "key '{n[*]}', column 2: 'n[*]' is of type int: [*] takes each element of a container");
  EXPECT_EQ((of_binding<"n", bool>("{n % 2}")),
            "key '{n % 2}', column 2: 'n' is of type bool: '%' needs an integer before it");
  EXPECT_EQ(
      (of_binding<"n", int>("{size(n)}")),
      "key '{size(n)}', column 7: 'n' is of type int: size() counts a container's elements or a "
      "text's bytes");
}

TEST(KeyMessages, ValuesWithoutATextAreReportedWithTheKeyAndThePath) {
  KeyBuffer out;
  Account account;
  EXPECT_EQ(sentence([&] { Key<"k:{a.limit}">::render<"a">(out, account); }),
            "key 'k:{a.limit}': a.limit has no value; a default is written {a.limit ?: 'other'}");
  EXPECT_EQ(sentence([&] { Key<"k:{a.home.zip}">::render<"a">(out, account); }),
            "key 'k:{a.home.zip}': a.home.zip has no value; a default is written {a.home.zip ?: "
            "'other'}");
  EXPECT_EQ(sentence([&] { Key<"k:{a.label}">::render<"a">(out, account); }),
            "key 'k:{a.label}': a.label has no value; a default is written {a.label ?: 'other'}");
  EXPECT_EQ(sentence([&] { Key<"k:{0.name}">::render<"">(out, account); }),
            "key 'k:{0.name}': 0.name is an empty text; a default is written {0.name ?: 'other'}");
  EXPECT_EQ(sentence([&] { Key<"k:{a.days[3]}">::render<"a">(out, account); }),
            "key 'k:{a.days[3]}': a.days[3] names an element that is not there; a default is "
            "written {a.days[3] ?: 'other'}");
  EXPECT_EQ(sentence([&] { Key<"k:{a}">::render<"a">(out, std::string(2000, 'x')); }),
            "key 'k:{a}': it renders to more than 1024 bytes");
  const auto many = bind_key(parse_key("{a.days[*]}"), schema_of<"a", Account>());
  EXPECT_EQ(sentence([&] { many.render(out, argument_pointers(account)); }),
            "key '{a.days[*]}': it has [*], so it is many keys, not one");
}

}  // namespace
}  // namespace latchkey
