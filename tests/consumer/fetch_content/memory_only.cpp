// Locks in memory with a latchkey that has neither yaml-cpp nor OpenSSL, and asks for both.
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <latchkey/latchkey.hpp>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

int broken = 0;

void expect(bool works, const char* what) {
  std::printf("%-40s %s\n", what, works ? "works" : "BROKEN");
  if (!works) ++broken;
}

int twice(int id) {
  return LOCKED("number:{id}", latchkey::LockType::WRITE, 3s, 30s) AROUND(id) { return 2 * id; };
}

bool has(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return true;
  std::printf("got: %s\n", std::string(text).c_str());
  return false;
}

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  expect(twice(21) == 42, "a decorated call");
  try {
    static_cast<void>(latchkey::Locks::connect("rediss://127.0.0.1:6379"));
    expect(false, "rediss:// without OpenSSL");
  } catch (const std::exception& error) {
    expect(has(error.what(), "built without OpenSSL (LATCHKEY_TLS=OFF)"),
           "rediss:// without OpenSSL");
  }
  std::ofstream("policies.yaml") << "backends: {main: \"memory:\"}\n";
  const auto errors = latchkey::check_policy_file("policies.yaml");
  expect(errors.size() == 1 &&
             has(errors.front().what(), "built without yaml-cpp (LATCHKEY_POLICIES=OFF)"),
         "a policy file without yaml-cpp");
  return broken;
}
