#include "sim/engine/lowering.hpp"

#include <stdexcept>

#include "sim/core/check.hpp"
#include "sim/core/error.hpp"

namespace debubble {

Lowering::Lowering(const Schedule& schedule)
    : schedule_(schedule),
      stages_(schedule.stages),
      pieces_(schedule.total_pieces()),
      gradient_offset_(static_cast<std::size_t>(stages_) * static_cast<std::size_t>(pieces_)) {}

bool Lowering::depend_on_each_other(const Op& a, const Op& b) const {
  if (a.microbatch != b.microbatch) return false;
  if (a.stage == b.stage) return true;
  Tensor made;
  Tensor needed;
  const auto feeds = [&](const Op& from, const Op& to) {
    return output_of(from, made) && input_of(to, needed) && number(made) == number(needed);
  };
  return feeds(a, b) || feeds(b, a);
}

Program Lowering::start(P2p p2p) const {
  Program program;
  program.devices = schedule_.devices;
  program.pieces = schedule_.pieces;
  program.p2p = p2p;
  program.placement = schedule_.placement;
  const std::size_t ops = schedule_.total_ops();
  if (ops > kMostNodes) {
    throw InputError(Diagnostic{"X005", "", "a program of " + std::to_string(ops) + " ops is too large",
                                "use fewer microbatches: the steady state repeats"});
  }
  program.nodes.reserve(ops);
  add_channels(program);
  const Placement& placement = schedule_.placement;
  for (int kind = 0; kind < kOpKinds; ++kind) {
    for (int replica = 0; replica < placement.replicas(); ++replica) {
      for (int stage = 0; stage < stages_; ++stage) {
        const auto op_kind = static_cast<OpKind>(kind);
        program.cells.push_back({op_kind, stage, placement.device_of(replica, stage),
                                 input_channel(program, op_kind, replica, stage), false, OpKind::kForward, 0});
      }
    }
  }
  return program;
}

void Lowering::add_channels(Program& program) const {
  const Placement& placement = schedule_.placement;
  for (const bool gradient : {false, true}) {
    for (int replica = 0; replica < placement.replicas(); ++replica) {
      for (int stage = 0; stage < stages_; ++stage) {
        const std::int32_t here = placement.device_of(replica, stage);
        const std::int32_t next = stage + 1 < stages_ ? placement.device_of(replica, stage + 1) : here;
        program.channels.push_back(gradient ? Program::Channel{next, here, stage}
                                            : Program::Channel{here, next, stage});
      }
    }
  }
}

std::int32_t Lowering::input_channel(const Program& program, OpKind kind, int replica, int stage) const {
  const bool forward = kind == OpKind::kForward;
  if (kind == OpKind::kWeightGrad || (forward && stage == 0) || (!forward && stage + 1 == stages_)) return -1;
  const int replicas = schedule_.placement.replicas();
  const std::int32_t index = forward ? replica * stages_ + stage - 1 : (replicas + replica) * stages_ + stage;
  const Program::Channel& way = program.channels[static_cast<std::size_t>(index)];
  return way.from_device == way.to_device ? -1 : index;
}

std::uint32_t Lowering::pair_cell(Program& program, const Op& op, const Op& partner) {
  const auto next = static_cast<std::uint32_t>(program.cells.size());
  const auto [found, is_new] = pair_cells_.try_emplace({cell(op), cell(partner)}, next);
  if (is_new) {
    const Program::Cell& first = program.cells[cell(op)];
    const Program::Cell& second = program.cells[cell(partner)];
    const std::int32_t channel = first.input_channel >= 0 ? first.input_channel : second.input_channel;
    program.cells.push_back({op.kind, op.stage, first.device, channel, true, partner.kind, partner.stage});
  }
  return found->second;
}

Deadlock explain_stuck(const Schedule& schedule) {
  std::vector<Diagnostic> diagnostics;
  for (const ScheduleProblem& problem : find_problems(schedule)) {
    std::string place = schedule.name;
    if (problem.device >= 0) place += ", device " + std::to_string(problem.device);
    if (problem.position >= 0) place += ", position " + std::to_string(problem.position);
    diagnostics.push_back({problem.code, place, problem.message, problem.help});
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
  if (auto deadlock = find_deadlock(schedule)) return *deadlock;
  throw std::logic_error("lowering stopped although the schedule is complete and free of deadlock");
}

}  // namespace debubble
