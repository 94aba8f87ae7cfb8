// What is evaluated for a plan, as the bytes of a message between its processes: all of one debubble.
#pragma once

#include "live/mpi/message_codec.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/step_costs.hpp"

namespace debubble {

// Without the choice that was simulated, which whoever asked knows, but for what the partition came to.
auto members(live::Like<PlannedRun> auto& run) {
  auto& [choice, step, bound, peak, bubble_ratio, samples, tokens, mfu, spare, margin] = run;
  return std::tie(choice.partition, step, bound, peak, bubble_ratio, samples, tokens, mfu, spare, margin);
}

auto members(live::Like<Evaluation> auto& one) {
  auto& [kind, bound, memory_bound, missing, only_tight, run, code, message] = one;
  return std::tie(kind, bound, memory_bound, missing, only_tight, run, code, message);
}

auto members(live::Like<Interest> auto& interest) {
  auto& [below, missing] = interest;
  return std::tie(below, missing);
}

auto members(live::Like<BaseEvaluation> auto& base) {
  auto& [legal, compute, states, code, message] = base;
  return std::tie(legal, compute, states, code, message);
}

auto members(live::Like<StageCost> auto& cost) {
  auto& [forward, backward, input_grad, weight_grad, activation, weight_grad_held, output, weights, gradients,
         optimizer, workspace, recompute, checkpoint, forward_collective, backward_collective, comm_buffers, tensors,
         copy] = cost;
  return std::tie(forward, backward, input_grad, weight_grad, activation, weight_grad_held, output, weights, gradients,
                  optimizer, workspace, recompute, checkpoint, forward_collective, backward_collective, comm_buffers,
                  tensors, copy);
}

auto members(live::Like<VocabularyCost> auto& cost) {
  auto& [logits, gradient, barrier, held] = cost;
  return std::tie(logits, gradient, barrier, held);
}

auto members(live::Like<TimesAtWork> auto& times) {
  auto& [devices, stages] = times;
  return std::tie(devices, stages);
}

auto members(live::Like<StageCosts> auto& costs) {
  auto& [stages, vocabulary, overlapped_pair, at_work] = costs;
  return std::tie(stages, vocabulary, overlapped_pair, at_work);
}

auto members(live::Like<StepCosts> auto& step) {
  auto& [costs, chains, capacities, margin, refusal] = step;
  return std::tie(costs, chains, capacities, margin, refusal);
}

}  // namespace debubble
