#include "studies/planners/dapple.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/core/at.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

using DappleDevices = std::vector<int>;

DappleDevices device_range(int begin, int end) {
  DappleDevices devices(to_index(end - begin));
  std::iota(devices.begin(), devices.end(), begin);
  return devices;
}

// Times in ns, of the whole batch of a step unless said otherwise.
class DappleModel {
 public:
  DappleModel(const PlannerJob& job, const DappleOptions& options)
      : job_(job), options_(options), sums_(job), machine_(machine_size(job)), factor_(slowest_factor(job)) {
    inside_ = static_cast<double>(job.levels.front().bandwidth);
    between_ = static_cast<double>(job.levels.back().bandwidth);
  }

  [[nodiscard]] int layers() const { return job_.layer_count(); }
  [[nodiscard]] int devices() const { return job_.device_count(); }
  [[nodiscard]] int microbatches() const { return job_.microbatches; }
  [[nodiscard]] double compute(int begin, int end) const {
    return static_cast<double>(sums_.time(begin, end)) * factor_ * job_.microbatches;
  }
  [[nodiscard]] double output(int cut) const {
    return static_cast<double>(at(job_.layers, cut - 1).output) * job_.microbatches;
  }

  // Split and concatenate: into one machine, only what the senders on other machines hold crosses the network.
  [[nodiscard]] double transfer(const DappleDevices& from, const DappleDevices& to, double bytes) const {
    if (!crosses(to)) {
      const int machine = to.front() / machine_;
      const auto outside = std::count_if(from.begin(), from.end(), [&](int one) { return one / machine_ != machine; });
      if (outside == 0) return bytes / inside_ * 1e9;
      return bytes * static_cast<double>(outside) / static_cast<double>(from.size()) /
             (between_ * options_.transfer_share) * 1e9;
    }
    return bytes / between_ * 1e9;
  }

  [[nodiscard]] double exchange(const DappleDevices& devices, double bytes) const {
    const auto count = static_cast<int>(devices.size());
    if (count == 1) return 0;
    const double moved = 2.0 * (count - 1) / count * bytes;
    if (crosses(devices)) return moved / between_ * 1e9;
    return moved / inside_ / (count / 2) * 1e9;  // so many rings at once
  }

  [[nodiscard]] double weights(int begin, int end) const {
    return static_cast<double>(sums_.parameters(begin, std::min(end + (options_.shifted_weights ? 1 : 0), layers())));
  }

  // Over one device; 0 where the batch is too small for so many pipelines. `slowest` is of the whole batch.
  [[nodiscard]] double speedup(const std::vector<PlannerStage>& stages, int pipelines, double slowest) const {
    const int count = job_.microbatches / pipelines;
    if (count < 1) return 0;
    const double block = slowest / count;
    double length = block * (count - 1) + compute(0, layers()) / (pipelines * static_cast<double>(count));
    for (std::size_t s = 0; s + 1 < stages.size(); ++s) {
      length += transfer(stages[s].devices, stages[s + 1].devices,
                         output(stages[s].end) / (pipelines * static_cast<double>(count)));
    }
    double exposed = 0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      exposed = std::max(exposed, exchange(stages[s].devices, weights(stages[s].begin, stages[s].end)) -
                                      static_cast<double>(s) * block);
    }
    return compute(0, layers()) / (length + exposed);
  }

 private:
  [[nodiscard]] bool crosses(const DappleDevices& devices) const {
    const auto [least, most] = std::minmax_element(devices.begin(), devices.end());
    return *least / machine_ != *most / machine_;
  }

  const PlannerJob& job_;
  const DappleOptions& options_;
  PlannerSums sums_;
  int machine_;
  double factor_;
  double inside_ = 0, between_ = 0;
};

PlannerStage dapple_stage(int begin, int end, DappleDevices devices) {
  const auto count = static_cast<int>(devices.size());
  return {begin, end, count, std::move(devices)};
}

// The original's dynamic program with replication never splits: one stage attains its lower bound.
DapplePlan best_single(const DappleModel& model) {
  DapplePlan best{"one stage", {}, 0};
  for (int devices = 2; devices <= std::max(2, model.devices()); ++devices) {
    const int used = model.devices() == 1 ? 1 : devices;
    const int pipelines = model.devices() / used;
    const std::vector<PlannerStage> stages{dapple_stage(0, model.layers(), device_range(0, used * pipelines))};
    const double value = model.speedup(stages, pipelines, model.compute(0, model.layers()) / (used * pipelines));
    if (value > best.speedup) best = {"one stage", stages, value};
  }
  return best;
}

// So many stages on as many equal groups of consecutive devices; the slowest stage or transfer least.
DapplePlan straight_plan(const DappleModel& model, int stages) {
  const int group = model.devices() / stages;
  const int layers = model.layers();
  const auto devices = [&](int stage) { return device_range(stage * group, (stage + 1) * group); };
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(to_index(stages + 1), std::vector<double>(to_index(layers + 1), kNone));
  std::vector<std::vector<int>> from(to_index(stages + 1), std::vector<int>(to_index(layers + 1), 0));
  for (int end = 1; end <= layers; ++end) at(best[1], end) = model.compute(0, end) / group;
  std::vector<double> transfers(to_index(layers), 0);  // by cut, into the last of the stages so far
  for (int count = 2; count <= stages; ++count) {
    const DappleDevices before = devices(count - 2);
    const DappleDevices last = devices(count - 1);
    // There and back, of the whole batch: the original does not share it among the pipelines.
    for (int cut = count - 1; cut < layers; ++cut) {
      at(transfers, cut) = 2 * model.transfer(before, last, model.output(cut));
    }
    for (int end = count; end <= layers; ++end) {
      for (int cut = count - 1; cut < end; ++cut) {
        const double value =
            std::max({at(at(best, count - 1), cut), at(transfers, cut), model.compute(cut, end) / group});
        if (value >= at(at(best, count), end)) continue;
        at(at(best, count), end) = value;
        at(at(from, count), end) = cut;
      }
    }
  }
  DapplePlan plan{"straight", {}, 0};
  int end = layers;
  for (int count = stages; count >= 1; --count) {
    const int begin = at(at(from, count), end);
    plan.stages.insert(plan.stages.begin(), dapple_stage(begin, end, devices(count - 1)));
    end = begin;
  }
  plan.speedup = model.speedup(plan.stages, group, at(at(best, stages), layers));
  return plan;
}

DapplePlan best_bipartition(const DappleModel& model) {
  DapplePlan best{"bipartition", {}, 0};
  const int layers = model.layers();
  for (int first = 1; first < model.devices(); ++first) {
    const DappleDevices front = device_range(0, first);
    const DappleDevices back = device_range(first, model.devices());
    for (int cut = 1; cut < layers; ++cut) {
      const double slowest = std::max({model.compute(0, cut) / first, model.transfer(front, back, model.output(cut)),
                                       model.compute(cut, layers) / (model.devices() - first)});
      const std::vector<PlannerStage> stages{dapple_stage(0, cut, front), dapple_stage(cut, layers, back)};
      const double value = model.speedup(stages, 1, slowest);
      if (value > best.speedup) best = {"bipartition", stages, value};
    }
  }
  return best;
}

PlannerDecision decide_dapple(const PlannerJob& job, const PlannerRequest& request) {
  const double published_share = 1.0 / 3.0;
  const DappleOptions options{.shifted_weights = request.as_published,
                              .transfer_share = planner_number(request, "transfer-share",
                                                               request.as_published ? published_share : 1.0, 0.001, 1)};
  DapplePlan best;
  for (DapplePlan& plan : dapple_plans(job, options)) {
    if (plan.speedup > best.speedup) best = std::move(plan);
  }
  PlannerDecision decision;
  decision.stages = best.stages;
  decision.predicted = best.speedup;
  decision.unit = "times one device";
  decision.choices = {{"family", best.family}};
  note_slowest_device(job, decision);
  return decision;
}

}  // namespace

std::vector<DapplePlan> dapple_plans(const PlannerJob& job, const DappleOptions& options) {
  if (job.levels.empty() || job.levels.size() > 2) {
    not_for_planner("dapple", "it plans for machines of equal devices on one network",
                    "give one or two levels: devices per machine, machines");
  }
  if (static_cast<double>(job.device_count()) * job.device_count() * job.layer_count() > 4e8) {
    not_for_planner("dapple", "so many layers on so many devices are too many to try all pairs of stages",
                    "use fewer devices, or a coarser profile");
  }
  const DappleModel model(job, options);
  if (model.compute(0, model.layers()) <= 0) {
    not_for_planner("dapple", "layers that take no time have no speed-up", "use a profile with times");
  }
  std::vector<DapplePlan> plans{best_single(model)};
  if (job.device_count() > 2 && job.device_count() % 2 == 0 && job.layer_count() >= 2) {
    plans.push_back(straight_plan(model, 2));
  }
  if (job.device_count() > 1 && job.layer_count() >= job.device_count()) {
    plans.push_back(straight_plan(model, job.device_count()));
  }
  if (job.device_count() > 1 && job.layer_count() > 1) plans.push_back(best_bipartition(model));
  return plans;
}

double dapple_data_parallel(const PlannerJob& job, const DappleOptions& options) {
  const DappleModel model(job, options);
  const double compute = model.compute(0, model.layers());
  return compute / (compute / model.devices() +
                    model.exchange(device_range(0, model.devices()), model.weights(0, model.layers())));
}

DappleLatency dapple_latency(const std::vector<double>& forward, const std::vector<double>& backward,
                             const std::vector<double>& exchange, int microbatches, bool exact_tail) {
  const auto count = static_cast<int>(forward.size());
  const auto both = [&](int stage) { return at(forward, stage) + at(backward, stage); };
  DappleLatency latency;
  latency.pivot = count - 1;
  for (int stage = count - 2; stage >= 0; --stage) {
    double between = 0;
    for (int a = stage + 1; a < latency.pivot; ++a) between += both(a);
    if ((microbatches - 1) * both(stage) > (microbatches - 1) * both(latency.pivot) + between) latency.pivot = stage;
  }
  for (int stage = 0; stage <= latency.pivot; ++stage) latency.warm_up += at(forward, stage);
  latency.steady = (microbatches - 1) * both(latency.pivot);
  latency.tail = -std::numeric_limits<double>::infinity();
  for (int stage = 0; stage < count; ++stage) {
    double offset = 0;
    for (int a = stage; a <= latency.pivot; ++a) offset += at(backward, a);
    for (int a = latency.pivot + 1; a < stage + (exact_tail ? 0 : 1); ++a) offset -= at(backward, a);
    latency.tail = std::max(latency.tail, at(exchange, stage) + offset);
  }
  return latency;
}

const PlannerEntry& dapple_planner() {
  static const PlannerEntry entry{
      .name = "dapple",
      .summary = "replicated stages of synchronous 1F1B: one stage, a straight pipeline or two stages, by one formula",
      .objective = "shortest step, as speed-up over one device",
      .cost_model =
          "block (M - 1) + total / (pipelines x M) + cut transfers + exposed exchanges of weights, where block is the "
          "slowest stage or transfer per microbatch and stage s hides s blocks of its exchange",
      .assumes =
          "every replica takes its share of each microbatch; equal devices in machines on one network; forward and "
          "backward are counted together; there is no memory limit",
      .published =
          "BERT-48 on 2x8 V100: 8:8 (shipped runtime: 23:25 layers); XLNet-36: 8:8 (17:19 shipped); VGG-19 on 16x1: "
          "15:1; AmoebaNet-36 on 16x1: 11:5 (27:9 cells)",
      .faults =
          "its program counts the next stage's first layer in every weight exchange; it gives transfers into one "
          "machine 1 GB/s where collectives get 3, which on 16 single-GPU machines turns VGG-19's 15:1 into 14:2",
      .certainty = PlannerCertainty::kVerified,
      .certainty_note =
          "as published it gives the winning plan and speed-up of the authors' program in 15 runs; in a straight "
          "pipeline over machines of several GPUs the devices are taken in order here; the program also tries other "
          "placements, which won none of the runs",
      .params = {{"transfer-share", "0.001..1", "1 (as published 1/3)",
                  "share of the outer bandwidth that a transfer into one machine gets"}},
      .advice =
          "Ask it for few machines and small models: it finds plans such as data parallelism with the heavy last "
          "layers on a stage of their own. It never proposes three or more replicated stages.",
      .citation = "Fan et al., DAPPLE, PPoPP 2021, arXiv 2007.01045; program: github.com/AlibabaPAI/DAPPLE at fd75dcf",
      .decide = decide_dapple};
  return entry;
}

}  // namespace debubble
