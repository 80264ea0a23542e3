// The manual page and the shell completions, generated from the texts of --help.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include <latchkey/version.hpp>

#include "cli/connection.hpp"
#include "cli/output.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// An option of a command, as declared to CLI11.
struct OptionHelp {
  std::vector<std::string> names{};  ///< "-k", "--key"
  std::string value{};               ///< "KEY"; empty: a flag
  std::string description{};
};

struct CommandHelp {
  std::string name{};
  std::string description{};
  std::string footer{};
  std::vector<OptionHelp> options{};
  std::vector<OptionHelp> positionals{};  ///< `value` is the name
};

OptionHelp words_of(const CLI::Option& option) {
  OptionHelp words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.value = option.get_type_size() == 0 ? std::string() : option.get_type_name();
  words.description = option.get_description();
  return words;
}

/// The subcommands of `app`, in the order in which they were added.
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

/// Escapes text for roff, which interprets a backslash, a hyphen and a leading full stop.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char letter : text) {
    if (line_start && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
    line_start = letter == '\n';
  }
  return out;
}

void write_option(std::string& page, const OptionHelp& option) {
  std::string names;
  for (const std::string& name : option.names) {
    if (!names.empty()) names += ", ";
    names += "\\fB" + roff(name) + "\\fR";
  }
  const std::string value = option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR";
  page += fmt::format(".TP\n{}{}\n{}\n", names, value, roff(option.description));
}

void write_command(std::string& page, const CommandHelp& command) {
  page += fmt::format(".SS latchkey {}", roff(command.name));
  for (const OptionHelp& positional : command.positionals) {
    page += fmt::format(" [{}]", roff(positional.value));
  }
  if (command.name == "run" || command.name == "once") page += " \\-\\- COMMAND [ARGUMENT...]";
  page += fmt::format("\n{}\n", roff(command.description));
  for (const OptionHelp& positional : command.positionals) {
    page +=
        fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(positional.value), roff(positional.description));
  }
  for (const OptionHelp& option : command.options) write_option(page, option);
  if (!command.footer.empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
}

/// Puts text in single quotes for a shell.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
    } else {
      out += letter;
    }
  }
  return out + "'";
}

std::string bash_completion(const std::vector<CommandHelp>& commands) {
  std::string names;
  std::string cases;
  for (const CommandHelp& command : commands) {
    names += command.name + ' ';
    std::string options;
    for (const OptionHelp& option : command.options) {
      for (const std::string& name : option.names) options += name + ' ';
    }
    cases += fmt::format("    {}) words={} ;;\n", command.name, shell_quoted(options));
  }
  return fmt::format(R"(# bash completion for latchkey
_latchkey() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words={} word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $word == -- ]] && {{ COMPREPLY=($(compgen -c -f -- "$current")); return; }}
  done
  case ${{COMP_WORDS[1]}} in
{}  esac
  [[ $COMP_CWORD == 1 ]] && words={}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -F _latchkey latchkey
)",
                     shell_quoted(names), cases, shell_quoted(names));
}

std::string zsh_completion(const std::vector<CommandHelp>& commands) {
  std::string names;
  std::string cases;
  for (const CommandHelp& command : commands) {
    names += "    " + shell_quoted(command.name + ":" + command.description) + "\n";
    std::string options;
    for (const OptionHelp& option : command.options) {
      for (const std::string& name : option.names) {
        std::string description;
        for (const char letter : option.description) {
          if (letter == '[' || letter == ']' || letter == ':') description += '\\';
          description += letter;
        }
        const std::string value = option.value.empty() ? "" : fmt::format(":{}:", option.value);
        options += ' ' + shell_quoted(fmt::format("{}[{}]{}", name, description, value));
      }
    }
    cases += fmt::format("    {}) _arguments{} '*:: :_normal' ;;\n", command.name, options);
  }
  return fmt::format(R"(#compdef latchkey
_latchkey() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_latchkey "$@"
)",
                     names, cases);
}

std::string fish_completion(const std::vector<CommandHelp>& commands) {
  std::string script = "# fish completion for latchkey\n";
  for (const CommandHelp& command : commands) {
    script += fmt::format("complete -c latchkey -n __fish_use_subcommand -f -a {} -d {}\n",
                          command.name, shell_quoted(command.description));
    for (const OptionHelp& option : command.options) {
      script +=
          fmt::format("complete -c latchkey -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) script += " -r";
      script += " -d " + shell_quoted(option.description) + "\n";
    }
  }
  return script;
}

/// A manual page for section 1, in man(7) macros.
std::string manual_page(CLI::App& app) {
  std::string page = fmt::format(
      ".TH LATCHKEY 1 \"\" \"latchkey {}\" \"User Commands\"\n"
      ".SH NAME\nlatchkey \\- {}\n"
      ".SH SYNOPSIS\n.B latchkey\n.I COMMAND\n[OPTIONS]\n"
      ".SH COMMANDS\n",
      version(), roff(app.get_description()));
  for (const CommandHelp& command : command_help(app)) write_command(page, command);
  page += fmt::format(".SH EXIT STATUS\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  page +=
      ".SH ENVIRONMENT\n.TP\nLATCHKEY_URI\nThe backend, where neither a URI nor "
      "\\-\\-config names one.\n";
  return page;
}

/// A completion script for bash, zsh or fish. Throws UsageError for another shell.
std::string completion_script(CLI::App& app, const std::string& shell) {
  const std::vector<CommandHelp> commands = command_help(app);
  if (shell == "bash") return bash_completion(commands);
  if (shell == "zsh") return zsh_completion(commands);
  if (shell == "fish") return fish_completion(commands);
  throw UsageError("completion '" + shell + "': unknown shell; expected bash, zsh or fish");
}

}  // namespace

void add_manual(CLI::App& app, Action& action) {
  CLI::App* const manual =
      app.add_subcommand("man", "Print the manual page: latchkey man | man -l -");
  manual->callback([&app, &action] {
    action = [&app] {
      write_out(manual_page(app));
      return exit_code::success;
    };
  });
  CLI::App* const completion =
      app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  completion->callback([&app, &action, shell] {
    action = [&app, shell] {
      write_out(completion_script(app, *shell));
      return exit_code::success;
    };
  });
}

}  // namespace latchkey::inline v1::cli
