// The commands for policy files: check and explain.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/policy/explanation.hpp"
#include "cli/policy/sites_file.hpp"
#include "core/text/printable.hpp"
#include "install/policy_load.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr const char* check_examples = R"(Examples:
  latchkey check latchkey.yaml
  latchkey check latchkey.yaml --sites sites.json

Without --sites only the file itself is checked: rules are not matched with methods.)";

constexpr const char* explain_examples = R"(Examples:
  latchkey explain latchkey.yaml Bank::deposit --sites sites.json)";

struct PolicyOptions {
  std::string file{};
  std::string sites{};
  std::string method{};
  bool json = false;
};

detail::LoadedPolicies load(const PolicyOptions& options) {
  if (options.sites.empty()) return detail::load_policies(options.file);
  return detail::load_policies(options.file, SitesFile(options.sites).program());
}

int check(const PolicyOptions& options) {
  const auto errors = detail::errors_of(options.file, load(options).problems);
  for (const PolicyError& error : errors) {
    if (options.json) {
      write_out(json_line({{"file", error.file()},
                           {"line", error.line()},
                           {"column", error.column()},
                           {"message", error.what()}}));
    } else {
      write_out(detail::printable(error.what()) + '\n');
    }
  }
  return errors.empty() ? exit_code::success : exit_code::failure;
}

int explain(const PolicyOptions& options) {
  const SitesFile sites(options.sites);
  const detail::LoadedPolicies loaded = detail::load_policies(options.file, sites.program());
  detail::throw_problems(options.file, loaded.problems);
  const auto explanations = explain_policies(loaded.file, sites.program(), options.method);
  if (explanations.empty()) {
    throw UsageError("'" + options.method + "': no decorated method has this name in " +
                     options.sites);
  }
  for (const Explanation& each : explanations) {
    write_out(options.json ? explanation_json(each) : explanation_text(each));
  }
  return exit_code::success;
}

std::shared_ptr<PolicyOptions> add_options(CLI::App& command) {
  auto options = std::make_shared<PolicyOptions>();
  command.add_option("file", options->file, "The policy file")->required()->type_name("FILE");
  command
      .add_option("--sites,-s", options->sites, "What the program wrote with latchkey::dump_sites")
      ->type_name("FILE");
  command.add_flag("--json", options->json, "One JSON object on each line");
  return options;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "check", "Print every mistake of a policy file; exit status 1 if there is one");
  const auto options = add_options(*command);
  command->footer(check_examples);
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

void add_explain(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "explain", "Print what a policy file says of a method, and which rule says so");
  const auto options = add_options(*command);
  command->get_option("--sites")->required();
  command->footer(explain_examples);
  command->add_option("method", options->method, "A decorated method, such as Bank::deposit")
      ->required()
      ->type_name("METHOD");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

}  // namespace latchkey::inline v1::cli
