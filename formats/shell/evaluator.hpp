// What a script that starts programs does, as bash would do it, without running anything: which programs it starts,
// with which arguments, and what of that depends on things that its text does not say.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/shell/state.hpp"
#include "formats/shell/unknowns.hpp"

namespace debubble::shell {

struct Given {
  std::map<std::string, std::string> variables;  // of the environment
  bool whole_environment = false;                // all others are unset; otherwise they are not known
  std::map<int, std::string> arguments;          // $1 and so on
  bool arguments_given = false;                  // there are these and no others
  std::string path = "script.sh";                // as it is called
  std::string folder = "/";                      // where it is called
  std::map<std::string, std::string> files;      // what a path has, as the script names it
  // A file that lies there; nothing where there is none or it may not be read. May be empty.
  std::function<std::optional<std::string>(const std::string& path)> read;
};

struct Note {
  std::string text;
  int line = 0;
};

struct Evaluation {
  std::vector<Launch> launches;
  std::vector<Note> notes;  // what was taken for granted
  // Variables that are taken as not set outside of the script, with the default that counts.
  std::vector<std::pair<std::string, std::string>> unset;
  std::vector<std::string> handed_on;  // scripts that it starts, which are not here
  std::string stopped;                 // why it ended before its end: "exit 1"
  int stopped_line = 0;
  Unknowns unknowns;
};

// The path without "." and "..", of a relative one in that folder. One that begins with what is not known stays so.
[[nodiscard]] std::string whole_path(const std::string& path, const std::string& folder);

// Throws SyntaxError for what cannot be read, and for what takes too many steps or too much memory.
[[nodiscard]] Evaluation evaluate_script(const std::string& text, const Given& given);

}  // namespace debubble::shell
