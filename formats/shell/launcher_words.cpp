#include "formats/shell/launcher_words.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>

namespace debubble::shell {
namespace {

constexpr std::string_view kNamesVariables[] = {"-e", "-x", "-env", "-genv", "--env", "--export"};

}  // namespace

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string::npos || std::isdigit(static_cast<unsigned char>(word[0])) != 0)
    return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

std::vector<std::pair<std::string, std::string>> handed_variables(const Strings& launcher) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&all](const std::string& word) {
    if (!is_assignment(word)) return;
    const std::size_t equals = word.find('=');
    all.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  };
  const auto add_list = [&add](const std::string& list) {
    std::istringstream pieces(list);
    for (std::string piece; std::getline(pieces, piece, ',');) add(piece);
  };
  const std::string program = launcher.empty() ? "" : launcher.front().substr(launcher.front().rfind('/') + 1);
  const bool plain = program == "env" || program == "sudo";
  for (std::size_t k = 1; k < launcher.size(); ++k) {
    const std::string& word = launcher[k];
    if (plain) add(word);
    if (word.starts_with("--env=")) add(word.substr(6));
    if (word.starts_with("--export=")) add_list(word.substr(9));
    const bool named =
        std::find(std::begin(kNamesVariables), std::end(kNamesVariables), word) != std::end(kNamesVariables);
    if (!named || k + 1 >= launcher.size()) continue;
    const std::string& next = launcher[k + 1];
    if (word == "--export") {
      add_list(next);
    } else if ((word == "-env" || word == "-genv") && k + 2 < launcher.size() && !is_assignment(next)) {
      add(next + "=" + launcher[k + 2]);
    } else {
      add(next);
    }
  }
  return all;
}

bool hands_on(const Strings& launcher, const std::string& name) {
  std::string list;
  for (std::size_t k = 1; k < launcher.size(); ++k) {
    if (launcher[k].starts_with("--export=")) list = launcher[k].substr(9);
    if (launcher[k] == "--export" && k + 1 < launcher.size()) list = launcher[k + 1];
  }
  if (list.empty() || has_mark(list)) return true;
  std::istringstream pieces(list);
  for (std::string piece; std::getline(pieces, piece, ',');) {
    if (piece == "ALL" || piece.substr(0, piece.find('=')) == name) return true;
  }
  return name.starts_with("SLURM_") || name == "HOME" || name == "PATH" || name == "USER";
}

XargsWords xargs_words(Machine& machine, const Strings& words) {
  XargsWords result;
  std::optional<std::string> input = machine.state().input;
  bool plain = true;
  bool needs_words = false;
  std::size_t at = 1;
  for (; at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
    const std::string& option = words[at];
    if (option == "-r" || option == "--no-run-if-empty") {
      needs_words = true;
    } else if (option == "-a" && at + 1 < words.size()) {
      input = machine.read(words[++at]);
    } else if (option.starts_with("--arg-file=")) {
      input = machine.read(option.substr(11));
    } else if (option != "-t" && option != "--verbose") {
      plain = false;
      const bool valued = option.size() == 2 && std::string_view("nLPIdsE").find(option[1]) != std::string_view::npos;
      if (valued) ++at;
    }
  }
  result.command = at;
  plain = plain && input && input->find_first_of("'\"\\") == std::string::npos;
  if (plain && has_mark(*input)) {
    result.added = {machine.mark_of(marks(*input), "the words that `xargs` adds")};
  } else if (plain) {
    std::istringstream stream(*input);
    for (std::string word; stream >> word;) result.added.push_back(word);
    result.starts = !needs_words || !result.added.empty();
  } else {
    result.added = {machine.unknown_output(words)};
  }
  return result;
}

}  // namespace debubble::shell
