#include "tools/views/compare_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

std::string memory_clause(const CompareRow& best, const CompareRow& rival) {
  if (best.memory == rival.memory) return "at the same peak memory";
  if (rival.memory == 0) return fmt::format("at {} peak memory", format_size(best.memory));
  const double ratio = static_cast<double>(best.memory) / static_cast<double>(rival.memory);
  if (ratio >= 2) return fmt::format("at {:.1f} times the peak memory", ratio);
  constexpr double kShown = 0.0005;  // below, it would say 0.0 %
  if (std::abs(ratio - 1) < kShown) return "at about the same peak memory";
  const char* direction = ratio > 1 ? "more" : "less";
  return fmt::format("with {} {} peak memory", format_percent(ratio > 1 ? ratio - 1 : 1 - ratio), direction);
}

// Of runs on different numbers of devices, step times alone say nothing.
std::string reason_per_device(const CompareRow& best, const CompareRow& rival) {
  const auto terms = [](const CompareRow& row) {
    return fmt::format("{} devices, {}", devices_in(row), format_duration(row.run->report.makespan));
  };
  return fmt::format("{} does {} more work per device and second than {}: {} instead of {}", best.label,
                     format_percent(best.rate / rival.rate - 1), rival.label, terms(best), terms(rival));
}

}  // namespace

std::string reason(const CompareRow& best, const CompareRow& rival) {
  if (best.run->per_gpu && best.rate > rival.rate) {
    return fmt::format("{} trains {} more samples per GPU and second than {}, {}", best.label,
                       format_percent(best.rate / rival.rate - 1), rival.label, memory_clause(best, rival));
  }
  if (devices_in(best) != devices_in(rival) && best.rate > rival.rate) return reason_per_device(best, rival);
  if (rival.run->needs.asynchronous && !best.run->needs.asynchronous) {
    const std::string label = best.label + ": of these the only one without gradients of older weights";
    return best.run->note.empty() ? label : label + "; " + best.run->note;
  }
  const double bubble = best.run->report.bubble_ratio;
  const double other = rival.run->report.bubble_ratio;
  std::string text;
  if (best.rate > rival.rate) {
    text = fmt::format("{}: step {} shorter than with {} (bubble {} of the step instead of {}), {}", best.label,
                       format_percent(1 - rival.rate / best.rate), rival.label, format_percent(bubble),
                       format_percent(other), memory_clause(best, rival));
  } else {
    text =
        fmt::format("{} and {} are equally fast; {} {}", best.label, rival.label, best.label,
                    best.memory < rival.memory ? "does it " + memory_clause(best, rival) : "comes first in the list");
  }
  return best.run->note.empty() ? text : text + "; " + best.run->note;
}

std::string today_text(const std::vector<CompareRow>& rows, const CompareRow* best) {
  std::string text;
  for (const CompareRow& row : rows) {
    const std::vector<std::string>& in = row.run->needs.best_in;
    if (in.empty() || best == nullptr) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", fmt::join(in, ", "), row.label);
    if (row.run == best->run) continue;
    text += fmt::format(", {} longer than the best", format_percent(best->rate / row.rate - 1));
  }
  return text;
}

std::string faster_asynchronous(const std::vector<CompareRow>& rows, const CompareRow* best) {
  if (best == nullptr || best->run->needs.asynchronous) return "";
  const CompareRow* fastest = nullptr;
  int others = -1;
  for (const CompareRow& row : rows) {
    if (!eligible(row) || !row.run->needs.asynchronous || row.rate <= best->rate) continue;
    ++others;
    if (fastest == nullptr || row.rate > fastest->rate) fastest = &row;
  }
  if (fastest == nullptr) return "";
  return fmt::format("{}{} takes {} less time, but is asynchronous: gradients of older weights do not train the same",
                     fastest->label, others > 0 ? fmt::format(" (and {} more)", others) : "",
                     format_percent(1 - best->rate / fastest->rate));
}

std::string close_rows(const std::vector<CompareRow>& rows) {
  std::vector<std::string> names;
  double least = 0;
  double most = 0;
  for (const CompareRow& row : rows) {
    if (!row.run->beside) continue;
    const double needed = row.run->beside->needed;
    least = most == 0 ? needed : std::min(least, needed);
    most = std::max(most, needed);
    if (eligible(row) && too_close(row)) names.push_back(row.label);
  }
  if (names.empty()) return "";
  constexpr std::size_t kMostNames = 4;  // "~" marks them all
  if (names.size() > kMostNames) {
    const std::size_t others = names.size() - kMostNames + 1;
    names.resize(kMostNames - 1);
    names.push_back(fmt::format("{} more", others));
  }
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    text += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  }
  const std::string by = format_percent(least) == format_percent(most)
                             ? format_percent(most)
                             : format_percent(least) + " to " + format_percent(most);
  return text +
         " cannot be distinguished from the best: measured runs may rank differently where they differ by less "
         "than " +
         by + " (how: docs/models.md)";
}

}  // namespace debubble
