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
constexpr std::string_view kRankOf = "   rank ";
constexpr std::string_view kDots = " ..";

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

// A number with nothing but blanks behind it.
std::optional<Nanoseconds> whole_milliseconds(std::string_view text) {
  const std::string_view number = number_at(text);
  const std::size_t end = static_cast<std::size_t>(number.data() - text.data()) + number.size();
  if (text.find_first_not_of(' ', end) != std::string_view::npos) return std::nullopt;
  return logged_milliseconds(number);
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

bool TimerLines::read(std::string_view line, std::size_t lines_before) {
  const std::size_t one_line = line.find(kOneLine);
  if (one_line != std::string_view::npos) {
    close();
    tables_.push_back({lines_before, {}});
    read_one_line(line.substr(one_line + kOneLine.size()), tables_.back().timers);
    return true;
  }
  const Form begun = contains_text(line, kLeastAndMost) ? Form::kLeastAndMost
                     : contains_text(line, kMost)       ? Form::kMost
                     : contains_text(line, kEachRank)   ? Form::kEachRank
                                                        : Form::kNone;
  if (begun == Form::kNone) return form_ != Form::kNone && read_below(line);
  form_ = begun;
  name_.clear();
  tables_.push_back({lines_before, {}});
  return true;
}

bool TimerLines::tear() {
  ++torn_;
  return true;
}

// "     rank  0: 173.61". Ranks ascend: one that does not is of a timer whose name was torn.
bool TimerLines::read_rank(std::string_view before, std::string_view value) {
  const auto rank = whole_number(number_at(before.substr(before.rfind(kRankOf) + kRankOf.size())));
  const auto time = whole_milliseconds(value);
  if (rank && *rank <= rank_) name_.clear();
  if (!rank || !time || name_.empty()) return tear();
  rank_ = *rank;
  add({name_, LoggedTimer::Of::kRank, *rank, *time});
  return true;
}

bool TimerLines::read_below(std::string_view line) {
  const std::size_t marked = line.rfind(form_ == Form::kEachRank ? kRankOf : kDots);
  const std::size_t colon = marked == std::string_view::npos ? line.rfind(':') : line.find(':', marked);
  if (colon == std::string_view::npos) return false;
  const std::string_view before = line.substr(0, colon);
  const std::string_view value = line.substr(colon + 1);
  if (form_ == Form::kEachRank) {
    if (contains_text(before, kRankOf)) return read_rank(before, value);
    const std::string_view name = last_word(before);
    const std::string_view indent = before.substr(0, before.size() - name.size());
    if (!value.empty() || !is_timer_name(name) || !(indent.empty() || indent.ends_with("  "))) return false;
    name_ = std::string(name);
    rank_ = -1;
    return true;
  }
  const std::size_t dots = before.find(kDots);
  if (dots == std::string_view::npos) return false;
  const std::string name(last_word(before.substr(0, dots)));
  if (!is_timer_name(name)) return false;
  if (form_ == Form::kMost) {
    const auto most = whole_milliseconds(value);
    if (!most) return tear();
    add({name, LoggedTimer::Of::kMostRank, 0, *most});
    return true;
  }
  const std::size_t open = value.find('(');
  const std::size_t comma = value.find(',');
  const std::size_t close = value.find(')');
  if (open == std::string_view::npos || comma == std::string_view::npos || close == std::string_view::npos)
    return tear();
  if (open > comma || comma > close) return tear();
  const auto least = whole_milliseconds(value.substr(open + 1, comma - open - 1));
  const auto most = whole_milliseconds(value.substr(comma + 1, close - comma - 1));
  if (!least || !most || *least > *most) return tear();
  add({name, LoggedTimer::Of::kLeastRank, 0, *least});
  add({name, LoggedTimer::Of::kMostRank, 0, *most});
  return true;
}

}  // namespace debubble
