#include "studies/sweep/space.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "scenario/request/alternatives.hpp"
#include "scenario/request/checks.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

bool takes_whole_numbers(const Flag& flag) {
  return std::holds_alternative<int*>(flag.target) || std::holds_alternative<std::optional<int>*>(flag.target) ||
         std::holds_alternative<std::optional<std::int64_t>*>(flag.target);
}

// One of several that all count is an axis of its own; otherwise all that was typed is one list.
bool counts_apart(const Flag& flag) { return flag.count != FlagCount::kLast && takes_list(flag); }

void require_values(const Flag& flag, const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    if (set_flag(flag, value)) continue;
    fail("C061", std::string(flag.name), "\"" + value + "\" is not a whole number up to 2147483647",
         "write it like " + std::string(flag.name) + " 2,4,8 or " + std::string(flag.name) + " 2:16:*2");
  }
}

// "group" where all values are of that key.
std::string key_of_all(const std::vector<std::string>& values) {
  const std::string key = values.front().substr(0, values.front().find('=') + 1);
  const bool all = std::all_of(values.begin(), values.end(), [&](const std::string& v) { return v.starts_with(key); });
  return all && key.size() > 1 ? key.substr(0, key.size() - 1) : "";
}

std::string axis_name(const Flag& flag, const std::vector<std::string>& values) {
  std::string name(key_of(flag));
  const std::string key = flag.form == FlagForm::kKeyed ? key_of_all(values) : "";
  return key.empty() ? name : name + "." + key;
}

}  // namespace

SweepFlags::SweepFlags() : simulate_rows_(flag_rows(of_rows_)), texts_(simulate_rows_.size()) {}

FlagRows SweepFlags::rows() {
  FlagRows rows = simulate_rows_;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Flag& row = rows[k];
    row.count = is_switch(row) ? FlagCount::kMaybe : FlagCount::kSingly;
    if (is_switch(row)) row.words = "off|on";
    row.preset = {};
    row.target = &texts_[k];
  }
  return rows;
}

SweepSpace::SweepSpace(const SweepFlags& flags) {
  ScenarioFlags scratch;
  const FlagRows rows = flag_rows(scratch);
  std::map<std::string, int> named;
  Checks checks;
  const auto add = [&](std::size_t row, std::vector<std::string> values) {
    require_values(rows[row], values);
    std::string name = axis_name(rows[row], values);
    const int number = ++named[name];
    if (number > 1) name += "." + std::to_string(number);
    axes_.push_back({row, std::move(name), takes_whole_numbers(rows[row]), is_switch(rows[row]), rows[row].of_schedule,
                     std::move(values)});
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string joined;  // occurrences of a flag that is one axis
    for (const std::string& text : flags.texts()[row]) {
      if (counts_apart(rows[row])) {
        checks.run([&] { add(row, alternatives_of(rows[row], text)); });
      } else {
        const bool semicolons = joined.find(';') != std::string::npos || text.find(';') != std::string::npos ||
                                rows[row].form != FlagForm::kPlain;
        joined += (joined.empty() ? "" : semicolons ? ";" : ",") + text;
      }
    }
    if (!joined.empty()) checks.run([&] { add(row, alternatives_of(rows[row], joined)); });
  }
  checks.finish();
  for (const SweepAxis& axis : axes_) {
    const auto count = static_cast<std::int64_t>(axis.values.size());
    if (rows_ > kMostRows / count) {
      fail("C012", "debubble sweep", "more than " + std::to_string(kMostRows) + " combinations",
           "give fewer values, or several sweeps");
    }
    rows_ *= count;
  }
}

std::vector<const SweepAxis*> SweepSpace::varied() const {
  std::vector<const SweepAxis*> varied;
  for (const SweepAxis& axis : axes_) {
    if (axis.values.size() > 1) varied.push_back(&axis);
  }
  return varied;
}

std::vector<std::size_t> SweepSpace::places(std::int64_t row) const {
  std::vector<std::size_t> places(axes_.size());
  for (std::size_t k = axes_.size(); k-- > 0;) {
    const auto count = static_cast<std::int64_t>(axes_[k].values.size());
    places[k] = static_cast<std::size_t>(row % count);
    row /= count;
  }
  return places;
}

SweepPoint::SweepPoint(const SweepSpace& space) : space_(space), rows_(flag_rows(flags_)) {}

void SweepPoint::move_to(std::int64_t row) {
  std::vector<std::size_t> places = space_.places(row);
  if (places == places_) return;
  places_ = std::move(places);
  flags_ = ScenarioFlags();
  flags_.cluster.known = known_;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const SweepAxis& axis = space_.axes()[k];
    const std::string& value = axis.values[places_[k]];
    if (is_switch(rows_[axis.row]) && value == "false") continue;
    if (!set_flag(rows_[axis.row], value)) throw std::logic_error("a value that was checked is refused: " + value);
  }
}

}  // namespace debubble
