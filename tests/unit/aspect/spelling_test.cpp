// The compilers' spellings, one by one.
#include "aspect/spelling.hpp"

#include <gtest/gtest.h>

namespace {

using latchkey::detail::method_name;
using latchkey::detail::type_text;

TEST(MethodName, FromGcc) {
  EXPECT_EQ(method_name("bank::Bank::deposit(const bank::Account&, int) const::<lambda()>"),
            "bank::Bank::deposit");
  EXPECT_EQ(method_name("<lambda()>"), "");
  EXPECT_EQ(method_name("bank::<lambda()>"), "") << "no function: a namespace";
  EXPECT_EQ(method_name("freef(int)::Local::m()::<lambda()>"), "freef::Local::m");
  EXPECT_EQ(method_name("freef(int)::<lambda(auto:11)>::<lambda()>"), "freef");
  EXPECT_EQ(method_name("bank::Bank::tmpl<double>(double)::<lambda()>"), "bank::Bank::tmpl");
  EXPECT_EQ(method_name("bank::{anonymous}::Hidden::go()::<lambda()>"), "bank::Hidden::go");
  EXPECT_EQ(method_name("bank::NT<'('>::go()::<lambda()>"), "bank::NT::go");
  EXPECT_EQ(method_name("bank::Bank::operator->() const::<lambda()>"), "bank::Bank::operator->");
  EXPECT_EQ(method_name("bank::Bank::operator()(int)::<lambda()>"), "bank::Bank::operator()");
  EXPECT_EQ(method_name("bank::Bank::operator bool() const::<lambda()>"),
            "bank::Bank::operator bool");
  EXPECT_EQ(method_name("bank::Bank::~Bank()::<lambda()>"), "bank::Bank::~Bank");
  EXPECT_EQ(method_name("bank::Box<int, long int>::put(int) requires  true::<lambda()>"),
            "bank::Box::put");
  EXPECT_EQ(method_name("Bank::text[abi:cxx11]() const::<lambda()>"), "Bank::text");
  EXPECT_EQ(method_name("Box<std::map<int, std::vector<long> > >::In::get(T (*)(int))::<lambda()>"),
            "Box::In::get");
}

// Where char is unsigned, as on aarch64, no byte of a letter like this was part of a name.
TEST(MethodName, LetterOutsideAsciiContinuesAName) {
  EXPECT_EQ(method_name("autoöffner()::<lambda()>"), "autoöffner");
}

TEST(MethodName, FromClang) {
  EXPECT_EQ(method_name("auto bank::Bank::deposit(const Account &, int)::(anonymous "
                        "class)::operator()() const"),
            "bank::Bank::deposit");
  EXPECT_EQ(method_name("auto (anonymous class)::operator()() const"), "");
  EXPECT_EQ(method_name("auto freef(int)::(anonymous class)::operator()(int)::(anonymous "
                        "class)::operator()() const"),
            "freef");
  EXPECT_EQ(method_name("auto bank::(anonymous namespace)::Hidden::go()::(anonymous "
                        "class)::operator()() const"),
            "bank::Hidden::go");
  EXPECT_EQ(method_name("auto bank::Bank::operator()(int)::(anonymous class)::operator()() const"),
            "bank::Bank::operator()");
  EXPECT_EQ(method_name("auto bank::Box<int, long>::In::get(int)::(anonymous class)::operator()() "
                        "const [T = int, U = long]"),
            "bank::Box::In::get");
}

// A lambda's own operator() was taken for a part of the method's name.
TEST(MethodName, FromClang22) {
  EXPECT_EQ(method_name("auto bank::(anonymous namespace)::Hidden::go(int)::(lambda)::operator()() "
                        "const"),
            "bank::Hidden::go");
  EXPECT_EQ(method_name("auto freef(int)::(lambda)::operator()(int)::(lambda)::operator()() const"),
            "freef");
  EXPECT_EQ(method_name("auto (lambda)::operator()() const"), "");
}

TEST(TypeText, IsOneForBothCompilers) {
  EXPECT_EQ(type_text("std::__cxx11::basic_string<char>"), "std::string");
  EXPECT_EQ(type_text("std::basic_string<char>"), "std::string");
  EXPECT_EQ(type_text("const Receipt &"), "const Receipt&");
  EXPECT_EQ(type_text("std::vector<std::vector<int> >"), "std::vector<std::vector<int>>");
  EXPECT_EQ(type_text("long int"), "long");
  EXPECT_EQ(type_text("long unsigned int"), "unsigned long");
  EXPECT_EQ(type_text("char *"), "char*");
}

}  // namespace
