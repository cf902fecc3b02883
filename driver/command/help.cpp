/// Implements `gaussweep help`: generates help texts, the manual page and the bash completion from the
/// parser.

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/summary/summary.hpp"
#include "io/plan/plan.hpp"
#include "io/records/status.hpp"
#include "kernels/matrix/generate.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the example command lines, by subcommand.
const std::vector<std::pair<const char*, const char*>>& examples() {
  static const std::vector<std::pair<const char*, const char*>> all{
      {"run",
       "gaussweep run plan.yaml -o runs/first\n"
       "mpirun -n 4 gaussweep run plan.yaml -o runs/first --time-limit 8h\n"
       "gaussweep run plan.yaml -o runs/first --resume"},
      {"try",
       "gaussweep try A.mtx\n"
       "gaussweep try A.mtx --problem gesv --nrhs 1,3 --precision float,double -o runs/a"},
      {"plan",
       "gaussweep plan --template > plan.yaml\n"
       "gaussweep plan --template rule > learn.yaml\n"
       "gaussweep plan --schema > plan.schema.json\n"
       "gaussweep plan plan.yaml\n"
       "gaussweep plan plan.yaml --explain"},
      {"methods",
       "gaussweep methods --problem gesv\n"
       "gaussweep methods potrf posv\n"
       "gaussweep methods --format json"},
      {"devices", "gaussweep devices"},
      {"status", "gaussweep status runs/first\ngaussweep status runs/sharded --watch"},
      {"summary",
       "gaussweep summary runs/first --best --by gpu\n"
       "gaussweep summary runs/* --problem gesv -n '>=1k' --baseline cusolver --sort median\n"
       "gaussweep summary runs/first --failures"},
      {"report", "gaussweep report runs/first -o report"},
      {"compare",
       "gaussweep compare runs/before runs/after\n"
       "gaussweep compare runs/before runs/after --only slower,worse --sort speedup --limit 20\n"
       "gaussweep compare runs/h100 runs/h200 --problem gesv"},
      {"trend", "gaussweep trend nights/*"},
      {"rule",
       "gaussweep rule runs/learn -o rule\n"
       "gaussweep rule runs/other --check rule\n"
       "gaussweep rule --changes nights/old nights/new"},
      {"duet", "gaussweep duet ../before/build/gaussweep plan.yaml -o runs/duet"},
      {"verify", "gaussweep verify runs/first --tolerance gesv=8"},
      {"merge", "gaussweep merge runs/part-* -o all.h5"},
      {"matrix",
       "gaussweep matrix info A.mtx\n"
       "gaussweep matrix generate --kind spd -n 1k -o spd.h5"},
      {"solve", "gaussweep solve A.mtx --rhs b.npy -o x.npy\ngaussweep solve A.mat -o inverse.mtx"},
      {"restore", "gaussweep restore --image shapes.pgm --psf gaussian --sigma 1.5 -o restored"},
      {"export",
       "gaussweep export runs/first > records.csv\n"
       "gaussweep export runs/* --status pass -o night.sqlite\n"
       "gaussweep export runs/first --table samples --method cusolver > samples.csv"},
      {"help",
       "gaussweep help run\n"
       "gaussweep help --bash > ~/.local/share/bash-completion/completions/gaussweep\n"
       "gaussweep help --man | man -l -"}};
  return all;
}

/// Returns the commands that the help lists: those that have a CLI11 group. Internal commands such as
/// `worker` have no group.
std::vector<const CLI::App*> listed_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> listed_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && !option->get_group().empty()) options.push_back(option);
  }
  return options;
}

/// Escapes text for troff.
std::string troff(const std::string& text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// Appends a command, its options and its subcommands to `text`, in troff.
void describe_command(const CLI::App& command, const std::string& path, std::string& text) {
  text += fmt::format(".SS \"{}\"\n{}\n", troff(path), troff(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    text +=
        fmt::format(".TP\n.B \"{}\"\n{}\n",
                    troff(option->get_name(/*positional=*/!option->nonpositional(), /*all_options=*/true)),
                    troff(option->get_description()));
  }
  for (const CLI::App* sub : listed_commands(command))
    describe_command(*sub, path + " " + sub->get_name(), text);
}

/// Possible values, by the name of an option.
using Choices = std::map<std::string, std::vector<std::string>>;

/// Returns the possible values of the option `name`, from the option's own list if it has one. Otherwise
/// returns the list in `known`, such as the ids of the methods for "method".
std::vector<std::string> choices_of(const CLI::Option& option, const std::string& name,
                                    const Choices& known) {
  const std::string type = option.get_type_name();  // "TEXT:{table,csv,json}"
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin != std::string::npos && end != std::string::npos)
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
  const std::vector<std::string>* choices = find_in(known, name);
  return choices == nullptr ? std::vector<std::string>() : *choices;
}

/// Long options of `report`, a separate program (analysis/cli.py) that parses them itself.
constexpr const char* report_options[] = {"output",  "problem", "method", "gpu",       "baseline",   "title",
                                          "figures", "only",    "trend",  "no-papers", "all-papers", "help"};

/// The branches of the two `case` statements in the bash completion.
struct Branches {
  std::string words;   ///< by command: its options and subcommands
  std::string values;  ///< by command and option: the possible values
};

/// Adds the branches for a command and its subcommands. @param path names of the command and its parents
void complete_command(const CLI::App& command, const std::string& path, const Choices& known,
                      Branches& branches) {
  std::vector<std::string> words;
  for (const CLI::Option* option : listed_options(command)) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
      const std::vector<std::string> choices = choices_of(*option, name, known);
      if (!choices.empty())
        branches.values +=
            fmt::format("    '{} --{}') values='{}' ;;\n", path, name, fmt::join(choices, " "));
    }
  }
  for (const CLI::App* sub : listed_commands(command)) {
    words.push_back(sub->get_name());
    complete_command(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), known, branches);
  }
  if (path == "report") {
    for (const std::string name : report_options) {
      words.push_back("--" + name);
      if (const std::vector<std::string>* choices = find_in(known, name))
        branches.values += fmt::format("    'report --{}') values='{}' ;;\n", name, fmt::join(*choices, " "));
    }
  }
  if (path == "help") {
    for (const CLI::App* sub : listed_commands(*command.get_parent())) words.push_back(sub->get_name());
  }
  if (path == "methods") words.insert(words.end(), known.at("method").begin(), known.at("method").end());
  if (!path.empty()) branches.words += fmt::format("    '{}') words='{}' ;;\n", path, fmt::join(words, " "));
}

/// Returns the possible values of options that take problems, methods or similar names.
Choices known_choices(const Registry& registry) {
  Choices known{{"problem", enum_names<Problem>()}, {"precision", enum_names<Precision>()},
                {"backend", enum_names<Backend>()}, {"status", io::status_names()},
                {"kind", enum_names<MatrixKind>()}, {"uplo", enum_names<Uplo>()},
                {"sort", summary_columns()},        {"figures", {"pdf", "pgf", "svg"}}};
  for (const Method& method : registry.all()) {
    known["method"].push_back(method.id());
    known["baseline"].push_back(method.id());
  }
  return known;
}

/// @param path the names of a command and its subcommands; empty for all commands
void print_help(const CLI::App& app, const std::vector<std::string>& path) {
  const CLI::App* command = &app;
  std::string parents;
  for (const std::string& name : path) {
    parents += (parents.empty() ? "" : " ") + command->get_name();
    const CLI::App* found = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* sub : listed_commands(*command)) {
      if (sub->get_name() == name) found = sub;
      names.push_back(sub->get_name());
    }
    if (names.empty()) throw UsageError(fmt::format("help: {} has no command '{}'", parents, name));
    if (found == nullptr)
      throw UsageError(fmt::format("help: no command '{}'; {}allowed: {}", name,
                                   io::nearest_hint(name, names), fmt::join(names, ", ")));
    command = found;
  }
  // `report` is a separate program, which parses its own options.
  if (command->get_name() == "report") become_report({"--help"});
  // CLI::App::help would print the help of `help`, the command that was parsed.
  const std::string name = parents.empty() ? command->get_name() : parents + " " + command->get_name();
  fmt::print("{}", command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
}

/// Returns the manual page in troff.
std::string manual_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH GAUSSWEEP 1 \"\" \"gaussweep {}\"\n.SH NAME\ngaussweep \\- sweeps of dense linear\\-algebra "
      "methods\n"
      ".SH SYNOPSIS\n.B gaussweep\nCOMMAND [OPTION]... [ARGUMENT]...\n.SH COMMANDS\n",
      version_string);
  for (const CLI::App* sub : listed_commands(app)) describe_command(*sub, sub->get_name(), text);
  text += ".SH EXAMPLES\n.nf\n";
  for (const auto& [name, lines] : examples()) text += troff(lines) + "\n";
  return text +
         ".fi\n.SH EXIT STATUS\n0: all as expected. 1: a wrong answer that the plan did not expect. 2: usage "
         "or plan. 3: a trial crashed, timed out or could not run. 4: compare found a regression. 5: stopped "
         "early, go on with run \\-\\-resume.\n";
}

/// Returns the bash completion. It completes commands, options and the values of options, such as methods.
std::string bash_completion(const CLI::App& app, const Registry& registry) {
  std::string names;
  Branches branches;
  for (const CLI::App* sub : listed_commands(app)) names += (names.empty() ? "" : " ") + sub->get_name();
  complete_command(app, /*path=*/"", known_choices(registry), branches);
  return fmt::format(
      R"(# bash completion of gaussweep, made by: gaussweep help --bash
_gaussweep() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words='' values=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- "$current")
    return
  fi
  if [ "$command" = matrix ] && [ "$COMP_CWORD" -gt 2 ]; then command="matrix ${{COMP_WORDS[2]}}"; fi
  case "$command" in
{}  esac
  case "$command ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{}  esac
  if [ -n "$values" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    return
  fi
  case "$current" in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    *)
      if [ "$command" = matrix ] || [ "$command" = help ] || [ "$command" = methods ]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
      else mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi ;;
  esac
}}
complete -o filenames -F _gaussweep gaussweep
)",
      names, branches.words, branches.values);
}

}  // namespace

void add_examples(CLI::App& app) {
  for (const auto& [name, lines] : examples()) {
    std::string text = "Examples:\n  ";
    for (const char* c = lines; *c != '\0'; ++c)
      text += *c == '\n' ? std::string("\n  ") : std::string(1, *c);
    app.get_subcommand(name)->footer(text);
  }
}

void add_help_command(CLI::App& app, Commands& commands) {
  struct HelpOptions {
    std::vector<std::string> path;
    bool man = false, bash = false;
  };
  auto options = std::make_shared<HelpOptions>();
  CLI::App* sub = app.add_subcommand("help", "Help on a command; the manual page; completion for bash");
  sub->add_option("command", options->path, "The command, and its subcommand [all commands]");
  sub->add_flag("--man", options->man, "The whole manual page, for man -l -");
  sub->add_flag("--bash", options->bash, "Completion for bash");
  sub->callback([options, &app, &commands] {
    if (options->man) {
      fmt::print("{}", manual_page(app));
    } else if (options->bash) {
      fmt::print("{}", bash_completion(app, commands.registry));
    } else {
      print_help(app, options->path);
    }
  });
}

}  // namespace gaussweep::driver
