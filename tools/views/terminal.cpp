#include "tools/views/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "sim/core/numbers.hpp"
#include "tools/views/style.hpp"

namespace debubble {
namespace {

constexpr int kWidestTerminal = 1000;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<int> positive_count(const std::string& text) {
  const auto value = read_whole<int>(text);
  return value && *value > 0 ? value : std::nullopt;
}

bool forces(const std::string& value) { return !value.empty() && value != "0"; }

}  // namespace

TerminalFacts terminal_facts() {
  TerminalFacts facts;
  facts.is_terminal = isatty(STDOUT_FILENO) == 1;
  winsize window{};
  if (facts.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    facts.window_columns = window.ws_col;
  }
  facts.no_color = environment("NO_COLOR");
  facts.force_color = environment("FORCE_COLOR");
  facts.clicolor_force = environment("CLICOLOR_FORCE");
  facts.term = environment("TERM");
  facts.columns = environment("COLUMNS");
  return facts;
}

bool use_color(ColorChoice choice, const TerminalFacts& facts) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!facts.no_color.empty()) return false;
  if (forces(facts.force_color) || forces(facts.clicolor_force)) return true;
  return facts.is_terminal && facts.term != "dumb";
}

int use_width(std::optional<int> flag, const TerminalFacts& facts) {
  std::optional<int> width = flag;
  if (!width) width = positive_count(facts.columns);
  if (!width) width = facts.window_columns;
  return std::clamp(width.value_or(80), kNarrowest, kWidestTerminal);
}

}  // namespace debubble
