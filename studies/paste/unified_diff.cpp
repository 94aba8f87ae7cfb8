#include <algorithm>
#include <cstddef>
#include <vector>

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

// By the longest common subsequence of what lies between the lines that begin and end both.
std::vector<DiffStep> diff_steps(const std::vector<std::string_view>& before,
                                 const std::vector<std::string_view>& after) {
  std::size_t head = 0;
  while (head < std::min(before.size(), after.size()) && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < std::min(before.size(), after.size()) - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t rows = before.size() - head - tail;
  const std::size_t columns = after.size() - head - tail;
  std::vector<std::vector<int>> common(rows + 1, std::vector<int>(columns + 1, 0));
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      common[i][j] =
          before[head + i] == after[head + j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<DiffStep> steps;
  for (std::size_t k = 0; k < head; ++k) steps.push_back({' ', before[k]});
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && j < columns && before[head + i] == after[head + j]) {
      steps.push_back({' ', before[head + i++]});
      ++j;
    } else if (i < rows && (j == columns || common[i + 1][j] >= common[i][j + 1])) {
      steps.push_back({'-', before[head + i++]});
    } else {
      steps.push_back({'+', after[head + j++]});
    }
  }
  for (std::size_t k = before.size() - tail; k < before.size(); ++k) steps.push_back({' ', before[k]});
  return steps;
}

std::string hunk_range(std::size_t begin, std::size_t count) {
  return std::to_string(count == 0 ? begin : begin + 1) + "," + std::to_string(count);
}

}  // namespace

std::string unified_diff(const std::string& before, const std::string& after, const std::string& name) {
  const std::vector<DiffStep> steps = diff_steps(lines_with_ends(before), lines_with_ends(after));
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
