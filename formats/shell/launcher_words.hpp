// What launchers hand on beside the command: variables, and the words of a list.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/shell/machine.hpp"

namespace debubble::shell {

// Programs that start what stands behind their own options: torchrun, srun, env, ...
[[nodiscard]] std::vector<std::string_view> launcher_names();

[[nodiscard]] bool is_assignment(const std::string& word);
// env A=b, docker run -e A=b, mpirun -x A=b, srun --export=ALL,A=b: names with their values.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> handed_variables(const Strings& launcher);

// Whether srun or sbatch hands an exported variable on: --export without ALL names those that are.
[[nodiscard]] bool hands_on(const Strings& launcher, const std::string& name);

struct XargsWords {
  std::size_t command = 0;  // where it begins
  Strings added{};          // behind it
  bool starts = true;       // not with -r and no words at all
};
XargsWords xargs_words(Machine& machine, const Strings& words);

}  // namespace debubble::shell
