#include "tools/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "live/backends.hpp"

namespace debubble {

std::string speaker_prefix(const std::vector<std::string>& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments.front();
  if (verb != "live" && verb != "sweep" && verb != "plan") return "";
  const std::optional<int> rank = live::mpi_rank_of_environment();
  if (!rank || *rank == 0) return "";
  std::this_thread::sleep_for(std::chrono::seconds(3));
  return "rank " + std::to_string(*rank) + ": ";
}

std::string prefixed(const std::string& prefix, const std::string& text) {
  if (prefix.empty()) return text;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    result += prefix + text.substr(begin, end - begin);
    begin = end;
  }
  return result;
}

}  // namespace debubble
