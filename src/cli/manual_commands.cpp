// The manual page, which CLI11 writes as it writes --help, and the completions, which read --help.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/version.hpp>

#include "cli/connection.hpp"
#include "cli/output.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// Escapes text for roff, which interprets a backslash, a hyphen and a leading full stop.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char letter : text) {
    if (line_start && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else {
      if (letter == '-') out += '\\';
      out += letter;
    }
    line_start = letter == '\n';
  }
  return out;
}

/// Writes options in man(7) macros.
class ManualFormatter : public CLI::Formatter {
 public:
  std::string make_group(std::string /*name*/, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text;
    for (const CLI::Option* const option : options) text += make_option(option, is_positional);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(make_option_name(option, is_positional)),
                       roff(make_option_opts(option)), roff(option->get_description()));
  }
};

/// A manual page for section 1.
std::string manual_page(CLI::App& app) {
  const ManualFormatter formatter;
  std::string page = fmt::format(
      ".TH LATCHKEY 1 \"\" \"latchkey {}\" \"User Commands\"\n"
      ".SH NAME\nlatchkey \\- {}\n"
      ".SH SYNOPSIS\n.B latchkey\n.I COMMAND\n[OPTIONS]\n"
      ".SH COMMANDS\n",
      version(), roff(app.get_description()));
  for (CLI::App* const command : app.get_subcommands({})) {
    const std::string& name = command->get_name();
    const bool runs = name == "run" || name == "once";
    page += fmt::format(".SS latchkey {}{}\n{}\n{}{}.PP\n.nf\n{}\n.fi\n", roff(name),
                        runs ? " [OPTIONS] \\-\\- COMMAND [ARGUMENT...]" : "",
                        roff(command->get_description()), formatter.make_positionals(command),
                        formatter.make_groups(command, CLI::AppFormatMode::Normal),
                        roff(command->get_footer()));
  }
  return page + fmt::format(
                    ".SH EXIT STATUS\n.nf\n{}\n.fi\n.SH ENVIRONMENT\n.TP\nLATCHKEY_URI\n"
                    "The backend, where neither a URI nor \\-\\-config names one.\n",
                    roff(app.get_footer()));
}

constexpr std::string_view bash_completion = R"sh(# bash completion for latchkey
_latchkey() {
  local current=${COMP_WORDS[COMP_CWORD]} words word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -- ]] && { COMPREPLY=($(compgen -c -f -- "$current")); return; }
  done
  if ((COMP_CWORD == 1)); then
    words=$("$1" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
  else
    words=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null | sed -n 's/^  \(-[^ ]*\).*/\1/p')
  fi
  COMPREPLY=($(compgen -W "${words//,/ }" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
complete -F _latchkey latchkey
)sh";

constexpr std::string_view zsh_completion = R"sh(#compdef latchkey
_latchkey() {
  local tool=$words[1] command=$words[2] end=${words[(i)--]}
  if (( CURRENT == 2 )); then
    local -a commands=(${(f)"$($tool --help |
      sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) *\(.*\)/\1:\2/p')"})
    _describe command commands
  elif (( end < CURRENT )); then
    shift $end words
    (( CURRENT -= end ))
    _normal
  else
    compadd -- $(_call_program options $tool $command --help |
      sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr , ' ')
    _files
  fi
}
_latchkey "$@"
)sh";

constexpr std::string_view fish_completion = R"sh(# fish completion for latchkey
complete -c latchkey -n __fish_use_subcommand -f \
  -a "(latchkey --help | string replace -rf '^  ([a-z]+) +(.*)' '\$1\t\$2')"
complete -c latchkey -n 'not __fish_use_subcommand' \
  -a "(latchkey (commandline -opc)[2] --help | string match -rag '(?:^  |,)(--?[a-z][a-z-]*)')"
)sh";

/// Throws UsageError for a shell other than bash, zsh and fish.
std::string_view completion_script(const std::string& shell) {
  if (shell == "bash") return bash_completion;
  if (shell == "zsh") return zsh_completion;
  if (shell == "fish") return fish_completion;
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
  completion->callback([&action, shell] {
    action = [shell] {
      write_out(completion_script(*shell));
      return exit_code::success;
    };
  });
}

}  // namespace latchkey::inline v1::cli
