#include "tools/views/brief_assumptions.hpp"

#include <algorithm>
#include <iterator>

namespace debubble {

namespace {

bool says_nothing_new(const Assumption& one) {
  if (!one.subject.empty() && one.source == Source::kGiven)
    return true;  // typed with the topology, whose text is shown
  return one.source == Source::kDefault && !one.changes_result;
}

}  // namespace

std::vector<BriefAssumption> brief_assumptions(const std::vector<Assumption>& all) {
  std::vector<BriefAssumption> brief;
  for (const Assumption& one : all) {
    if (says_nothing_new(one)) continue;
    if (one.subject.empty()) {
      brief.push_back({label(one), one.amount, one.source});
      continue;
    }
    const std::string text = one.key + " " + one.amount;
    const auto together = std::find_if(brief.begin(), brief.end(), [&](const BriefAssumption& other) {
      return other.what == one.subject && other.source == one.source;
    });
    if (together == brief.end()) {
      brief.push_back({one.subject, text, one.source});
    } else {
      together->amount += ", " + text;
    }
  }
  return brief;
}

std::vector<Assumption> unsettled(const std::vector<Assumption>& all) {
  std::vector<Assumption> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [](const Assumption& one) {
    return one.changes_result && (one.source == Source::kDefault || one.source == Source::kModelled);
  });
  return some;
}

}  // namespace debubble
