// 1. The choices of the two runs are compared part by part: ranks, order, ZeRO stage, microbatch, recomputation. What
//    belongs together is one part: another number of ranks of one kind is one of another kind, too.
// 2. Each part that differs is simulated alone on top of the run as it is.
// 3. The one that then takes least time, of those that fit, is taken over; the others are simulated on top of it, and
//    so on until none is left. So n parts cost n (n + 1) / 2 simulations, 15 at most.
//
// Invariant: before each round, what was taken over and what is left make up the whole difference. It holds since each
// part copies fields that no other copies, but for the number of microbatches, which follows from the others, and the
// cut, which goes with ranks or order, whichever comes first. So the last round ends at the plan.
#include "studies/plan/own_changes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "studies/plan/front.hpp"

namespace debubble {
namespace {

using Part = void (*)(const PlanChoice& plan, PlanChoice& run);

// Another number of stages is cut anew: as the plan does where it has as many, else for equal times.
void take_cut(const PlanChoice& plan, int stages_before, PlanChoice& run) {
  const int stages = run.pipeline * run.chunks;
  if (stages == plan.pipeline * plan.chunks) {
    run.partition = plan.partition;
  } else if (stages != stages_before) {
    run.partition.clear();
  }
}

void take_ranks(const PlanChoice& plan, PlanChoice& run) {
  const int stages = run.pipeline * run.chunks;
  run.tensor = plan.tensor;
  run.context = plan.context;
  run.expert = plan.expert;
  run.pipeline = plan.pipeline;
  run.data = plan.data;
  run.sequence = plan.sequence;
  run.rank_order = plan.rank_order;
  take_cut(plan, stages, run);
}

void take_order(const PlanChoice& plan, PlanChoice& run) {
  const int stages = run.pipeline * run.chunks;
  run.schedule = plan.schedule;
  run.chunks = plan.chunks;
  run.params = plan.params;
  take_cut(plan, stages, run);
}

void take_zero(const PlanChoice& plan, PlanChoice& run) { run.zero = plan.zero; }

void take_microbatch(const PlanChoice& plan, PlanChoice& run) { run.microbatch = plan.microbatch; }

void take_recomputation(const PlanChoice& plan, PlanChoice& run) {
  run.recompute = plan.recompute;
  run.recompute_stages = plan.recompute_stages;
  run.recompute_first = plan.recompute_first;
}

constexpr std::array<Part, 5> kPartsOfChoice{take_ranks, take_order, take_zero, take_microbatch, take_recomputation};

class OwnWay {
 public:
  OwnWay(const PlanRequest& request, const PlanChoice& own, const PlanChoice& plan)
      : request_(request), plan_(plan), now_(own) {
    for (const Part part : kPartsOfChoice) {
      if (with(part) != own) left_.push_back({part, {}});
    }
  }

  std::vector<OwnChange> run() {
    while (!left_.empty()) take_next();
    return std::move(changes_);
  }

 private:
  struct Left {
    Part part;
    Evaluation alone;
  };

  [[nodiscard]] PlanChoice with(Part part) const {
    PlanChoice choice = now_;
    part(plan_, choice);
    const std::int64_t each = choice.data * choice.microbatch;
    choice.microbatches = static_cast<int>(request_.global_batch % each == 0 ? request_.global_batch / each : 0);
    return choice;
  }

  [[nodiscard]] Evaluation evaluated(const PlanChoice& choice) const {
    Evaluation one;
    if (choice.microbatches == 0) {
      one.kind = Evaluation::Kind::kIllegal;
      one.message = "the samples of a step do not divide evenly";
    } else if (!refuse_by_rules(request_, choice, one)) {
      simulate_choice(request_, choice, one);
    }
    return one;
  }

  // What fits first, then what was simulated at all; the shortest step of these.
  static std::pair<int, Nanoseconds> rank(const Evaluation& one) {
    if (one.kind == Evaluation::Kind::kFits) return {0, one.run.step};
    return {has_step(one) ? 1 : 2, one.run.step};
  }

  void take_next() {
    std::size_t next = 0;
    std::vector<Evaluation> found;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      found.push_back(evaluated(with(left_[k].part)));
      if (first_) left_[k].alone = found.back();
      if (rank(found[k]) < rank(found[next])) next = k;
    }
    PlanChoice after = with(left_[next].part);
    std::vector<std::string> words = changed_words(now_, after);  // none: what one rank leaves open
    if (!words.empty()) changes_.push_back({std::move(words), std::move(left_[next].alone), std::move(found[next])});
    first_ = false;
    now_ = std::move(after);
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(next));
    std::erase_if(left_, [&](const Left& one) { return with(one.part) == now_; });
  }

  const PlanRequest& request_;
  const PlanChoice& plan_;
  PlanChoice now_;
  std::vector<Left> left_;
  std::vector<OwnChange> changes_;
  bool first_ = true;
};

}  // namespace

std::vector<OwnChange> own_changes(const OwnRun& run, const OwnStanding& standing, const PlanRequest& request,
                                   const PlanChoice& plan) {
  if (!has_step(standing.found)) return {};
  return OwnWay(request, run.choice, plan).run();
}

}  // namespace debubble
