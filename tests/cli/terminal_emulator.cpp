// A terminal emulator in which a test runs the tool, and looks at its screen.
#include "cli/terminal_emulator.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/polling.hpp"

namespace latchkey::tests {

namespace {

int windows = 0;

}  // namespace

TerminalEmulator::TerminalEmulator(const TemporaryFolder& folder, std::size_t columns,
                                   std::size_t lines, const std::string& script)
    : folder_(folder), socket_(folder.file("tmux." + std::to_string(++windows))) {
  // Without a status line, all lines belong to the program.
  std::ofstream(folder.file("tmux.conf")) << "set -g status off\n";
  tmux({"new-session", "-d", "-x", std::to_string(columns), "-y", std::to_string(lines), script});
}

TerminalEmulator::~TerminalEmulator() {
  try {
    tmux({"kill-server"});
  } catch (const std::runtime_error&) {
    // Its program has ended, and with it the server.
  }
}

std::string TerminalEmulator::tmux(std::vector<std::string> words) const {
  const std::string log = folder_.file("tmux.log");
  std::filesystem::remove(log);
  words.insert(words.begin(), {"tmux", "-f", folder_.file("tmux.conf"), "-S", socket_});
  const int status = Process(words, log).wait();
  if (status == 127) throw std::runtime_error("tmux is missing; expected the package tmux");
  if (status != 0) throw std::runtime_error(folder_.read("tmux.log"));
  return folder_.read("tmux.log");
}

std::string TerminalEmulator::text() const { return tmux({"capture-pane", "-p"}); }

std::vector<std::string> TerminalEmulator::screen() const {
  std::istringstream all(text());
  std::vector<std::string> lines;
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

void TerminalEmulator::await_text(const std::string& part) const {
  await("'" + part + "'", [&] {
    const std::string now = text();
    return now.find(part) != std::string::npos ? std::string() : now;
  });
}

void TerminalEmulator::await_no_text(const std::string& part) const {
  await("no '" + part + "'", [&] {
    const std::string now = text();
    return now.find(part) == std::string::npos ? std::string() : now;
  });
}

void TerminalEmulator::resize(std::size_t columns, std::size_t lines) const {
  tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(lines)});
}

void TerminalEmulator::press(const std::vector<std::string>& keys) const {
  std::vector<std::string> words{"send-keys"};
  words.insert(words.end(), keys.begin(), keys.end());
  tmux(words);
}

void TerminalEmulator::type(const std::string& text) const { tmux({"send-keys", "-l", text}); }

}  // namespace latchkey::tests
