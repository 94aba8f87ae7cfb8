#include "tools/figures/pipeline_boxes.hpp"

#include <algorithm>
#include <set>

#include "sim/core/at.hpp"
#include "sim/core/wide.hpp"

namespace debubble::figure {

namespace {

constexpr Length kColumn = 50;
constexpr Length kNarrowest = 75;       // on average, of ops in boxes of their own
constexpr Length kMostCells = 150'000;  // of all rows together: boxes of single ops, or columns
constexpr int kLevels = 24;             // in which a column shows shares

// What is on a device's compute lane, in order of time within spans and within steps.
class DeviceLane {
 public:
  DeviceLane(const RunToDraw& run, int device) : run_(run) {
    const Timeline& timeline = *run.timeline;
    first_ = at(timeline.device_begin, device);
    last_ = at(timeline.device_begin, device + 1);
    std::set<std::int32_t> stages;
    for (auto k = first_; k < last_; ++k) {
      const Span& span = at(timeline.spans, k);
      if (!is_vocabulary(span.op.kind)) stages.insert(span.op.stage);
      if (const Op* partner = timeline.partner(span)) stages.insert(partner->stage);
    }
    bool light = false;
    for (const std::int32_t stage : stages) {
      if (light) light_.insert(stage);
      light = !light;
    }
    for (const StepSpan& step : timeline.steps) {
      if (step.device == device && step.lane == StepTask::Lane::kCompute) steps_.push_back(&step);
    }
  }

  [[nodiscard]] std::size_t ops() const { return static_cast<std::size_t>(last_ - first_) + steps_.size(); }

  [[nodiscard]] BoxKind kind_of(const Op& op) const {
    const Schedule& schedule = *run_.schedule;
    const bool replicas = schedule.placement.replicas() > 1 && !schedule.replicas_share_weights;
    const bool light = replicas ? at(schedule.replica_of, op.microbatch) % 2 == 1 : light_.contains(op.stage);
    return {op.kind, light && !is_vocabulary(op.kind), false};
  }

  // visit(begin, end, kind, name, half): half 0 is a whole cell, 1 and 2 the upper and the lower half of a pair.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (auto k = first_; k < last_; ++k) {
      const Span& span = at(run_.timeline->spans, k);
      const Op* const partner = run_.timeline->partner(span);
      visit(span.begin, span.end, kind_of(span.op), std::to_string(span.op.microbatch), partner != nullptr ? 1 : 0);
      if (partner == nullptr) continue;
      visit(span.begin, span.end, kind_of(*partner), std::to_string(partner->microbatch), 2);
    }
    for (const StepSpan* step : steps_) {
      const char* name = step->kind == StepTask::Kind::kOptimizer ? "opt" : "";
      visit(step->begin, step->end, BoxKind{OpKind::kForward, false, true}, name, 0);
    }
  }

 private:
  const RunToDraw& run_;
  std::int32_t first_ = 0;
  std::int32_t last_ = 0;
  std::set<std::int32_t> light_;
  std::vector<const StepSpan*> steps_;
};

// The shares of one column, and which boxes are still open at its left edge.
class Columns {
 public:
  Columns(const DeviceLane& lane, const Span1D& span, Length most) : span_(span) {
    count_ = std::clamp<Length>(span.width() / kColumn, 1, most);
    shares_.resize(static_cast<std::size_t>(count_));
    lane.each([this](Nanoseconds begin, Nanoseconds end, const BoxKind& kind, const std::string&, int half) {
      for (Length c = column_of(begin); c < count_ && time_of(c) < end; ++c) {
        const Nanoseconds part = std::min(end, time_of(c + 1)) - std::max(begin, time_of(c));
        at(shares_, c)[kind] += half == 0 ? 2 * part : part;
      }
    });
  }

  void add_boxes(Length top, Length height, PipelineBoxes& result) const {
    Levels last;
    Length since = 0;
    for (Length c = 0; c <= count_; ++c) {
      const Levels levels = c < count_ ? levels_of(c) : Levels{};
      if (levels == last && c > 0) continue;
      put(last, since, c, top, height, result);
      last = levels;
      since = c;
    }
  }

 private:
  using Levels = std::vector<std::pair<BoxKind, int>>;  // how high each reaches, of kLevels

  [[nodiscard]] Nanoseconds time_of(Length column) const {
    return static_cast<Nanoseconds>(static_cast<WideUnsigned>(span_.largest) * static_cast<WideUnsigned>(column) /
                                    static_cast<WideUnsigned>(count_));
  }
  [[nodiscard]] Length column_of(Nanoseconds time) const {
    auto column = static_cast<Length>(static_cast<WideUnsigned>(time) * static_cast<WideUnsigned>(count_) /
                                      static_cast<WideUnsigned>(span_.largest));
    while (column + 1 < count_ && time_of(column + 1) <= time) ++column;
    return column;
  }

  [[nodiscard]] Levels levels_of(Length column) const {
    const Nanoseconds whole = 2 * (time_of(column + 1) - time_of(column));
    Levels levels;
    Nanoseconds sum = 0;
    for (const auto& [kind, share] : at(shares_, column)) {
      sum += share;
      const int level =
          whole == 0
              ? 0
              : static_cast<int>((static_cast<WideUnsigned>(sum) * 2 * kLevels + static_cast<WideUnsigned>(whole)) /
                                 (2 * static_cast<WideUnsigned>(whole)));
      if (level > (levels.empty() ? 0 : levels.back().second)) levels.emplace_back(kind, level);
    }
    return levels;
  }

  void put(const Levels& levels, Length from, Length to, Length top, Length height, PipelineBoxes& result) const {
    const Length left = span_.left + span_.width() * from / count_;
    const Length right = span_.left + span_.width() * to / count_;
    int below = 0;
    for (const auto& [kind, level] : levels) {
      const Length foot = top + height - height * below / kLevels;
      const Length head = top + height - height * level / kLevels;
      result.boxes[kind].push_back({{left, head, right - left, foot - head}, ""});
      below = level;
    }
  }

  Span1D span_;
  Length count_ = 1;
  std::vector<std::map<BoxKind, Nanoseconds>> shares_;  // by column, twice the time
};

void add_single_boxes(const DeviceLane& lane, const Span1D& span, Length top, Length height, PipelineBoxes& result) {
  lane.each([&](Nanoseconds begin, Nanoseconds end, const BoxKind& kind, const std::string& name, int half) {
    const Length left = span.x_of(begin);
    const Length middle = height / 2;
    const Length head = half == 2 ? top + middle : top;
    const Length part = half == 0 ? height : half == 1 ? middle : height - middle;
    result.boxes[kind].push_back({{left, head, span.x_of(end) - left, part}, name});
    result.pairs = result.pairs || half > 0;
  });
}

}  // namespace

PipelineBoxes pipeline_boxes(const RunToDraw& run, const DeviceRows& rows, const Span1D& span, Length top,
                             Length height) {
  PipelineBoxes result;
  const Length most = kMostCells / std::max(rows.shown, 1);
  for (int row = 0; row < rows.shown; ++row) {
    const DeviceLane lane(run, rows.device(row));
    const Length head = top + row * rows.pitch;
    if (static_cast<Length>(lane.ops()) > std::min(span.width() / kNarrowest, most)) {
      Columns(lane, span, most).add_boxes(head, height, result);
      result.merged = true;
    } else {
      add_single_boxes(lane, span, head, height, result);
    }
  }
  return result;
}

}  // namespace debubble::figure
