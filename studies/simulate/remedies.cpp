#include "studies/simulate/remedies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "formats/exporters/memory_fit_text.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/recompute_modules.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "studies/simulate/room.hpp"

namespace debubble {
namespace {

// One change, in several strengths: the first that fits is enough.
struct Change {
  std::string words;  // as on the command line
  Scenario scenario;
  std::string schedule;
};
using RemedyChanges = std::vector<Change>;

class Candidates {
 public:
  Candidates(const Scenario& scenario, const std::string& name, int microbatches)
      : scenario_(scenario), name_(name), microbatches_(microbatches) {
    if (scenario.transformer.setup) {
      add_recomputation();
      add_sharding();
      add_tensor_ranks();
      add_smaller_microbatches();
      add_fused_loss();
    } else {
      add_transform("recompute");
    }
    add_schedules();
    add_transform("offload");
  }

  [[nodiscard]] const std::vector<RemedyChanges>& all() const { return all_; }

 private:
  [[nodiscard]] Change change(std::string words) const { return {std::move(words), scenario_, name_}; }
  [[nodiscard]] const TrainingSetup& setup() const { return *scenario_.transformer.setup; }

  // Whose outputs are made again by few kernels or small matmuls.
  [[nodiscard]] std::string cheap_modules() const {
    std::string modules;
    if (setup().shape.kv_rank > 0) modules = "mla_up_proj";
    if (setup().shape.experts > 0) modules += std::string(modules.empty() ? "" : ",") + "moe_act,layernorm";
    return modules;
  }

  void add_recomputation() {
    RemedyChanges changes;
    if (setup().recompute == Recompute::kNone && !setup().flash_attention) {
      changes.push_back(change("--recompute selective"));
      changes.back().scenario.transformer.setup->recompute = Recompute::kSelective;
    }
    if (setup().recompute == Recompute::kNone && !cheap_modules().empty()) {
      changes.push_back(change("--recompute selective --recompute-modules " + cheap_modules()));
      changes.back().scenario.transformer.setup->recompute = Recompute::kSelective;
      changes.back().scenario.transformer.setup->modules = parse_recompute_modules(cheap_modules(), setup().shape);
    }
    if (setup().recompute != Recompute::kFull) {
      changes.push_back(change("--recompute full"));
      changes.back().scenario.transformer.setup->recompute = Recompute::kFull;
    }
    // Selective recomputation costs little: where it is enough, full is not named.
    all_.push_back(std::move(changes));
  }

  void add_sharding() {
    const Parallelism& sizes = scenario_.cluster.sizes;
    if (sizes.data * sizes.context < 2) return;
    RemedyChanges changes;
    for (int level = sizes.zero + 1; level <= 3; ++level) {
      changes.push_back(change("--zero " + std::to_string(level)));
      changes.back().scenario.cluster.sizes.zero = level;
    }
    all_.push_back(std::move(changes));
  }

  void add_tensor_ranks() {
    const Parallelism& sizes = scenario_.cluster.sizes;
    if (sizes.tensor > 1 && !sizes.sequence) {
      RemedyChanges with_sequence{change("--sequence-parallel")};
      with_sequence.back().scenario.cluster.sizes.sequence = true;
      if (!setup().flash_attention && setup().recompute == Recompute::kNone) {
        with_sequence.push_back(with_sequence.back());  // Korthikanti et al. propose both together
        with_sequence.back().words += " --recompute selective";
        with_sequence.back().scenario.transformer.setup->recompute = Recompute::kSelective;
      }
      all_.push_back(std::move(with_sequence));
    }
    RemedyChanges changes;
    for (int tensor = 2 * sizes.tensor; tensor <= 8; tensor *= 2) {
      changes.push_back(change("--tp " + std::to_string(tensor) + " --sequence-parallel"));
      changes.back().scenario.cluster.sizes.tensor = tensor;
      changes.back().scenario.cluster.sizes.sequence = true;
    }
    all_.push_back(std::move(changes));
  }

  // As many samples per step in smaller microbatches.
  void add_smaller_microbatches() {
    RemedyChanges changes;
    for (std::int64_t size = setup().microbatch_size, more = 1; size > 1 && size % 2 == 0;) {
      size /= 2;
      more *= 2;
      const std::int64_t count = microbatches_ * more;
      changes.push_back(change("--microbatch-size " + std::to_string(size) + " -m " + std::to_string(count)));
      changes.back().scenario.transformer.setup->microbatch_size = size;
      changes.back().scenario.microbatches = static_cast<int>(count);
    }
    all_.push_back(std::move(changes));
  }

  void add_fused_loss() {
    if (setup().fused_loss) return;
    Change fused = change("--loss fused");
    fused.scenario.transformer.setup->fused_loss = true;
    all_.push_back({std::move(fused)});
  }

  // Their devices hold less than 1F1B's first, or than GPipe's.
  void add_schedules() {
    if (is_table_file(name_) || !scenario_.transforms.empty()) return;
    for (const char* other : {"1f1b", "v-half", "v-min"}) {
      if (name_ == other || find_schedule(other) == nullptr) continue;
      Change schedule = change(std::string("--schedule ") + other);
      schedule.schedule = other;
      schedule.scenario.chunks = 0;
      schedule.scenario.params.clear();
      schedule.scenario.partition = {};
      all_.push_back({std::move(schedule)});
    }
  }

  void add_transform(const std::string& transform) {
    if (is_table_file(name_)) return;
    for (const TransformSpec& spec : scenario_.transforms) {
      if (spec.name == transform) return;
    }
    Change with = change("--transform " + transform);
    TransformSpec spec;
    spec.name = transform;
    with.scenario.transforms.push_back(std::move(spec));
    all_.push_back({std::move(with)});
  }

  const Scenario& scenario_;
  const std::string& name_;
  std::int64_t microbatches_;
  std::vector<RemedyChanges> all_;
};

// The report of the run as changed; nothing where it is illegal, deadlocks, or does not fit.
std::optional<Report> tried_change(Change change) {
  NoProgress silent;
  try {
    set_modelled_profile(change.scenario);
    Report report = simulate(change.scenario, change.schedule, silent).result.report;
    if (report.deadlock || !report.memory_fit || out_of_memory(report)) return std::nullopt;
    return report;
  } catch (const InputError&) {
    return std::nullopt;  // this schedule, model or cluster does not take it
  }
}

}  // namespace

Report with_remedies(const Scenario& scenario, const std::string& name, const Simulated& run, Progress& progress) {
  constexpr std::size_t kQuick = 300'000;  // ops of which some ten runs are no matter
  Report report = run.result.report;
  if (run.job.schedule.total_ops() > kQuick) return report;
  std::vector<std::string>& remedies = report.memory_fit->remedies;
  progress.phase("trying what would make it fit");
  const Candidates candidates(scenario, name, run.job.schedule.microbatches);
  for (const RemedyChanges& changes : candidates.all()) {
    for (const Change& change : changes) {
      const std::optional<Report> fitting = tried_change(change);
      if (!fitting) continue;
      remedies.push_back(change.words + ": " + remedy_words(*fitting->memory_fit, fitting->makespan, report.makespan));
      break;
    }
  }
  for (Finding& finding : report.findings) {
    if (auto* found = std::get_if<OutOfMemory>(&finding)) found->remedies_tried = true;
  }
  return report;
}

}  // namespace debubble
