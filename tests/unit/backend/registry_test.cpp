// The registry of URI schemes, and the names of verbs and capabilities.
#include "backend/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include <latchkey/backend.hpp>

namespace latchkey {
namespace {

std::unique_ptr<Backend> none(std::string_view, const Options&) { return nullptr; }

std::string message(const std::string& scheme, BackendFactory factory) {
  try {
    register_backend(scheme, factory);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, ListsRegisteredBackendsSorted) {
  EXPECT_EQ(detail::find_backend_factory("t-zebra"), nullptr);
  register_backend("t-zebra", none);
  register_backend("t-ape", none);
  EXPECT_EQ(detail::find_backend_factory("t-zebra"), &none);
  EXPECT_EQ(detail::find_backend_factory("t-zebr"), nullptr);
  const auto schemes = backend_schemes();
  EXPECT_TRUE(std::is_sorted(schemes.begin(), schemes.end()));
  EXPECT_EQ(std::count(schemes.begin(), schemes.end(), "t-ape"), 1);
  EXPECT_EQ(std::count(schemes.begin(), schemes.end(), "memory"), 1);
}

TEST(Registry, AStoreIsRegisteredOnce) {
  detail::register_store("t-store", none);
  detail::register_store("t-store", none);
  EXPECT_EQ(detail::find_backend_factory("t-store"), &none);
  EXPECT_EQ(detail::find_store("mysql")->target, "latchkey::mysql");
  EXPECT_EQ(detail::find_store("memory"), nullptr);
}

TEST(Registry, InvalidRegistrationsAreNamed) {
  register_backend("t-taken", none);
  EXPECT_EQ(message("t-taken", none), "the scheme 't-taken' has a backend already");
  EXPECT_EQ(message("memory", none), "the scheme 'memory' is latchkey's own: name another");
  EXPECT_EQ(message("etcd", none), "the scheme 'etcd' is that of latchkey::etcd: name another");
  EXPECT_EQ(message("t-null", nullptr), "the backend factory for 't-null' is a null pointer");
  for (const char* scheme : {"", "Redis", "1st", "a:", "a b"}) {
    EXPECT_NE(message(scheme, none).find("invalid URI scheme"), std::string::npos) << scheme;
  }
}

TEST(Seam, VerbsHaveTheirOwnNames) {
  EXPECT_EQ(to_string(Verb::acquire), "acquire");
  EXPECT_EQ(to_string(Verb::acquire_all), "acquire_all");
  EXPECT_EQ(to_string(Verb::force_release), "force_release");
}

TEST(Seam, CapabilitiesSayWhichTypes) {
  const Capabilities least;
  EXPECT_TRUE(least.offers(LockType::REENTRANT));
  for (const LockType type : {LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    EXPECT_FALSE(least.offers(type)) << to_string(type);
  }
  Capabilities shared;
  shared.read_write = true;
  EXPECT_TRUE(shared.offers(LockType::READ) && shared.offers(LockType::WRITE));
}

}  // namespace
}  // namespace latchkey
