// The commands for policy files: check and explain.
#include "cli/policy/policy_commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "cli/connection.hpp"
#include "cli/exit_code.hpp"
#include "cli/policy/explanation.hpp"
#include "cli/policy/sites_file.hpp"
#include "install/policy_load.hpp"

namespace latchkey::cli {
namespace {

struct PolicyWords {
  std::string file{};
  std::string sites{};
  std::string method{};
  bool json = false;
};

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

detail::LoadedPolicies load(const PolicyWords& words) {
  if (words.sites.empty()) return detail::load_policies(words.file);
  return detail::load_policies(words.file, SitesFile(words.sites).program());
}

int check(const PolicyWords& words) {
  const auto errors = detail::errors_of(words.file, load(words).problems);
  for (const PolicyError& error : errors) {
    if (words.json) {
      const nlohmann::ordered_json line{{"file", error.file()},
                                        {"line", error.line()},
                                        {"column", error.column()},
                                        {"message", error.what()}};
      print(line.dump() + '\n');
    } else {
      print(fmt::format("{}\n", error.what()));
    }
  }
  return errors.empty() ? exit_code::success : exit_code::failure;
}

int explain(const PolicyWords& words) {
  const SitesFile sites(words.sites);
  const detail::LoadedPolicies loaded = detail::load_policies(words.file, sites.program());
  detail::throw_problems(words.file, loaded.problems);
  const auto explanations = explain_policies(loaded.file, sites.program().places, words.method);
  if (explanations.empty()) {
    throw UsageError("'" + words.method + "': no decorated method has this name in " + words.sites);
  }
  for (const Explanation& each : explanations) {
    print(words.json ? explanation_json(each) + '\n' : explanation_text(each));
  }
  return exit_code::success;
}

std::shared_ptr<PolicyWords> add_words(CLI::App& command) {
  auto words = std::make_shared<PolicyWords>();
  command.add_option("file", words->file, "The policy file")->required()->type_name("FILE");
  command
      .add_option("--sites,-s", words->sites, "What the program wrote with latchkey::dump_sites")
      ->type_name("FILE");
  command.add_flag("--json", words->json, "One JSON object on each line");
  return words;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "check", "Print every mistake of a policy file; exit status 1 if there is one");
  const auto words = add_words(*command);
  command->footer(
      "Without --sites only the file itself is checked: rules are not matched with methods.");
  command->callback([words, &action] { action = [words] { return check(*words); }; });
}

void add_explain(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "explain", "Print what a policy file says of a method, and which rule says so");
  const auto words = add_words(*command);
  command->get_option("--sites")->required();
  command->add_option("method", words->method, "A decorated method, such as Bank::deposit")
      ->required()
      ->type_name("METHOD");
  command->callback([words, &action] { action = [words] { return explain(*words); }; });
}

}  // namespace latchkey::cli
