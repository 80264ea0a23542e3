// The tests of the guards; with the argument late-writer, the process that writes too late.
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "stores/fences/late_writer.hpp"

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (!words.empty() && words.front() == latchkey::tests::late_writer_word) {
    return latchkey::tests::run_late_writer(words);
  }
  std::signal(SIGPIPE, SIG_IGN);  // hiredis writes to connections that the server has closed
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
