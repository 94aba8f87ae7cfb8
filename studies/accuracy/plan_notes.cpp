#include "studies/accuracy/plan_notes.hpp"

#include <algorithm>

#include "schedules/catalog.hpp"
#include "sim/core/quantities.hpp"
#include "studies/plan/framework_flags.hpp"

namespace debubble {
namespace {

constexpr double kScarce = 0.05;  // of the memory: less to spare is worth a word

class NoteList {
 public:
  NoteList(const PlannedRun& plan, const PublishedLayout& theirs)
      : plan_(plan), theirs_(theirs), ours_(plan.choice), published_(theirs.choice) {}

  std::vector<std::string> run(std::optional<double> error) {
    if (ours_ == published_) {
      if (theirs_.own_cut) add("the same layout, but for the cut of the layers, which the record gives");
      return std::move(notes_);
    }
    if (error) compare_gain(*error);
    compare_memory();
    compare_order();
    compare_ranks();
    return std::move(notes_);
  }

 private:
  void add(std::string note) { notes_.push_back(std::move(note)); }

  void compare_gain(double error) {
    const double gain = 1 - static_cast<double>(plan_.step) / static_cast<double>(theirs_.run->step);
    if (gain < 0 || gain > error) return;
    add("the gain of " + format_percent(gain) + " is within this source's mean error, " + format_percent(error));
  }

  void compare_memory() {
    if (ours_.recompute < published_.recompute) {
      add("less is computed again (" + std::string(kRecomputeWords[ours_.recompute]) + " instead of " +
          kRecomputeWords[published_.recompute] +
          "), which fits by the model of memory; what their framework held beside the tensors that it counts, they "
          "knew");
    }
    if (!ours_.recompute_stages.empty()) {
      add("only stages " + ours_.recompute_stages + " compute again: Megatron-LM does it alike on all stages");
    }
    if (ours_.zero > published_.zero) {
      add("ZeRO-" + std::to_string(ours_.zero) + " instead of " +
          (published_.zero == 0 ? "none" : "ZeRO-" + std::to_string(published_.zero)) +
          ": their framework may not have had it, or not with a pipeline");
    }
    if (!plan_.spare) return;
    const double share = static_cast<double>(*plan_.spare) / static_cast<double>(plan_.peak + *plan_.spare);
    if (share < kScarce) add("only " + format_size(*plan_.spare) + " of memory are to spare");
  }

  void compare_order() {
    if (ours_.pipeline > 1 && !runs_in(ours_, "Megatron-LM")) {
      const ScheduleEntry* entry = find_schedule(ours_.schedule);
      const bool nobody = entry == nullptr || entry->frameworks.empty();
      add(ours_.schedule + " is run by " + (nobody ? "no framework that we know of" : entry->frameworks) +
          ", not by Megatron-LM");
    }
    if (ours_.pipeline > 1 && ours_.chunks > std::max(1, published_.chunks)) {
      add(std::to_string(ours_.chunks) +
          " stages per device: more and smaller ops and transfers, whose launches by the host are not modelled");
    }
  }

  void compare_ranks() {
    if (ours_.context > published_.context) {
      add("the sequence is split over " + std::to_string(ours_.context) + " context ranks: an attention of its own");
    }
    if (ours_.sequence && !published_.sequence && published_.tensor > 1) {
      add("sequence parallelism, which they ran without");
    }
    if (ours_.tensor < published_.tensor) {
      add(std::to_string(ours_.tensor) + " instead of " + std::to_string(published_.tensor) +
          " tensor ranks: larger matmuls, and how much faster these are is known from the efficiency model only");
    }
    if (ours_.tensor > published_.tensor) {
      add(std::to_string(ours_.tensor) + " instead of " + std::to_string(published_.tensor) +
          " tensor ranks: smaller kernels, whose launches by the host are not modelled");
    }
    if (ours_.microbatch != published_.microbatch) {
      add("microbatches of " + std::to_string(ours_.microbatch) + " instead of " +
          std::to_string(published_.microbatch) +
          ": the efficiency of kernels of that size is modelled, not measured here");
    }
    if (ours_.expert != published_.expert) {
      add(std::to_string(ours_.expert) + " instead of " + std::to_string(published_.expert) +
          " expert ranks: how evenly tokens fall on the experts is assumed");
    }
  }

  const PlannedRun& plan_;
  const PublishedLayout& theirs_;
  const PlanChoice& ours_;
  const PlanChoice& published_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> plan_notes(const PlannedRun& plan, const PublishedLayout& theirs,
                                    std::optional<double> error) {
  return NoteList(plan, theirs).run(error);
}

}  // namespace debubble
