#include "formats/megatron/log_timers.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::string_view kOneLine = "time (ms) | ";
constexpr std::string_view kLeastAndMost = "(min, max) time across ranks (ms):";
constexpr std::string_view kMost = "max time across ranks (ms):";
constexpr std::string_view kEachRank = "times across ranks (ms):";

// The word that ends the text: launchers may have put something in front of it.
std::string_view last_word(std::string_view text) {
  const std::size_t blank = text.find_last_of(" \t");
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

bool is_timer_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '/';
  });
}

// "forward-compute: 173.61 | forward-recv: 126.41".
void read_one_line(std::string_view rest, std::vector<LoggedTimer>& timers) {
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view item = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) continue;
    const std::size_t begin = std::min(item.find_first_not_of(' '), colon);
    const std::string_view name = item.substr(begin, colon - begin);
    const auto time = logged_milliseconds(number_at(item.substr(colon + 1)));
    if (time && is_timer_name(name)) timers.push_back({std::string(name), LoggedTimer::Of::kLastRank, 0, *time});
  }
}

}  // namespace

std::string_view number_at(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_not_of("0123456789."));
}

std::optional<Nanoseconds> logged_milliseconds(std::string_view number) {
  const auto time = nanoseconds_of_micros(std::string(number) + "e3");
  return time && *time >= 0 && *time <= kLongestDuration ? time : std::nullopt;
}

bool TimerLines::read(std::string_view line, std::vector<LoggedTimer>& timers) {
  const std::size_t one_line = line.find(kOneLine);
  if (one_line != std::string_view::npos) {
    form_ = Form::kNone;
    read_one_line(line.substr(one_line + kOneLine.size()), timers);
    return true;
  }
  const Form begun = contains_text(line, kLeastAndMost) ? Form::kLeastAndMost
                     : contains_text(line, kMost)       ? Form::kMost
                     : contains_text(line, kEachRank)   ? Form::kEachRank
                                                        : Form::kNone;
  if (begun != Form::kNone) {
    form_ = begun;
    name_.clear();
    return true;
  }
  if (form_ != Form::kNone && read_below(line, timers)) return true;
  form_ = Form::kNone;
  return false;
}

bool TimerLines::read_below(std::string_view line, std::vector<LoggedTimer>& timers) {
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view before = line.substr(0, colon);
  std::string_view value = line.substr(colon + 1);
  if (form_ == Form::kEachRank) {
    const std::size_t rank = before.rfind("rank ");
    if (rank == std::string_view::npos) {
      name_ = std::string(last_word(before));
      return value.empty() && is_timer_name(name_);
    }
    const auto number = whole_number(number_at(before.substr(rank + 5)));
    const auto time = logged_milliseconds(number_at(value));
    if (!number || !time || name_.empty()) return false;
    timers.push_back({name_, LoggedTimer::Of::kRank, *number, *time});
    return true;
  }
  const std::size_t dots = before.find(" ..");
  if (dots == std::string_view::npos) return false;
  const std::string name(last_word(before.substr(0, dots)));
  if (!is_timer_name(name)) return false;
  if (form_ == Form::kMost) {
    const auto most = logged_milliseconds(number_at(value));
    if (most) timers.push_back({name, LoggedTimer::Of::kMostRank, 0, *most});
    return most.has_value();
  }
  const std::size_t open = value.find('(');
  const std::size_t comma = value.find(',');
  if (open == std::string_view::npos || comma == std::string_view::npos || comma < open) return false;
  const auto least = logged_milliseconds(number_at(value.substr(open + 1)));
  const auto most = logged_milliseconds(number_at(value.substr(comma + 1)));
  if (!least || !most || *least > *most) return false;
  timers.push_back({name, LoggedTimer::Of::kLeastRank, 0, *least});
  timers.push_back({name, LoggedTimer::Of::kMostRank, 0, *most});
  return true;
}

}  // namespace debubble
