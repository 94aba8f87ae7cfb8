// What a guarded run recorded, read as what it is: the words of a stranger.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace debubble {

struct StartedProgram {
  std::string name;
  std::string folder;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> files;  // by whole path
  std::vector<std::pair<std::string, std::string>> environment;
};

struct MissingProgram {
  std::string name;
  std::string line;
};

struct RunRecords {
  std::optional<int> status;  // of the script
  std::vector<StartedProgram> started;
  std::vector<MissingProgram> missing;
};

// Nothing where they are not as the stand-ins write them.
[[nodiscard]] std::optional<RunRecords> read_records(const std::string& text);

// The starts as a script that starts the same: each in a subshell with the variables that it had.
[[nodiscard]] std::string as_script(const std::vector<StartedProgram>& started);

}  // namespace debubble
