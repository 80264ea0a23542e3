// Builds and runs the electors of client-go and fabric8.
#include "neighbours.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "fixture.hpp"
#include "support/go_program.hpp"

namespace latchkey::tests {
namespace {

const std::filesystem::path sources = LATCHKEY_KUBERNETES_TESTS;
const std::filesystem::path programs = LATCHKEY_KUBERNETES_PROGRAMS;
constexpr const char* token = "a.token.of.a.service.account";

Neighbour build_client_go() {
  const std::string missing = build_go_program(sources / "go", programs / "client_go");
  if (!missing.empty()) return {.missing = missing};
  return {.command = {programs / "client_go"}};
}

Neighbour get_fabric8() {
  std::filesystem::create_directories(programs);
  const std::string log = programs / ("fabric8-" + std::to_string(::getpid()) + ".log");
  Process get({LATCHKEY_MAVEN_JARS, sources / "fabric8/pom.xml", programs / "fabric8"}, log);
  if (get.wait(Process::build_limit) != 0) return {.missing = "fabric8 is not at hand, see " + log};
  const std::filesystem::path classes = programs / ("classes-" + std::to_string(::getpid()));
  const std::string jars = std::string(programs / "fabric8") + "/*";
  Process compile({"javac", "-cp", jars, "-d", classes, sources / "fabric8/ElectorPeer.java"}, log);
  if (compile.wait(Process::build_limit) != 0)
    return {.missing = "javac is not at hand, see " + log};
  std::filesystem::remove(log);
  return {.command = {"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                      jars + ":" + std::string(classes), "ElectorPeer"}};
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const Neighbour& program, std::vector<std::string> arguments) {
  std::vector<std::string> words = program.command;
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

const Neighbour& Neighbour::client_go() {
  static const Neighbour built = build_client_go();
  return built;
}

const Neighbour& Neighbour::fabric8() {
  static const Neighbour got = get_fabric8();
  return got;
}

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TlsApiServer::TlsApiServer() : certificates_(folder_.path(), "IP:127.0.0.1") {
  std::ofstream(token_file()) << token << '\n';
  process_ = std::make_unique<Process>(
      words_of(Neighbour::client_go(),
               {"serve", certificates_.server, certificates_.server_key, token}),
      file("server"));
  const bool serves = eventually([&] {
    const auto lines = lines_of(file("server"));
    if (!lines.empty()) port_ = lines.front();
    return !port_.empty();
  });
  if (!serves) throw std::runtime_error("the API server does not start");
}

Candidate::Candidate(const Neighbour& program, const TlsApiServer& server, std::string name)
    : name_(std::move(name)),
      log_(server.file(name_)),
      process_(
          words_of(program, {"elect", server.address(), server.authority(), server.token_file(),
                             "shop", "billing", name_, "3s", "2s", "500ms"}),
          log_) {}

bool Candidate::leads() const {
  const std::vector<Term> all = terms();
  return !all.empty() && all.back().end == std::numeric_limits<std::int64_t>::max();
}

void Candidate::resign() {
  process_.signal(SIGTERM);
  process_.wait();
}

void Candidate::kill() {
  killed_ = nanoseconds_now();
  process_.signal(SIGKILL);
  process_.wait();
}

std::vector<Term> Candidate::terms() const {
  std::vector<Term> terms;
  for (const std::string& line : lines_of(log_)) {
    std::istringstream words(line);
    std::string word;
    std::int64_t time = 0;
    if (!(words >> word >> time)) continue;
    const bool is_open =
        !terms.empty() && terms.back().end == std::numeric_limits<std::int64_t>::max();
    if (word == "leads") {
      terms.push_back({name_, time, std::numeric_limits<std::int64_t>::max()});
    } else if (word == "stopped" && is_open) {
      terms.back().end = time;
    }
  }
  if (killed_ != 0 && !terms.empty()) terms.back().end = std::min(terms.back().end, killed_);
  return terms;
}

}  // namespace latchkey::tests
