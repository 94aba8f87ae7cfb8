#include "schedules/transforms/request.hpp"

#include <algorithm>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

void TransformParams::refuse(std::string code, std::string_view key, std::string message, std::string help) const {
  std::string place = "--transform " + name_;
  if (!key.empty()) place += ":" + std::string(key);
  throw InputError(Diagnostic{std::move(code), std::move(place), std::move(message), std::move(help)});
}

std::string TransformParams::text(std::string_view key) const {
  const auto found = request_->params.find(std::string(key));
  return found == request_->params.end() ? std::string() : found->second;
}

int TransformParams::whole(std::string_view key, int fallback, int least) const {
  if (!given(key)) return fallback;
  const auto value = read_whole<int>(text(key));
  if (!value || *value < least) {
    refuse("C012", key, "\"" + text(key) + "\" is not a whole number of at least " + std::to_string(least),
           "write " + std::string(key) + "=" + std::to_string(std::max(fallback, least)));
  }
  return *value;
}

std::string TransformParams::choice(std::string_view key, std::string_view choices) const {
  const std::vector<std::string> names = split(choices, '|');
  if (!given(key)) return names.front();
  std::string value = text(key);
  if (std::find(names.begin(), names.end(), value) != names.end()) return value;
  const std::string guess = closest_name(value, names);
  refuse("S007", key, "\"" + value + "\" is not one of " + std::string(choices),
         guess.empty() ? "write " + std::string(key) + "=" + names.front() : "did you mean " + guess + "?");
}

bool TransformParams::flag(std::string_view key, bool fallback) const {
  return choice(key, fallback ? "true|false" : "false|true") == "true";
}

double TransformParams::share(std::string_view key, double fallback) const {
  if (!given(key)) return fallback;
  const auto value = number_of(text(key));
  if (!value || *value < 0 || *value > 1) {
    refuse("S006", key, "\"" + text(key) + "\" is not a share from 0 to 1",
           "write a share from 0 to 1, e.g. " + std::string(key) + "=" + (key == "time" ? "1" : "0.5"));
  }
  return *value;
}

std::vector<bool> TransformParams::selection(std::string_view key, int count) const {
  const std::string value = given(key) ? text(key) : "all";
  std::vector<bool> chosen(static_cast<std::size_t>(count), value == "all");
  if (value == "all") return chosen;
  for (const std::string& item : split(value, '+')) {
    const std::vector<std::string> ends = split(item, '-');
    const int first = read_whole<int>(ends.front()).value_or(-1);
    const int last = read_whole<int>(ends.back()).value_or(-1);
    if (ends.size() > 2 || first < 0 || first > last || last >= count) {
      refuse("S061", key, "\"" + item + "\" is not a number or range from 0 to " + std::to_string(count - 1),
             "write it like " + std::string(key) + "=0 or " + std::string(key) + "=0+2-3, or leave it out for all");
    }
    std::fill(chosen.begin() + first, chosen.begin() + last + 1, true);
  }
  return chosen;
}

void sign(Schedule& schedule, const std::string& transform,
          const std::vector<std::pair<std::string, std::string>>& params) {
  // Every application appends its name once, so the name tells how often it was applied.
  const std::string mark = " + " + transform;
  std::size_t before = 0;
  for (std::size_t at = schedule.name.find(mark); at != std::string::npos; at = schedule.name.find(mark, at + 1)) {
    const std::size_t end = at + mark.size();
    if (end == schedule.name.size() || schedule.name[end] == ' ') ++before;
  }
  const std::string prefix = before == 0 ? transform : transform + "#" + std::to_string(before + 1);
  schedule.name += mark;
  for (const auto& [key, value] : params) schedule.params.emplace_back(prefix + "." + key, value);
}

}  // namespace debubble
