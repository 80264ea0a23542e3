// The options of a command, as declared to CLI11.
// SPDX-License-Identifier: BSL-1.0
#include "cli/manual/command_help.hpp"

#include <CLI/CLI.hpp>

namespace latchkey::inline v1::cli {
namespace {

OptionHelp words_of(const CLI::Option& option) {
  OptionHelp words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.value = option.get_type_size() == 0 ? std::string() : option.get_type_name();
  words.description = option.get_description();
  return words;
}

}  // namespace

std::vector<CommandHelp> command_help(CLI::App& app) {
  std::vector<CommandHelp> commands;
  for (CLI::App* const command : app.get_subcommands({})) {
    CommandHelp words{
        command->get_name(), command->get_description(), command->get_footer(), {}, {}};
    for (const CLI::Option* const option : command->get_options()) {
      auto& list = option->get_positional() ? words.positionals : words.options;
      list.push_back(words_of(*option));
    }
    commands.push_back(std::move(words));
  }
  return commands;
}

}  // namespace latchkey::inline v1::cli
