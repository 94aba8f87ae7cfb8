#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "studies/paste/script_patch.hpp"

namespace debubble {
namespace {

constexpr std::size_t kContext = 3;

struct DiffStep {
  char kind = ' ';  // ' ' in both, '-' before, '+' after
  std::string_view line;
};

std::vector<std::string_view> lines_with_ends(const std::string& text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.emplace_back(std::string_view(text).substr(at, end - at));
    at = end;
  }
  return lines;
}

// Myers's greedy search (1986): with d changes, diagonal k (lines before less lines after) is reached this far at most.
// Of n lines with d changes it takes n d steps and d squared numbers, and changes are few where flags of a script are.
class FewestChanges {
 public:
  FewestChanges(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after)
      : before_(before), after_(after) {}

  std::vector<DiffStep> run() {
    while (!reached_end()) {
    }
    return walked_back();
  }

 private:
  // Whether change d leads to diagonal k by a line of `after`, not one of `before`: from k + 1, which then is further.
  [[nodiscard]] bool adds(int d, int k) const { return k == -d || (k != d && far(d - 1, k - 1) < far(d - 1, k + 1)); }
  [[nodiscard]] int far(int d, int k) const { return at(at(far_, d), k + d); }

  // One change more.
  bool reached_end() {
    const int d = static_cast<int>(far_.size());
    const int rows = static_cast<int>(before_.size());
    const int columns = static_cast<int>(after_.size());
    std::vector<int> reached(2 * far_.size() + 1);
    for (int k = -d; k <= d; k += 2) {
      int row = 0;
      if (d > 0) row = adds(d, k) ? far(d - 1, k + 1) : far(d - 1, k - 1) + 1;
      while (row < rows && row - k < columns && at(before_, row) == at(after_, row - k)) ++row;
      at(reached, k + d) = row;
      if (k == rows - columns && row >= rows) {
        far_.push_back(std::move(reached));
        return true;
      }
    }
    far_.push_back(std::move(reached));
    return false;
  }

  [[nodiscard]] std::vector<DiffStep> walked_back() const {
    std::vector<DiffStep> steps;
    int row = static_cast<int>(before_.size());
    int column = static_cast<int>(after_.size());
    for (int d = static_cast<int>(far_.size()) - 1; d >= 0; --d) {
      const int k = row - column;
      const bool added = d > 0 && adds(d, k);
      const int begin = d == 0 ? 0 : added ? far(d - 1, k + 1) : far(d - 1, k - 1) + 1;
      for (; row > begin; --column) steps.push_back({' ', at(before_, --row)});
      if (d > 0) steps.push_back(added ? DiffStep{'+', at(after_, --column)} : DiffStep{'-', at(before_, --row)});
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const std::vector<std::string_view>& before_;
  const std::vector<std::string_view>& after_;
  std::vector<std::vector<int>> far_;  // by changes: of each diagonal from -d on, the lines before
};

std::string hunk_range(std::size_t begin, std::size_t count) {
  return std::to_string(count == 0 ? begin : begin + 1) + "," + std::to_string(count);
}

}  // namespace

std::string unified_diff(const std::string& before, const std::string& after, const std::string& name) {
  const std::vector<std::string_view> old_lines = lines_with_ends(before);
  const std::vector<std::string_view> new_lines = lines_with_ends(after);
  const std::vector<DiffStep> steps = FewestChanges(old_lines, new_lines).run();
  std::string text;
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  std::size_t done = 0;
  const auto changed = [](const DiffStep& step) { return step.kind != ' '; };
  for (;;) {
    const auto first = static_cast<std::size_t>(
        std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(done), steps.end(), changed) - steps.begin());
    if (first == steps.size()) return text.empty() ? text : "--- " + name + "\n+++ " + name + "\n" + text;
    std::size_t last = first;
    for (std::size_t k = first; k < steps.size() && k <= last + 2 * kContext; ++k) {
      if (changed(steps[k])) last = k;
    }
    const std::size_t begin = std::max(done, first - std::min(first, kContext));
    const std::size_t end = std::min(steps.size(), last + kContext + 1);
    old_line += begin - done;
    new_line += begin - done;
    std::string body;
    std::size_t of_old = 0;
    std::size_t of_new = 0;
    for (std::size_t k = begin; k < end; ++k) {
      of_old += steps[k].kind != '+';
      of_new += steps[k].kind != '-';
      body += steps[k].kind + std::string(steps[k].line);
      if (!steps[k].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    text += "@@ -" + hunk_range(old_line, of_old) + " +" + hunk_range(new_line, of_new) + " @@\n" + body;
    old_line += of_old;
    new_line += of_new;
    done = end;
  }
}

}  // namespace debubble
