#include "sim/engine/lowering.hpp"

#include <stdexcept>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"
#include "sim/rows/weight_versions.hpp"

namespace debubble {

Lowering::Lowering(const Schedule& schedule, Scan scan)
    : schedule_(schedule),
      stages_(schedule.stages),
      pieces_(schedule.total_pieces()),
      gradient_offset_(static_cast<std::size_t>(stages_) * static_cast<std::size_t>(pieces_)),
      plain_(scan == Scan::kPlain) {
  if (!plain_) find_recomputed();
  if (!plain_) shares_ = PieceShares(schedule);
}

void Lowering::find_recomputed() {
  for (const auto& row : schedule_.rows) {
    for (const Op& op : row) {
      has_shards_ = has_shards_ || is_vocabulary(op.kind);
      if (op.kind != OpKind::kRecompute) continue;
      if (recomputed_.empty()) recomputed_.assign(gradient_offset_, false);
      recomputed_[number(op)] = true;
    }
  }
}

std::uint32_t Lowering::feature_cell(const Op& op, std::uint32_t index) const {
  const auto piece_class = static_cast<std::uint32_t>(shares_.class_of(op.microbatch));
  const auto classes = static_cast<std::uint32_t>(shares_.classes());
  if (is_vocabulary(op.kind)) {
    const std::uint32_t blocks = classes * (recomputed_.empty() ? 1 : 2);
    const std::uint32_t kind = op.kind == OpKind::kVocabularyGradient ? 1 : 0;
    return blocks * cells_in_block() + (2 * piece_class + kind) * static_cast<std::uint32_t>(schedule_.devices) +
           static_cast<std::uint32_t>(op.stage);
  }
  const std::uint32_t block = (is_recomputed(op) ? classes : 0) + piece_class;
  return block * cells_in_block() + index;
}

bool Lowering::depend_on_each_other(const Op& a, const Op& b) const {
  if (a.microbatch != b.microbatch) return false;
  if (a.stage == b.stage) return a.kind != OpKind::kRecompute;  // whose backward may be the second half of its cell
  return feeds(a, b, stages_) || feeds(b, a, stages_);
}

Program Lowering::start(P2p p2p) const {
  Program program;
  program.devices = schedule_.devices;
  program.lanes = schedule_.copies.empty() ? schedule_.devices : 2 * schedule_.devices;
  program.shares = PieceShares(schedule_);
  program.pairs_run_side_by_side = schedule_.pairs_run_side_by_side;
  program.replicas_share_weights = schedule_.replicas_share_weights;
  program.extra_weights = extra_weight_copies(schedule_);
  program.has_features = !plain_;
  program.p2p = p2p;
  program.placement = schedule_.placement;
  const std::size_t ops = schedule_.total_ops();
  if (ops > kMostNodes) {
    throw InputError(Diagnostic{"X005", "", "a program of " + std::to_string(ops) + " ops is too large",
                                "use fewer microbatches: the steady state repeats"});
  }
  add_channels(program);
  add_cells(program);
  if (has_shards_) add_shards(program);
  return program;
}

void Lowering::add_cells(Program& program) const {
  const Placement& placement = schedule_.placement;
  const int classes = shares_.classes();
  for (int block = 0; block < classes * (recomputed_.empty() ? 1 : 2); ++block) {
    const int piece_class = block % classes;
    for (int kind = 0; kind < kStageKinds; ++kind) {
      for (int replica = 0; replica < placement.replicas(); ++replica) {
        for (int stage = 0; stage < stages_; ++stage) {
          Program::Cell cell;
          cell.kind = static_cast<OpKind>(kind);
          cell.stage = stage;
          cell.device = placement.device_of(replica, stage);
          cell.input_channel = input_channel(program, cell.kind, replica, stage);
          if (cell.input_channel >= 0) cell.input_channel += piece_class * channels_per_class();
          cell.piece_class = piece_class;
          cell.recomputed = block >= classes;
          program.cells.push_back(cell);
        }
      }
    }
  }
}

void Lowering::add_shards(Program& program) const {
  const std::int32_t last = schedule_.placement.device_of(0, stages_ - 1);
  for (int piece_class = 0; piece_class < shares_.classes(); ++piece_class) {
    for (const OpKind kind : {OpKind::kVocabularyLogits, OpKind::kVocabularyGradient}) {
      for (std::int32_t device = 0; device < schedule_.devices; ++device) {
        Program::Cell cell;
        cell.kind = kind;
        cell.stage = cell.device = device;
        cell.piece_class = piece_class;
        const bool receives = kind == OpKind::kVocabularyLogits && device != last;
        if (receives) cell.input_channel = static_cast<std::int32_t>(program.channels.size());
        program.cells.push_back(cell);
        if (kind == OpKind::kVocabularyLogits) {
          program.channels.push_back({last, device, stages_ - 1, piece_class});
        }
      }
    }
  }
}

void Lowering::add_channels(Program& program) const {
  const Placement& placement = schedule_.placement;
  for (int piece_class = 0; piece_class < shares_.classes(); ++piece_class) {
    for (const bool gradient : {false, true}) {
      for (int replica = 0; replica < placement.replicas(); ++replica) {
        for (int stage = 0; stage < stages_; ++stage) {
          const std::int32_t here = placement.device_of(replica, stage);
          const std::int32_t next = stage + 1 < stages_ ? placement.device_of(replica, stage + 1) : here;
          program.channels.push_back(gradient ? Program::Channel{next, here, stage, piece_class}
                                              : Program::Channel{here, next, stage, piece_class});
        }
      }
    }
  }
}

std::int32_t Lowering::input_channel(const Program& program, OpKind kind, int replica, int stage) const {
  if (!is_pipelined(kind) || source_stage(kind, stage, stages_) < 0) return -1;
  const int replicas = schedule_.placement.replicas();
  const std::int32_t index =
      makes_input_gradient(kind) ? (replicas + replica) * stages_ + stage : replica * stages_ + stage - 1;
  const Program::Channel& channel = at(program.channels, index);
  return channel.from_device == channel.to_device ? -1 : index;
}

std::uint32_t Lowering::pair_cell(Program& program, const Op& op, const Op& partner) {
  const auto next = static_cast<std::uint32_t>(program.cells.size());
  const bool in_sequence =
      op.kind == OpKind::kRecompute && op.stage == partner.stage && op.microbatch == partner.microbatch;
  const std::array<std::uint32_t, 3> key{cell(op), cell(partner), in_sequence ? 1U : 0U};
  const auto [found, is_new] = pair_cells_.try_emplace(key, next);
  if (is_new) {
    const Program::Cell& first = program.cells[cell(op)];
    const Program::Cell& second = program.cells[cell(partner)];
    const std::int32_t channel = first.input_channel >= 0 ? first.input_channel : second.input_channel;
    Program::Cell pair = first;
    pair.input_channel = channel;
    pair.paired = true;
    pair.partner_kind = partner.kind;
    pair.partner_stage = partner.stage;
    pair.partner_class = second.piece_class;
    pair.partner_recomputed = second.recomputed;
    pair.in_sequence = in_sequence;
    program.cells.push_back(pair);
  }
  return found->second;
}

void refuse_problems(const Schedule& schedule) {
  std::vector<Diagnostic> diagnostics;
  for (const ScheduleProblem& problem : find_problems(schedule)) {
    std::string place = schedule.name;
    if (problem.device >= 0) place += ", device " + std::to_string(problem.device);
    if (problem.position >= 0) place += ", position " + std::to_string(problem.position);
    diagnostics.push_back({problem.code, place, problem.message, problem.help});
  }
  if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
}

Deadlock explain_stuck(const Schedule& schedule) {
  refuse_problems(schedule);
  if (auto deadlock = find_deadlock(schedule)) return *deadlock;
  throw std::logic_error("lowering stopped although the schedule is complete and free of deadlock");
}

}  // namespace debubble
