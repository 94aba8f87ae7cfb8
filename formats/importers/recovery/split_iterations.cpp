#include "formats/importers/recovery/split_iterations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr const char* kMarkSteps =
    "mark them: prof.step() of torch.profiler, or a range named \"iteration N\" around each";

std::int32_t forwards_among(const std::vector<FoundOp>& ops) {
  return static_cast<std::int32_t>(
      std::count_if(ops.begin(), ops.end(), [](const FoundOp& op) { return op.kind == OpKind::kForward; }));
}

// How many forwards had run at each point at which all had had their backward; nothing where a backward comes before
// its forward.
std::optional<std::vector<std::int32_t>> empty_points(const std::vector<FoundOp>& ops) {
  std::vector<std::int32_t> points;
  std::int32_t forwards = 0;
  std::int32_t open = 0;
  for (const FoundOp& op : ops) {
    const bool forward = op.kind == OpKind::kForward;
    forwards += forward ? 1 : 0;
    open += forward ? 1 : -1;
    if (open < 0) return std::nullopt;
    if (open == 0) points.push_back(forwards);
  }
  return points;
}

class Splitter {
 public:
  Splitter(const std::vector<RankEvents>& events, std::vector<FoundOps>& found) : events_(events), found_(found) {}

  SplitRun split() {
    split_.names.resize(found_.size());
    const auto all = [&](auto has) { return std::all_of(events_.begin(), events_.end(), has); };
    if (all([](const RankEvents& rank) { return !rank.steps.empty(); })) {
      split_.by = SplitRun::By::kSteps;
      for (std::size_t r = 0; r < found_.size(); ++r) by_steps(r);
    } else if (all([](const RankEvents& rank) { return has_optimizer(rank); })) {
      split_.by = SplitRun::By::kOptimizer;
      for (std::size_t r = 0; r < found_.size(); ++r) by_optimizer(r);
    } else {
      split_.by = SplitRun::By::kRepetition;
      by_repetition();
    }
    for (std::size_t r = 0; r < found_.size(); ++r) keep_whole(r);
    for (FoundOps& rank : found_) number(rank);
    return std::move(split_);
  }

 private:
  static bool has_optimizer(const RankEvents& rank) {
    return std::any_of(rank.ranges.begin(), rank.ranges.end(),
                       [](const MeantRange& range) { return range.meaning.kind == RangeMeaning::Kind::kOptimizer; });
  }

  void by_steps(std::size_t r) {
    const std::vector<PipelineStep>& steps = events_[r].steps;
    for (const PipelineStep& step : steps) split_.names[r].push_back(step.name);
    for (FoundOp& op : found_[r].ops) {
      const auto behind =
          std::upper_bound(steps.begin(), steps.end(), op.begin,
                           [](Nanoseconds time, const PipelineStep& step) { return time < step.begin; });
      if (behind == steps.begin() || op.begin >= std::prev(behind)->end) continue;
      op.step = static_cast<std::int32_t>(std::prev(behind) - steps.begin());
    }
  }

  void by_optimizer(std::size_t r) {
    std::int32_t step = 0;
    bool any = false;  // an op since the last run of the optimizer
    auto op = found_[r].ops.begin();
    for (const MeantRange& range : events_[r].ranges) {
      if (range.meaning.kind != RangeMeaning::Kind::kOptimizer) continue;
      for (; op != found_[r].ops.end() && op->begin < range.begin; ++op) op->step = step, any = true;
      step += any ? 1 : 0;
      any = false;
    }
    for (; op != found_[r].ops.end(); ++op) op->step = step;
    for (std::int32_t k = 0; k <= step; ++k) split_.names[r].push_back(std::to_string(k + 1));
  }

  void by_repetition() {
    std::vector<std::int32_t> fewest;
    for (std::size_t r = 0; r < found_.size(); ++r) {
      const auto points = empty_points(found_[r].ops);
      if (!points || points->empty()) refuse(r, "no step, no optimizer, and it begins within an iteration");
      if (fewest.empty() || points->size() < fewest.size()) fewest = *points;
    }
    const std::int32_t count = fewest.front();
    for (std::size_t k = 1; k < fewest.size(); ++k) {
      if (fewest[k] - fewest[k - 1] != count) refuse(0, "no step and no optimizer, and no number of forwards repeats");
    }
    for (std::size_t r = 0; r < found_.size(); ++r) {
      std::int32_t forwards = 0;
      std::int32_t backwards = 0;
      for (FoundOp& op : found_[r].ops) op.step = (op.kind == OpKind::kForward ? forwards : backwards)++ / count;
      for (std::int32_t k = 0; k <= std::max(forwards, backwards) / count; ++k) {
        split_.names[r].push_back(std::to_string(k + 1));
      }
    }
  }

  [[noreturn]] void refuse(std::size_t rank, const std::string& why) const {
    throw InputError(
        Diagnostic{"D006", events_[rank].file, "nothing tells where an iteration begins: " + why, kMarkSteps});
  }

  // Those with as many ops as most have, on every rank alike.
  void keep_whole(std::size_t r) {
    std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> counts;  // by step: forwards, backwards
    for (const FoundOp& op : found_[r].ops) {
      if (op.step < 0) continue;
      auto& [forwards, backwards] = counts[op.step];
      ++(op.kind == OpKind::kForward ? forwards : backwards);
    }
    std::map<std::int32_t, int> sizes;
    for (const auto& [step, count] : counts) {
      if (count.first == count.second) ++sizes[count.first];
    }
    if (sizes.empty()) {
      throw InputError(Diagnostic{
          "D006", events_[r].file,
          "in no iteration were as many backwards found as forwards (" +
              counted(forwards_among(found_[r].ops), "forward") + " and " +
              counted(static_cast<std::int64_t>(found_[r].ops.size()) - forwards_among(found_[r].ops), "backward") +
              " in all)",
          "name the ops: record_function(\"PP:0F3\") around the forward of microbatch 3 on stage 0, \"PP:0B3\" around "
          "its backward"});
    }
    const auto most =
        std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::int32_t size = most->first;
    if (split_.count == 0) split_.count = size;
    if (size != split_.count) {
      throw InputError(Diagnostic{"D010", events_[r].file,
                                  "it runs " + counted(size, "forward") + " in an iteration, " + events_.front().file +
                                      " " + std::to_string(split_.count),
                                  "give the files of one run; several chunks per rank need PP: ranges"});
    }
    std::set<std::int32_t> partial;
    for (FoundOp& op : found_[r].ops) {
      if (op.step < 0 || counts.at(op.step) == std::pair{size, size}) continue;
      partial.insert(op.step);
      op.step = -1;
    }
    split_.partial = std::max(split_.partial, static_cast<std::int64_t>(partial.size()));
  }

  void number(FoundOps& rank) {
    std::map<std::int32_t, std::vector<FoundOp*>> steps;
    for (FoundOp& op : rank.ops) {
      if (op.step >= 0) steps[op.step].push_back(&op);
    }
    for (auto& [step, ops] : steps) number_step(rank, ops);
  }

  void number_step(FoundOps& rank, const std::vector<FoundOp*>& ops) {
    const bool named = number_by_names(ops);
    if (named) return;
    std::int32_t forwards = 0;
    std::int32_t backwards = 0;
    for (FoundOp* op : ops) op->microbatch = (op->kind == OpKind::kForward ? forwards : backwards)++;
    std::vector<std::int32_t> matched;
    for (const FoundOp* op : ops) {
      if (op->kind != OpKind::kBackward || op->of_forward < 0) continue;
      const FoundOp& forward = rank.ops[static_cast<std::size_t>(op->of_forward)];
      if (forward.step == op->step) matched.push_back(forward.microbatch);
    }
    const std::set<std::int32_t> different(matched.begin(), matched.end());
    if (static_cast<std::int32_t>(different.size()) != split_.count || matched.size() != different.size()) {
      split_.microbatches = SplitRun::Microbatches::kOrder;
      return;
    }
    auto next = matched.begin();
    for (FoundOp* op : ops) {
      if (op->kind == OpKind::kBackward) op->microbatch = *next++;
    }
    if (split_.microbatches == SplitRun::Microbatches::kName) split_.microbatches = SplitRun::Microbatches::kSequence;
  }

  // Whether every op has a number of its own, the same ones for forwards and backwards.
  [[nodiscard]] bool number_by_names(const std::vector<FoundOp*>& ops) const {
    std::set<std::int32_t> forwards;
    std::set<std::int32_t> backwards;
    for (const FoundOp* op : ops) {
      if (op->microbatch >= 0) (op->kind == OpKind::kForward ? forwards : backwards).insert(op->microbatch);
    }
    if (static_cast<std::int32_t>(forwards.size()) != split_.count || forwards != backwards) return false;
    const std::int32_t first = *forwards.begin();
    if (*forwards.rbegin() - first + 1 != split_.count) return false;
    for (FoundOp* op : ops) op->microbatch -= first;
    return true;
  }

  const std::vector<RankEvents>& events_;
  std::vector<FoundOps>& found_;
  SplitRun split_;
};

}  // namespace

SplitRun split_iterations(const std::vector<RankEvents>& events, std::vector<FoundOps>& found) {
  return Splitter(events, found).split();
}

}  // namespace debubble
