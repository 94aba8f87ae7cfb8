#include "tools/reference/man_page.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/version.hpp"

namespace debubble {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kExitStatusRows{{
    {"0", "fine"},
    {"1", "a finding: a threshold crossed, a deadlock, out of memory"},
    {"2", "wrong usage or input"},
    {"3", "something that this machine lacks"},
    {"70", "a bug of debubble"},
    {"130", "interrupted"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEnvironmentRows{{
    {"NO_COLOR", "when set, nothing is coloured"},
    {"DEBUBBLE_MPI_PLUGIN", "the plugin for runs over MPI, instead of the installed one"},
    {"DEBUBBLE_CBC_PLUGIN", "the plugin for the solver CBC, instead of the installed one"},
    {"DEBUBBLE_CUPTI", "the CUPTI library to measure with"},
}};

// As text of a page: a backslash and a hyphen stay what they are, and no line begins a request by accident.
std::string roff_text(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char character : text) {
    if (line_begins && (character == '.' || character == '\'')) result += "\\&";
    switch (character) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        result += character;
    }
    line_begins = character == '\n';
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string in_capitals(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::toupper(c); });
  return result;
}

std::string page_head(const std::string& name, std::string_view summary) {
  return ".\\\" Made by `debubble list man-pages " + name + "` from the rows of which --help is made.\n.TH " +
         roff_text(in_capitals(name)) + " 1 \"\" \"debubble " + std::string(kVersion) + "\"\n.SH NAME\n" +
         roff_text(name) + " \\- " + roff_text(summary) + "\n";
}

// A term with what it means.
std::string tagged(const std::string& term, std::string_view text) {
  return ".TP\n" + term + "\n" + (text.empty() ? "\\&" : roff_text(text)) + "\n";
}

std::string flag_term(const Flag& flag) {
  if (is_positional(flag)) return italic(flag.name);
  std::string term;
  for (const std::string_view name : names_of(flag)) term += (term.empty() ? "" : ", ") + bold(name);
  const std::string_view type = type_of(flag);
  return type.empty() ? term : term + " " + italic(type);
}

std::string flag_entry(const Flag& flag) {
  std::string text = help_of(flag);
  if (flag.required) text += " (required)";
  return tagged(flag_term(flag), text);
}

// The groups in the order in which the help has them: positional arguments, flags without a group, then each heading.
std::vector<std::string_view> groups_of(const FlagRows& rows) {
  std::vector<std::string_view> groups{""};
  for (const Flag& flag : rows) {
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  }
  return groups;
}

std::string positional_section(const FlagRows& rows) {
  std::string text;
  for (const Flag& flag : rows) {
    if (is_positional(flag)) text += flag_entry(flag);
  }
  return text.empty() ? text : ".SH ARGUMENTS\n" + text;
}

std::string flags_section(const FlagRows& rows) {
  std::string text = ".SH OPTIONS\n" + tagged(bold("-h") + ", " + bold("--help"), "a summary of this page");
  for (const std::string_view group : groups_of(rows)) {
    std::string entries;
    for (const Flag& flag : rows) {
      if (!is_positional(flag) && flag.group == group) entries += flag_entry(flag);
    }
    if (!group.empty() && !entries.empty()) text += ".SS " + roff_text(group) + "\n";
    text += entries;
  }
  return text;
}

std::string synopsis_of(const DocumentedVerb& verb) {
  std::string text = ".SH SYNOPSIS\n" + bold("debubble " + std::string(verb.facts.name)) + "\n";
  for (const Flag& flag : *verb.rows) {
    if (!is_positional(flag)) continue;
    const std::string name = italic(flag.name) + (takes_list(flag) ? " ..." : "");
    text += (flag.required ? name : "[" + name + "]") + "\n";
  }
  text += "[" + italic("FLAG") + " ...]\n";
  if (verb.takes_program) text += "[" + bold("--") + " " + italic("PROGRAM") + " " + italic("ARGUMENT") + " ...]\n";
  return text;
}

// The example is one command in each line, the later ones indented for the help.
std::string example_section(std::string_view example) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (std::size_t begin = 0; begin < example.size();) {
    const std::size_t end = std::min(example.find('\n', begin), example.size());
    std::string_view line = example.substr(begin, end - begin);
    while (line.starts_with(' ')) line.remove_prefix(1);
    text += bold(line) + "\n";
    begin = end + 1;
  }
  return text + ".fi\n";
}

template <typename Rows>
std::string man_section(const char* heading, const Rows& rows) {
  std::string text = std::string(".SH ") + heading + "\n";
  for (const auto& [term, meaning] : rows) text += tagged(bold(term), meaning);
  return text;
}

}  // namespace

std::string overview_man_page(std::span<const DocumentedVerb> verbs) {
  std::string text = page_head("debubble", "where pipeline-parallel training waits, and why");
  text += ".SH SYNOPSIS\n" + bold("debubble") + " " + italic("VERB") + "\n[" + italic("FLAG") + " ...]\n.br\n" +
          bold("debubble --version") + "\n";
  text += ".SH DESCRIPTION\n" +
          roff_text(
              "Replays pipeline-parallel schedules over measured or modelled stage times, measures those times, and "
              "runs schedules for real. Each verb has a page of its own: debubble-simulate(1) and so on.\n");
  text += ".SH VERBS\n";
  for (const DocumentedVerb& verb : verbs) text += tagged(bold(verb.facts.name), verb.facts.summary);
  text += ".SH EXAMPLES\n.nf\n" + bold("debubble simulate --schedule 1f1b -p 4 -m 8") + "\n" +
          bold("debubble compare -p 4 -m 8") + "\n.fi\n";
  text += man_section("EXIT STATUS", kExitStatusRows) + man_section("ENVIRONMENT", kEnvironmentRows);
  text +=
      ".SH FILES\n" + tagged(italic("PREFIX/share/debubble/traces"),
                             "published profiles, records of published results, measured runs; read from any folder "
                             "as traces/published/NAME.json");
  text += tagged(italic("PREFIX/share/debubble/kernels"), "measured kernels");
  text += tagged(italic("PREFIX/share/debubble/python"), "the Python packages debubble_hooks and debubble_torch");
  text += tagged(italic("PREFIX/lib/debubble"), "the library that records a program, and plugins");
  return text;
}

std::string verb_man_page(const DocumentedVerb& verb) {
  return page_head("debubble-" + std::string(verb.facts.name), verb.facts.summary) + synopsis_of(verb) +
         positional_section(*verb.rows) + flags_section(*verb.rows) + example_section(verb.facts.example) +
         man_section("EXIT STATUS", kExitStatusRows) + ".SH SEE ALSO\n.BR debubble (1)\n";
}

}  // namespace debubble
