#include "live/cuda/verification.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "live/checksum.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {
namespace {

// Which tensor of this iteration has the chain; for the message only.
std::string tensor_with(const Schedule& schedule, std::uint64_t chain, std::int32_t iteration) {
  if (chain == 0) return "nothing at all";
  if (chain == pipeline_end_chain()) return "what enters the pipeline";
  for (const std::int32_t turn : {iteration, iteration - 1}) {
    for (std::int32_t piece = 0; piece < schedule.total_pieces(); ++piece) {
      for (std::int32_t stage = 0; stage + 1 < schedule.stages; ++stage) {
        for (const bool gradient : {false, true}) {
          const Tensor tensor{gradient, stage, piece};
          if (expected_chain(schedule, tensor, turn) != chain) continue;
          return to_string(tensor) + (turn == iteration ? "" : " of the iteration before");
        }
      }
    }
  }
  return "data of no op in order";
}

// Of what F(stage, piece) makes, or B or I(stage, piece): also at the pipeline's ends, where nothing travels.
std::uint64_t expected_of(const Schedule& schedule, const Op& op, std::int32_t iteration) {
  const bool gradient = op.kind != OpKind::kForward;
  return expected_chain(schedule, {gradient, gradient ? op.stage - 1 : op.stage, op.microbatch}, iteration);
}

void check_op(const Job& job, const TraceBuffer& trace_buffer, std::size_t position, const Op& op,
              std::int32_t iteration) {
  if (op.kind == OpKind::kWeightGrad) return;
  Tensor tensor;
  const bool has_input = input_of(job.schedule(), op, tensor);
  const std::uint64_t wanted = has_input ? expected_chain(job.schedule(), tensor, iteration) : pipeline_end_chain();
  const std::uint64_t seen = trace_buffer[trace_buffer.of_op(position, OpWord::kSeen)];
  if (seen != wanted) {
    throw WrongDataError(to_string(op) + " should have got " +
                         (has_input ? to_string(tensor) : "what enters the pipeline") + " and got " +
                         tensor_with(job.schedule(), seen, iteration));
  }
  if (trace_buffer[trace_buffer.of_op(position, OpWord::kChain)] == expected_of(job.schedule(), op, iteration)) return;
  throw WrongDataError(to_string(op) + " did not find the activations of its own forward " +
                       to_string(Op{OpKind::kForward, false, op.stage, op.microbatch}) + " in place");
}

}  // namespace

std::int64_t check_chains(const Job& job, const Executor& executor, std::int32_t iteration) {
  const Schedule& schedule = job.schedule();
  // In the order of running: what went wrong first explains the rest.
  std::vector<std::tuple<std::uint64_t, std::int32_t, std::size_t>> order;
  std::int64_t checked = 0;
  for (std::int32_t device = 0; device < schedule.devices; ++device) {
    const TraceBuffer& trace_buffer = executor.trace_buffer(device);
    for (std::size_t position = 0; position < at(schedule.rows, device).size(); ++position) {
      order.emplace_back(trace_buffer[trace_buffer.of_op(position, OpWord::kBegin)], device, position);
    }
    checked += static_cast<std::int64_t>(trace_buffer.receives().size());
  }
  std::sort(order.begin(), order.end());
  for (const auto& [begin, device, position] : order) {
    check_op(job, executor.trace_buffer(device), position, at(schedule.rows, device)[position], iteration);
  }
  for (std::int32_t device = 0; device < schedule.devices; ++device) {
    const TraceBuffer& trace_buffer = executor.trace_buffer(device);
    for (const auto& [key, word] : trace_buffer.weights()) {
      if (trace_buffer[word] == expected_weight_chain(schedule, key.first, key.second, iteration)) continue;
      throw WrongDataError("the weight gradient of stage " + std::to_string(key.second) +
                           " was not made from each microbatch once");
    }
  }
  return checked;
}

void check_payloads(const Job& job, const Executor& executor) {
  for (std::int32_t device = 0; device < job.schedule().devices; ++device) {
    const TraceBuffer& trace_buffer = executor.trace_buffer(device);
    for (const auto& [tensor, word] : trace_buffer.receives()) {
      const TraceBuffer& sender = executor.trace_buffer(maker(job.schedule(), tensor));
      if (trace_buffer[word] == sender[sender.of_send(tensor, SendWord::kSum)]) continue;
      throw WrongDataError(to_string(tensor) + " changed in transit from device " +
                           std::to_string(maker(job.schedule(), tensor)) + " to device " + std::to_string(device) +
                           ": its checksum differs");
    }
  }
}

Observation observe(const Job& job, const Executor& executor, Bytes payload) {
  Observation seen;
  seen.p2p = job.request().p2p;
  for (std::int32_t device = 0; device < job.schedule().devices; ++device) {
    const TraceBuffer& trace_buffer = executor.trace_buffer(device);
    const auto time = [&](std::size_t word) { return static_cast<Nanoseconds>(trace_buffer[word]); };
    for (const Action& action : at(job.plan().devices, device)) {
      if (action.kind != Action::Kind::kCompute) continue;
      const std::vector<Op> cell = job.cell(device, action.position);
      const auto position = static_cast<std::size_t>(action.position);
      seen.ops.push_back({cell.front(), cell.back(), cell.size() == 2, device,
                          time(trace_buffer.of_op(position, OpWord::kBegin)),
                          time(trace_buffer.of_op(position + cell.size() - 1, OpWord::kEnd))});
    }
    for (const auto& [tensor, word] : trace_buffer.sends()) {
      seen.transfers.push_back({job.maker_of(tensor), device, user(job.schedule(), tensor),
                                time(trace_buffer.of_send(tensor, SendWord::kBegin)),
                                time(trace_buffer.of_send(tensor, SendWord::kEnd)), 0, payload});
    }
  }
  return seen;
}

void use_common_clock(Observation& seen, const ClockFit& clocks) {
  for (ObservedOp& op : seen.ops) {
    op.begin = clocks.to_common(op.device, op.begin);
    op.end = clocks.to_common(op.device, op.end);
  }
  for (ObservedTransfer& transfer : seen.transfers) {  // the sender stamps both
    transfer.begin = clocks.to_common(transfer.from_device, transfer.begin);
    transfer.end = clocks.to_common(transfer.from_device, transfer.end);
  }
}

}  // namespace debubble::live
