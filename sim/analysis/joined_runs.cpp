#include "sim/analysis/joined_runs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// Ops by number: every op of a schedule is named by kind, stage and microbatch alone.
class OpNumbers {
 public:
  explicit OpNumbers(const Schedule& schedule)
      : stages_(schedule.stages),
        pieces_(schedule.total_pieces()),
        node_(
            static_cast<std::size_t>(kOpKinds) * static_cast<std::size_t>(stages_) * static_cast<std::size_t>(pieces_),
            -1) {}

  // nullptr for an op that the schedule cannot have.
  [[nodiscard]] NodeId* at(const Op& op) {
    if (op.stage < 0 || op.stage >= stages_ || op.microbatch < 0 || op.microbatch >= pieces_) return nullptr;
    const auto stage =
        static_cast<std::size_t>(op.kind) * static_cast<std::size_t>(stages_) + static_cast<std::size_t>(op.stage);
    return &node_[stage * static_cast<std::size_t>(pieces_) + static_cast<std::size_t>(op.microbatch)];
  }

 private:
  std::int32_t stages_;
  std::int32_t pieces_;
  std::vector<NodeId> node_;
};

std::string span_cell(const Timeline& timeline, const Span& span) {
  const Op* const partner = timeline.partner(span);
  return partner != nullptr ? "(" + to_string(span.op) + ";" + to_string(*partner) + ")OVERLAP_F_B"
                            : to_string(span.op);
}

// A pair may name its members in either order.
bool same_cell(const Timeline& one, const Span& a, const Timeline& other, const Span& b) {
  const auto same = [](const Op& x, const Op& y) {
    return x.kind == y.kind && x.stage == y.stage && x.microbatch == y.microbatch;
  };
  const Op* const with_a = one.partner(a);
  const Op* const with_b = other.partner(b);
  if (a.device != b.device || (with_a != nullptr) != (with_b != nullptr)) return false;
  if (with_a == nullptr) return same(a.op, b.op);
  return (same(a.op, b.op) && same(*with_a, *with_b)) || (same(a.op, *with_b) && same(*with_a, b.op));
}

void refuse_other_ops(const std::vector<std::string>& predicted_only, const std::vector<std::string>& measured_only) {
  std::vector<Diagnostic> problems;
  const auto add = [&](const std::vector<std::string>& names, const char* has, const char* lacks) {
    if (names.empty()) return;
    constexpr std::size_t kShown = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kShown) list += ", ...";
    problems.push_back({"D010", "",
                        std::to_string(names.size()) + (names.size() == 1 ? " op of the " : " ops of the ") + has +
                            (names.size() == 1 ? " run is not in the " : " run are not in the ") + lacks +
                            " one: " + list,
                        "compare runs of one schedule, on the same devices, with the same pairs"});
  };
  add(predicted_only, "predicted", "measured");
  add(measured_only, "measured", "predicted");
  if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace

JoinedRuns::JoinedRuns(const Schedule& schedule, const Timeline& predicted, const Timeline& measured)
    : schedule_(&schedule), timeline_(&predicted) {
  const auto devices = static_cast<std::size_t>(predicted.devices);
  predicted_.rows.resize(devices);
  measured_.rows.resize(devices);
  for (NodeId i = 0; i < static_cast<NodeId>(predicted.spans.size()); ++i) {
    const Span& span = predicted.spans[to_index(i)];
    predicted_.rows[to_index(span.device)].push_back(i);
    predicted_.begin.push_back(span.begin);
    predicted_.end.push_back(span.end);
  }
  for (const Transfer& transfer : predicted.transfers) {
    predicted_.begin.push_back(transfer.begin);
    predicted_.end.push_back(transfer.end);
  }
  measured_.begin.resize(size());
  measured_.end.resize(size());
  join_spans(schedule, measured);
  join_transfers(schedule, measured);
}

void JoinedRuns::join_spans(const Schedule& schedule, const Timeline& measured) {
  OpNumbers numbers(schedule);
  for (NodeId i = 0; i < static_cast<NodeId>(spans()); ++i) {
    if (NodeId* number = numbers.at(span(i).op)) *number = i;
    const Op* const with = timeline_->partner(span(i));
    NodeId* partner = with != nullptr ? numbers.at(*with) : nullptr;
    if (partner != nullptr) *partner = i;
  }
  std::vector<bool> matched(spans(), false);
  std::vector<std::string> predicted_only;
  std::vector<std::string> measured_only;
  for (const Span& other : measured.spans) {
    const NodeId* found = numbers.at(other.op);
    if (found == nullptr || *found < 0 || !same_cell(*timeline_, span(*found), measured, other)) {
      measured_only.push_back(span_cell(measured, other));
      continue;
    }
    const auto node = static_cast<std::size_t>(*found);
    matched[node] = true;
    measured_.begin[node] = other.begin;
    measured_.end[node] = other.end;
    measured_.rows[to_index(other.device)].push_back(*found);
  }
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (!matched[i]) predicted_only.push_back(span_cell(*timeline_, timeline_->spans[i]));
  }
  refuse_other_ops(predicted_only, measured_only);
}

// A transfer that nobody saw in the measured run took there as long after its maker, and as long, as predicted.
void JoinedRuns::join_transfers(const Schedule& schedule, const Timeline& measured) {
  OpNumbers numbers(schedule);
  for (auto i = static_cast<NodeId>(spans()); i < static_cast<NodeId>(size()); ++i) {
    const Transfer& one = transfer(i);
    if (NodeId* number = numbers.at(one.op)) *number = i;
    const auto node = static_cast<std::size_t>(i);
    if (one.from_span >= 0) {
      const auto maker = static_cast<std::size_t>(one.from_span);
      const Nanoseconds later = measured_.end[maker] - predicted_.end[maker];
      measured_.begin[node] = predicted_.begin[node] + later;
      measured_.end[node] = predicted_.end[node] + later;
    }
  }
  for (const Transfer& other : measured.transfers) {
    const NodeId* found = numbers.at(other.op);
    if (found == nullptr || *found < 0 || transfer(*found).to_device != other.to_device) continue;
    if (other.assumed) continue;
    const auto node = static_cast<std::size_t>(*found);
    measured_.begin[node] = other.begin;
    measured_.end[node] = other.end;
    ++transfers_matched_;
  }
}

}  // namespace debubble
