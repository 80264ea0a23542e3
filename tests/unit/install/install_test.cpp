// The default Locks, and connecting by URI.
#include <latchkey/install.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/decorate.hpp>
#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/registry.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/child.hpp"
#include "support/failing_backend.hpp"

namespace {

using latchkey::Locks;
using latchkey::testing::ScopedLocks;

void call() { LOCKED("k") AROUND(){}; }

template <class Error, class Call>
std::string sentence_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(Install, IsDoneOnceAndThenCallsWork) {
  // In a child: what is installed stays installed.
  EXPECT_EQ(latchkey::tests::in_child([](latchkey::tests::Findings& findings) {
              const std::string before = sentence_of<latchkey::NotConfigured>(call);
              CHILD_EXPECT(findings, before.find("latchkey::install(") != std::string::npos);
              CHILD_EXPECT(findings, before.find(".in(locks)") != std::string::npos);
              latchkey::install(Locks::connect("memory:"));
              call();
              const std::string again = sentence_of<std::logic_error>(
                  [] { latchkey::install(Locks::connect("memory:")); });
              CHILD_EXPECT(findings, again.find("was called twice") != std::string::npos);
              call();
            }),
            "");
}

TEST(ScopedLocks, NestAndRestore) {
  {
    ScopedLocks outer(Locks::connect("memory:"));
    EXPECT_EQ(&latchkey::default_locks(), &outer.locks());
    {
      ScopedLocks inner(Locks::connect("memory:"));
      EXPECT_EQ(&latchkey::default_locks(), &inner.locks());
      std::thread([&] { EXPECT_EQ(&latchkey::default_locks(), &inner.locks()); }).join();
      call();
    }
    EXPECT_EQ(&latchkey::default_locks(), &outer.locks());
  }
}

TEST(Connect, KnowsMemory) {
  const Locks locks = Locks::connect("memory:");
  EXPECT_NE(locks.describe().find("memory"), std::string::npos);
}

TEST(Connect, ListsTheKnownSchemes) {
  const std::string sentence = sentence_of<std::invalid_argument>(
      [] { static_cast<void>(Locks::connect("rediss-typo://user:secret@host")); });
  EXPECT_NE(sentence.find("unknown scheme 'rediss-typo:'; expected one of "), std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("memory:"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("secret"), std::string::npos) << sentence;
  const std::string bare =
      sentence_of<std::invalid_argument>([] { static_cast<void>(Locks::connect("localhost")); });
  EXPECT_NE(bare.find("no scheme before a colon"), std::string::npos) << bare;
}

TEST(Connect, AStoreThatIsNotLinkedIsNamedWithItsTarget) {
  EXPECT_EQ(sentence_of<std::invalid_argument>(
                [] { static_cast<void>(Locks::connect("postgresql://user:secret@host")); }),
            "the scheme 'postgresql:' needs latchkey::postgresql: link it and call "
            "latchkey::register_postgresql() before");
}

latchkey::tests::Faults faults;

TEST(Connect, UsesWhatWasRegistered) {
  latchkey::register_backend("install-test", [](std::string_view, const latchkey::Options&) {
    return std::unique_ptr<latchkey::Backend>(
        std::make_unique<latchkey::tests::FailingBackend>(faults));
  });
  EXPECT_EQ(Locks::connect("install-test:x").describe(), "failing");
}

}  // namespace
