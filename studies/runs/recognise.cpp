#include "studies/runs/recognise.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "formats/text/choice.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

using Params = std::map<std::string, std::string>;

// How many forwards of its first stage device 0 begins with: the group of an interleaved schedule.
int leading_forwards(const Schedule& ran) {
  if (ran.rows.empty() || ran.rows.front().empty()) return 0;
  const std::vector<Op>& row = ran.rows.front();
  const auto end = std::find_if(row.begin(), row.end(), [&](const Op& op) {
    return op.kind != OpKind::kForward || op.stage != row.front().stage;
  });
  return static_cast<int>(end - row.begin());
}

// The parameters to try: none, each word of each parameter, and the group that the ops show.
std::vector<Params> variants_of(const ScheduleEntry& entry, const Schedule& ran) {
  std::vector<Params> variants{{}};
  for (const ParamSpec& param : entry.params) {
    if (param.name == "group") {
      const int group = leading_forwards(ran);
      if (group != ran.devices) variants.push_back({{param.name, std::to_string(group)}});
    }
    if (param.values.find('|') == std::string::npos) continue;
    for (const std::string& word : split_names(param.values)) {
      if (word != param.default_value) variants.push_back({{param.name, word}});
    }
  }
  return variants;
}

// Ops that come in the same places, counted from the front of each device's row.
std::size_t agreement(const Schedule& planned, const Schedule& ran) {
  std::size_t same = 0;
  for (std::size_t d = 0; d < std::min(planned.rows.size(), ran.rows.size()); ++d) {
    const auto& a = planned.rows[d];
    const auto& b = ran.rows[d];
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    same += static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
  }
  return same;
}

std::optional<Schedule> built(const ScheduleEntry& entry, const Schedule& ran, const Params& params) {
  try {
    return build_schedule(entry.name, {ran.devices, ran.microbatches, ran.chunks, params, nullptr});
  } catch (const InputError&) {
    return std::nullopt;  // a row that this size is not for
  }
}

}  // namespace

std::string first_difference(const Schedule& predicted, const Schedule& measured) {
  const auto counts = [](const char* what, int a, int b) {
    return "the predicted one has " + std::to_string(a) + " " + what + ", the measured one " + std::to_string(b);
  };
  if (predicted.devices != measured.devices) return counts("devices", predicted.devices, measured.devices);
  if (predicted.stages != measured.stages) return counts("stages", predicted.stages, measured.stages);
  if (predicted.total_pieces() != measured.total_pieces()) {
    return counts("microbatches", predicted.total_pieces(), measured.total_pieces());
  }
  for (std::size_t d = 0; d < predicted.rows.size(); ++d) {
    const auto& ours = predicted.rows[d];
    const auto& theirs = measured.rows[d];
    for (std::size_t k = 0; k < std::max(ours.size(), theirs.size()); ++k) {
      if (k < ours.size() && k < theirs.size() && ours[k] == theirs[k]) continue;
      const auto name = [k](const std::vector<Op>& row) {
        if (k >= row.size()) return std::string("nothing more");
        return to_string(row[k]) + (row[k].paired_with_next ? " in a pair" : "");
      };
      return "device " + std::to_string(d) + " runs " + name(ours) + " in place " + std::to_string(k + 1) +
             " of the predicted one, " + name(theirs) + " of the measured one";
    }
  }
  return "";
}

Recognition recognise(const Schedule& ran) {
  Recognition found;
  std::size_t longest = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (entry.uses_costs) continue;
    for (const Params& params : variants_of(entry, ran)) {
      const std::optional<Schedule> planned = built(entry, ran, params);
      if (!planned || planned->pieces != ran.pieces) continue;
      const std::string difference = first_difference(*planned, ran);
      if (difference.empty()) return {RecognisedSchedule{entry.name, params}, "", ""};
      const std::size_t same = agreement(*planned, ran);
      if (!found.nearest.empty() && same <= longest) continue;
      longest = same;
      found.nearest = entry.name;
      found.difference = difference;
    }
  }
  return found;
}

}  // namespace debubble
