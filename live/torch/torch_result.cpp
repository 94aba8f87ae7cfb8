#include "live/torch/torch_result.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <utility>

#include "live/cpu/cores.hpp"
#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "sim/rows/observed.hpp"

namespace debubble::live {

namespace {

// Three digits: "1.2e-10".
std::string short_number(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.3g", value);
  return {text.data(), static_cast<std::size_t>(length)};
}

class TorchResult {
 public:
  TorchResult(const Job& job, const TorchOptions& options, const std::vector<TorchRank>& ranks)
      : job_(job), options_(options), ranks_(ranks) {}

  LiveResult run() {
    check_bytes();
    check_proof();
    add_costs();
    const int first = 1 + job_.request().warm_up;  // the first of all is the proof's
    const int total = first + job_.request().repetitions;
    for (const TorchRank& rank : ranks_) require(static_cast<int>(rank.iterations.size()) == total, "iterations");
    for (int number = first; number < total; ++number) add_iteration(number);
    describe();
    return std::move(result_);
  }

 private:
  static void require(bool holds, const std::string& what) {
    if (!holds) {
      fail("G002", "debubble_torch", "its records lack " + what,
           "debubble and its debubble_torch must be of one version: check PYTHONPATH for another copy");
    }
  }

  // Of the first iteration: what arrived is what was sent.
  void check_bytes() {
    std::map<Tensor, std::uint64_t> sent;
    for (const TorchRank& rank : ranks_) {
      require(!rank.iterations.empty(), "the proof");
      for (const TorchIteration::Travel& each : rank.iterations[0].sent) sent[each.tensor] = each.checksum;
    }
    for (std::size_t device = 0; device < ranks_.size(); ++device) {
      for (const TorchIteration::Travel& each : ranks_[device].iterations[0].got) {
        const auto found = sent.find(each.tensor);
        require(found != sent.end(), "a transfer's begin");
        if (found->second == each.checksum) {
          ++result_.tensors_checked;
          continue;
        }
        throw WrongDataError(to_string(each.tensor) + ", which device " + std::to_string(device) +
                             " received from device " + std::to_string(each.peer) +
                             ", is not what was sent: its bytes changed on their way" + gradients_too());
      }
    }
  }

  [[nodiscard]] const TorchProof& proof() const {
    require(ranks_[0].proof.has_value(), "the proof");
    return *ranks_[0].proof;
  }

  [[nodiscard]] std::string wrong_gradients() const {
    return std::to_string(ranks_[0].wrong.size()) + (ranks_[0].wrong.size() < 20 ? "" : " or more") + " of " +
           counted(proof().parameters, "parameter") + " differ by more than " + short_number(proof().tolerance) +
           " of their largest gradient: " + ranks_[0].wrong.front();
  }
  [[nodiscard]] std::string gradients_too() const {
    return ranks_[0].wrong.empty() ? "" : "; so the gradients are wrong: " + wrong_gradients();
  }

  void check_proof() const {
    if (!ranks_[0].wrong.empty()) {
      throw WrongDataError("the gradients are not those of the unsplit model: " + wrong_gradients());
    }
    require(proof().parameters > 0, "parameters");
    if (options_.gpus) return;  // sums of floating-point atomics may come in any order there
    for (std::size_t device = 0; device < ranks_.size(); ++device) {
      const auto& iterations = ranks_[device].iterations;
      const auto other = std::find_if(iterations.begin(), iterations.end(),
                                      [](const TorchIteration& each) { return !each.as_proven; });
      if (other == iterations.end()) continue;
      throw WrongDataError("device " + std::to_string(device) + ": the gradients of iteration " +
                           std::to_string(other - iterations.begin()) + " are not those that were proven");
    }
  }

  // A stage that several devices hold gets the mean.
  void add_costs() {
    std::vector<StageCost>& stages = result_.costs.stages;
    stages.resize(to_index(job_.schedule().stages));
    std::vector<int> holders(stages.size(), 0);
    for (const TorchRank& rank : ranks_) {
      for (const TorchCost& each : rank.costs) {
        require(each.stage < job_.schedule().stages, "a stage");
        StageCost& cost = at(stages, each.stage);
        ++at(holders, each.stage);
        cost.forward += each.forward;
        cost.backward += each.backward;
        cost.input_grad += each.input_grad;
        cost.weight_grad += each.weight_grad;
        cost.activation = std::max(cost.activation, each.activation);
        cost.weight_grad_held = std::max(cost.weight_grad_held, each.held);
        cost.output = std::max(cost.output, each.output);
        cost.weights = cost.gradients = each.weights;
        cost.checkpoint = each.input;
        whole_ = whole_ || each.whole;
      }
    }
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      require(holders[stage] > 0, "the times of a stage");
      for (Nanoseconds* time :
           {&stages[stage].forward, &stages[stage].backward, &stages[stage].input_grad, &stages[stage].weight_grad}) {
        *time = (*time + holders[stage] / 2) / holders[stage];
      }
      stages[stage].recompute = stages[stage].forward;
      scale_to_microbatch(stages[stage]);
    }
    result_.hop_latency = ranks_[0].latency;
    result_.hop_bandwidth = ranks_[0].bandwidth;
  }

  // What was measured is of one piece.
  void scale_to_microbatch(StageCost& cost) const {
    const int pieces = job_.schedule().pieces;
    for (Nanoseconds* time : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad, &cost.recompute}) {
      *time *= pieces;
    }
    for (Bytes* size : {&cost.activation, &cost.weight_grad_held, &cost.checkpoint, &cost.output}) *size *= pieces;
  }

  void add_iteration(int number) {
    Observation observation;
    std::map<Tensor, Nanoseconds> sent;
    for (std::size_t device = 0; device < ranks_.size(); ++device) {
      const TorchIteration& iteration = ranks_[device].iterations[to_index(number)];
      add_cells(static_cast<std::int32_t>(device), iteration, observation);
      for (const TorchIteration::Travel& each : iteration.sent) sent[each.tensor] = each.time;
      sum_time_ = std::max(sum_time_, iteration.sum_time);
    }
    for (std::size_t device = 0; device < ranks_.size(); ++device) {
      for (const TorchIteration::Travel& each : ranks_[device].iterations[to_index(number)].got) {
        require(sent.contains(each.tensor), "a transfer's begin");
        observation.transfers.push_back({job_.maker_of(each.tensor), each.peer, static_cast<std::int32_t>(device),
                                         sent[each.tensor], each.time, 0, each.bytes});
      }
    }
    result_.iterations.push_back({assemble_timeline(job_.request().schedule, observation), {}, {}});
  }

  void add_cells(std::int32_t device, const TorchIteration& iteration, Observation& observation) const {
    const auto& row = at(job_.schedule().rows, device);
    for (const TorchIteration::TimedCell& each : iteration.cells) {
      require(to_index(each.position) < row.size(), "an op's place");
      const std::vector<Op> cell = job_.cell(device, each.position);
      ObservedOp seen{cell[0], {}, cell.size() == 2, device, each.begin, each.end};
      if (seen.paired) seen.partner = cell[1];
      observation.ops.push_back(seen);
    }
  }

  [[nodiscard]] std::string fact(const std::string& key) const {
    const auto found = ranks_[0].facts.find(key);
    return found == ranks_[0].facts.end() ? "" : found->second;
  }

  void describe() {
    RunOrigin& origin = result_.origin;
    origin.backend = "torch";
    origin.clock = "wall";
    origin.device = options_.gpus ? fact("device") : cpu_name();
    origin.cuda = fact("cuda");
    origin.libraries = "PyTorch " + fact("torch") + ", " + fact("backend") + ", Python " + fact("python");
    origin.method = "one process per device; CLOCK_MONOTONIC around every cell, one thread each";
    result_.clocks = {"one clock", 0, {}};
    if (sum_time_ > 0 && job_.schedule().placement.replicas() > 1) {
      origin.notes.push_back(
          "the sum of the gradients between replicas, after the rows, is not part of the step; it took " +
          std::to_string(sum_time_ / 1000) + " us at most");
    }
    assume("stages",
           options_.stages.empty()
               ? "the built-in chain of equal blocks: LayerNorm and an MLP of 256, 1024, 256; 128 rows"
               : options_.stages,
           options_.stages.empty() ? Source::kDefault : Source::kGiven);
    assume("precision", options_.precision, Source::kGiven);
    assume("op times",
           "medians of at least " + std::to_string(options_.timings) +
               " before the run, while all other processes were idle: " + origin.device,
           Source::kMeasured);
    assume("links", "medians of messages before the run, from each process to the next, all at work",
           Source::kMeasured);
    if (whole_) {
      assume("weight gradient",
             "some stages use a module twice or return several tensors from one: W computes input "
             "gradients inside the stage once more",
             Source::kMeasured);
    }
    if (job_.schedule().pieces > 1) assume("microbatch", counted(job_.schedule().pieces, "input"), Source::kDefault);
    describe_proof();
  }

  void describe_proof() {
    const TorchProof& found = proof();
    const std::string of = counted(found.parameters, "parameter") + " (" + std::to_string(found.numbers) + " numbers)";
    std::string text = "those of the unsplit model on one process: " + of;
    text += found.same_bits == found.parameters
                ? ", bit for bit"
                : ", " + std::to_string(found.same_bits) + " bit for bit, the others within " +
                      short_number(found.max_relative) + " of their largest gradient, at most " +
                      short_number(found.max_absolute) + " (allowed: " + short_number(found.tolerance) + ")";
    text += "; sums in the order of the rows; losses: " + std::to_string(found.losses_same) + " of " +
            std::to_string(found.losses) + " bit for bit";
    assume("gradients", text, Source::kMeasured);
  }

  void assume(const std::string& key, const std::string& amount, Source source) {
    result_.assumptions.push_back({key, amount, source});
  }

  const Job& job_;
  const TorchOptions& options_;
  const std::vector<TorchRank>& ranks_;
  LiveResult result_;
  bool whole_ = false;
  Nanoseconds sum_time_ = 0;
};

}  // namespace

LiveResult torch_result(const Job& job, const TorchOptions& options, const std::vector<TorchRank>& ranks) {
  return TorchResult(job, options, ranks).run();
}

}  // namespace debubble::live
