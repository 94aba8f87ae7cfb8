#include "studies/explain/trials.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/stage_costs.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "studies/compare/chunk_choices.hpp"
#include "studies/compare/contender.hpp"
#include "studies/compare/runs_today.hpp"
#include "studies/whatif/changes.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostOps = 200'000;       // beyond, other schedules are not tried: each would take long
constexpr std::size_t kMostPlannedOps = 2'000;  // the same for schedules that search for their order
constexpr double kUnevenRatio = 1.01;           // busiest device against the mean
constexpr double kHalf = 0.5;
constexpr double kFasterFactor = 0.9;

Nanoseconds scaled_time(Nanoseconds time, double factor) {
  return static_cast<Nanoseconds>(std::llround(static_cast<double>(time) * factor));
}

void scale_ops(StageCost& cost, double factor) {
  for (Nanoseconds StageCost::*time :
       {&StageCost::forward, &StageCost::backward, &StageCost::input_grad, &StageCost::weight_grad,
        &StageCost::recompute, &StageCost::forward_collective, &StageCost::backward_collective}) {
    cost.*time = scaled_time(cost.*time, factor);
  }
}

// Its tasks of that lane take half as long, alone and on the links that they share.
void halve_lane(StepWork& step, StepTask::Lane lane) {
  for (StepTask& task : step.tasks) {
    if (task.lane != lane) continue;
    task.duration = scaled_time(task.duration, kHalf);
    for (auto& replica : task.phases) {
      for (Flow& flow : replica) {
        flow.bytes /= 2;
        flow.path.latency = scaled_time(flow.path.latency, kHalf);
      }
    }
  }
}

// "8 microbatches instead of 4"
std::string instead_of(int count, const char* noun, int before) {
  return std::to_string(count) + " " + noun + " instead of " + std::to_string(before);
}

class ExplainTrials {
 public:
  explicit ExplainTrials(const ImprovementBase& base)
      : base_(base), job_(base.run.job), report_(base.run.result.report) {}

  std::vector<Trial> all() {
    add_shapes();
    add_schedules();
    add_flags();
    add_machines();
    add_costs();
    return std::move(trials_);
  }

 private:
  using Kind = Trial::Kind;
  using Change = std::function<Job(Job)>;

  // The same job, asked for with other flags.
  void add_asked(Kind kind, std::string what, const Scenario& scenario, const std::string& name,
                 const ScenarioFlags& flags) {
    Trial trial{kind, std::move(what), "", command(scenario, name, flags), {}};
    trial.make = [scenario, name] {
      NoProgress silent;
      return simulate(scenario, name, silent).result.report;
    };
    trials_.push_back(std::move(trial));
  }

  // The same run with other costs, links or tasks.
  void add_changed(Kind kind, std::string what, const Change& change) {
    Trial trial{kind, std::move(what), "", "", {}};
    trial.make = [&base = base_, change] {
      NoProgress silent;
      return simulate(change(base.run.job), silent).report;
    };
    trials_.push_back(std::move(trial));
  }

  [[nodiscard]] std::string command(const Scenario& scenario, const std::string& name,
                                    const ScenarioFlags& flags) const {
    std::string text = "debubble simulate --schedule " + shell_file(name);
    if (!is_table_file(name)) {
      const int microbatches = scenario.microbatches.value_or(job_.schedule.microbatches);
      text += " -p " + std::to_string(job_.schedule.devices) + " -m " + std::to_string(microbatches);
      text += chunks_flag(name, scenario.chunks);
    }
    const CutRule& cut = scenario.partition;
    if (!cut.automatic() || cut.for_devices) text += " --partition " + shell_quoted(cut.text);
    const std::string more = repeated_flags(flags);
    return more.empty() ? text : text + " " + more;
  }

  [[nodiscard]] Scenario same() const {
    Scenario scenario = base_.scenario;
    if (is_table_file(base_.name)) return scenario;
    scenario.devices = job_.schedule.devices;
    scenario.microbatches = job_.schedule.microbatches;
    if (job_.schedule.chunks > 1) scenario.chunks = job_.schedule.chunks;
    return scenario;
  }

  void add_shapes() {
    const ScheduleEntry* entry = find_schedule(base_.name);
    if (entry == nullptr || job_.schedule.total_ops() > kMostOps) return;
    Scenario more = same();
    more.microbatches = 2 * job_.schedule.microbatches;
    add_asked(Kind::kMicrobatches, instead_of(*more.microbatches, "microbatches", job_.schedule.microbatches), more,
              base_.name, base_.flags);
    if (entry->default_chunks < 2 || entry->chunk_step < 1 || !entry->chunks_param.empty()) return;
    for (const int chunks : {job_.schedule.chunks + entry->chunk_step, 2 * job_.schedule.chunks}) {
      Scenario other = same();
      other.chunks = chunks;
      if (!base_.scenario.partition.automatic()) break;  // the partition fits one number of stages only
      add_asked(Kind::kChunks, instead_of(chunks, "stages per device", job_.schedule.chunks), other, base_.name,
                base_.flags);
    }
  }

  // The stages per device that a schedule is tried with: 0 is its own number.
  [[nodiscard]] std::vector<int> chunks_of(const ScheduleEntry& entry, const Scenario& scenario) const {
    if (entry.uses_costs && job_.schedule.total_ops() > kMostPlannedOps) return {0};
    std::vector<int> choices = chunk_choices(scenario, entry);
    if (choices.empty()) choices.push_back(0);
    return choices;
  }

  void add_schedule(const ScheduleEntry& entry, const Scenario& scenario, const ScenarioFlags& flags) {
    const std::string chunks = scenario.chunks > 1 ? " v=" + std::to_string(scenario.chunks) : "";
    const std::string needs = entry.needs.empty() ? "" : " (" + entry.needs + ")";
    add_asked(Kind::kSchedule, "schedule " + entry.name + chunks + needs, scenario, entry.name, flags);
    trials_.back().frameworks = [&entry, scenario](const Report& report) {
      return frameworks_today(&entry, scenario, report);
    };
  }

  void add_schedules() {
    const std::size_t ops = job_.schedule.total_ops();
    if (is_table_file(base_.name) || ops > kMostOps || job_.schedule.asynchrony) return;
    for (const ScheduleEntry& entry : schedule_catalog()) {
      if (entry.name == base_.name || entry.family == ScheduleFamily::kAsynchronous) continue;
      if (entry.uses_costs && ops > kMostPlannedOps) continue;
      if (!base_.scenario.partition.automatic() && entry.default_chunks != job_.schedule.chunks) continue;
      Scenario scenario = scenario_for(base_.scenario, entry.name);
      scenario.devices = job_.schedule.devices;
      scenario.microbatches = job_.schedule.microbatches;
      scenario.chunks = 0;
      scenario.params.clear();
      ScenarioFlags flags = base_.flags;
      flags.params.clear();
      for (const int chunks : chunks_of(entry, scenario)) {
        scenario.chunks = chunks;
        add_schedule(entry, scenario, flags);
      }
    }
  }

  void add_flags() {
    if (job_.p2p != P2p::kOverlapped) {
      Scenario scenario = same();
      scenario.p2p = P2p::kOverlapped;
      ScenarioFlags flags = base_.flags;
      flags.p2p = "overlapped";
      add_asked(Kind::kOverlap, "transfers overlapped with compute (--p2p overlapped)", scenario, base_.name, flags);
    }
    if (!base_.scenario.partition.automatic()) {
      Scenario scenario = same();
      scenario.partition = parse_cut_rule("auto");
      add_asked(Kind::kPartition, "the layers cut as evenly as they can be (--partition auto)", scenario, base_.name,
                base_.flags);
    }
    add_cure();
    add_step_flags_of(Kind::kGradReduce, "gradients reduced as soon as a stage has them (--grad-reduce overlap)",
                      &StepFlags::grad_reduce, "overlap");
    add_step_flags_of(Kind::kNorm, "the norm of all gradients checked afterwards (--norm post-validation)",
                      &StepFlags::norm, "post-validation");
    const auto recomputes = [](const TransformSpec& spec) { return spec.name == "recompute"; };
    if (std::any_of(base_.scenario.transforms.begin(), base_.scenario.transforms.end(), recomputes)) {
      Scenario scenario = same();
      std::erase_if(scenario.transforms, recomputes);
      ScenarioFlags flags = base_.flags;
      std::erase_if(flags.transforms, [](const std::string& text) { return text.starts_with("recompute"); });
      add_asked(Kind::kRecompute, "no recomputation", scenario, base_.name, flags);
    }
  }

  // Where devices, stages or links are not alike, and the layers are cut as if they were: fewer layers where it is
  // slow.
  void add_cure() {
    if (!base_.scenario.partition.automatic() || base_.scenario.partition.for_devices || job_.partition.empty()) return;
    Scenario scenario = same();
    scenario.partition = parse_cut_rule("auto");
    NoProgress silent;
    const std::vector<int> cut = prepare(scenario, base_.name, silent).partition;
    if (cut == job_.partition) return;
    const bool slow = make_stage_costs(scenario, job_.schedule).cut.layers != job_.partition;
    constexpr std::size_t kMostShown = 16;
    const std::string what = slow ? "layers moved from slow to fast stages" : "fewer layers where transfers take long";
    const std::string layers = cut.size() > kMostShown ? "" : ": " + partition_text(cut);
    add_asked(slow ? Kind::kSlowDevices : Kind::kPartition, what + " (--partition auto)" + layers, scenario, base_.name,
              base_.flags);
  }

  // Other flags of the training step.
  void add_step_flags_of(Kind kind, const char* what, std::string StepFlags::*flag, const char* word) {
    if (job_.step.empty() || base_.flags.step.*flag == word) return;
    Scenario scenario = same();
    ScenarioFlags flags = base_.flags;
    flags.step.*flag = word;
    try {
      scenario.step = check_step(flags.step);
    } catch (const InputError&) {
      return;  // the other flags of the step exclude it
    }
    add_asked(kind, what, scenario, base_.name, flags);
  }

  void add_machines() {
    LinkChange faster;
    faster.bandwidth = 2;
    faster.latency = kHalf;
    LinkChange wider;
    wider.bandwidth = 2;
    LinkChange nearer;
    nearer.latency = kHalf;
    const auto add = [&](const char* what, const LinkChange& change) {
      Changes changes;
      changes.links = {change};
      add_changed(Kind::kLinks, what,
                  [&base = base_, changes](const Job& job) { return changed_job(base.scenario, job, changes); });
    };
    // Of an ideal link only what it has can be improved; the others refuse.
    add("links of twice the bandwidth and half the latency", faster);
    add("links of twice the bandwidth", wider);
    add("links of half the latency", nearer);
    if (job_.topology.contended()) {
      add_changed(Kind::kContention, "no contention: every transfer as if it were alone", [](Job job) {
        Network network = *job.topology.network();
        network.model = NetworkModel::kUncontended;
        job.topology = job.topology.with_network(std::make_shared<const Network>(std::move(network)));
        return job;
      });
    }
    if (!job_.variation.none()) {
      add_changed(Kind::kStragglers, "no stragglers: every op as long as its stage costs", [](Job job) {
        job.variation = {};
        return job;
      });
    }
    const auto has = [&](StepTask::Lane lane) {
      return std::any_of(job_.step.tasks.begin(), job_.step.tasks.end(),
                         [lane](const StepTask& task) { return task.lane == lane; });
    };
    if (has(StepTask::Lane::kCollective)) {
      add_changed(Kind::kStepCollectives, "the step's collectives in half the time", [](Job job) {
        halve_lane(job.step, StepTask::Lane::kCollective);
        return job;
      });
    }
    if (has(StepTask::Lane::kCompute)) {
      add_changed(Kind::kOptimizer, "the optimizer in half the time", [](Job job) {
        halve_lane(job.step, StepTask::Lane::kCompute);
        return job;
      });
    }
  }

  void add_costs() {
    if (report_.inside_collectives > 0) {
      add_changed(Kind::kInsideCollectives, "the collectives inside stages in half the time", [](Job job) {
        for (StageCost& cost : job.costs.stages) halve_collectives(cost);
        return job;
      });
    }
    add_balance();
    add_changed(Kind::kCompute, "every op 10 % faster", [](Job job) {
      for (StageCost& cost : job.costs.stages) scale_ops(cost, kFasterFactor);
      if (job.costs.overlapped_pair) job.costs.overlapped_pair = scaled_time(*job.costs.overlapped_pair, kFasterFactor);
      return job;
    });
  }

  static void halve_collectives(StageCost& cost) {
    const Nanoseconds forward = cost.forward_collective - cost.forward_collective / 2;
    const Nanoseconds backward = cost.backward_collective - cost.backward_collective / 2;
    if (cost.recompute == cost.forward) cost.recompute -= forward;
    cost.forward -= forward;
    cost.backward -= backward;
    const Nanoseconds halves = cost.input_grad + cost.weight_grad;
    const Nanoseconds of_input =
        halves == 0 ? 0 : scaled_time(backward, static_cast<double>(cost.input_grad) / static_cast<double>(halves));
    cost.input_grad -= of_input;
    cost.weight_grad -= std::min(cost.weight_grad, backward - of_input);
    cost.forward_collective /= 2;
    cost.backward_collective /= 2;
  }

  // Every device's stages so much faster or slower that all devices work equally long.
  void add_balance() {
    double sum = 0;
    double most = 0;
    for (const DeviceReport& device : report_.devices) {
      sum += static_cast<double>(device.busy);
      most = std::max(most, static_cast<double>(device.busy));
    }
    const double mean = sum / static_cast<double>(report_.devices.size());
    if (mean <= 0 || most < kUnevenRatio * mean) return;
    add_changed(Kind::kBalance, "the same work spread evenly over the devices", [](Job job) {
      std::vector<double> busy(static_cast<std::size_t>(job.schedule.devices), 0.0);
      const Placement& placement = job.schedule.placement;
      const auto device_of = [&](int replica, int stage) {
        return static_cast<std::size_t>(placement.device_of(replica, stage));
      };
      for (const auto& row : job.schedule.rows) {
        const auto device = static_cast<std::size_t>(&row - job.schedule.rows.data());
        for (const Op& op : row) {
          if (is_vocabulary(op.kind)) continue;
          busy[device] += static_cast<double>(duration_of(op.kind, at(job.costs.stages, op.stage)));
        }
      }
      double all = 0;
      for (const double one : busy) all += one;
      for (int stage = 0; stage < job.schedule.stages; ++stage) {
        const double own = busy[device_of(0, stage)];
        if (own > 0) scale_ops(at(job.costs.stages, stage), all / static_cast<double>(busy.size()) / own);
      }
      return job;
    });
  }

  const ImprovementBase& base_;
  const Job& job_;
  const Report& report_;
  std::vector<Trial> trials_;
};

}  // namespace

std::vector<Trial> trials_for(const ImprovementBase& base) { return ExplainTrials(base).all(); }

}  // namespace debubble
