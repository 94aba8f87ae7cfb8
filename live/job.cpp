#include "live/job.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "live/fault.hpp"
#include "sim/core/at.hpp"
#include "sim/rows/weight_versions.hpp"

namespace debubble::live {

namespace {

bool same(const Op& a, const Op& b) { return a.kind == b.kind && a.stage == b.stage && a.microbatch == b.microbatch; }

}  // namespace

Job::Job(const LiveRequest& request)
    : request_(&request),
      schedule_(request.schedule),
      links_(Topology::ideal(request.hop_latency, request.hop_bandwidth)) {
  if (request.costs.stages.size() != to_index(request.schedule.stages)) {
    throw std::logic_error("live: costs for another number of stages than the schedule's");
  }
  refuse_features();
  check_range();
  plan_ = make_plan(schedule_, request.p2p);
  extra_weights_ = extra_weight_copies(schedule_);
  swap_rows();
  ops_.emplace(schedule_);
}

std::vector<Job::Resident> Job::residents(std::int32_t device) const {
  std::vector<Resident> residents;
  const Placement& placement = schedule_.placement;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < placement.stages(); ++stage) {
      if (placement.device_of(replica, stage) != device) continue;
      if (schedule_.replicas_share_weights && holds_before(placement, replica, stage)) continue;
      const StageCost& cost = at(request_->costs.stages, stage);
      const Bytes copies = extra_weights_.empty() ? 1 : 1 + at(extra_weights_, replica * placement.stages() + stage);
      residents.push_back({stage, copies * cost.weights + cost.gradients + cost.optimizer});
    }
  }
  return residents;
}

// What no executor does the work of. Equal pieces, slices and pairs one after the other run like any other rows.
void Job::refuse_features() const {
  const P2p p2p = request_->p2p;
  if (p2p == P2p::kLate || p2p == P2p::kRendezvous || p2p == P2p::kJoined) {
    throw InputError(Diagnostic{"E003", "--p2p", "no executor has its transfers late, joined or by rendezvous",
                                "run it with overlapped, blocking or coupled, or simulate it"});
  }
  const Schedule& schedule = request_->schedule;
  std::string what;
  if (!schedule.copies.empty()) what = "copies activations away and back";
  if (!schedule.piece_shares.empty()) what = "cuts microbatches into unequal pieces";
  if (schedule.pairs_run_side_by_side) what = "runs the members of a pair side by side";
  for (const auto& row : schedule.rows) {
    for (const Op& op : row) {
      if (op.kind == OpKind::kRecompute && !request_->recomputes) what = "recomputes activations";
      if (is_vocabulary(op.kind)) what = "splits the output layer over the devices";
    }
  }
  if (what.empty()) return;
  throw InputError(Diagnostic{"E040", schedule.name, "this schedule " + what + ", which no executor can do yet",
                              "simulate it, or run the schedule without that"});
}

// The other devices do not know of the swap: they keep their places for transfers.
void Job::swap_rows() {
  for (const Fault& fault : request_->faults) {
    if (fault.kind != Fault::Kind::kSwap) continue;
    auto& row = at(schedule_.rows, fault.device);
    const std::size_t place = place_to_swap(fault, schedule_);
    std::swap(row[place], row[place + 1]);
    at(plan_.devices, fault.device) = at(make_plan(schedule_, request_->p2p).devices, fault.device);
  }
}

void Job::check_range() const {
  constexpr auto kLimit = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 4);
  double times = 0;
  double sizes = 0;
  for (const StageCost& cost : request_->costs.stages) {
    for (const Nanoseconds each : {cost.forward, cost.backward, cost.input_grad, cost.weight_grad}) {
      times += static_cast<double>(each);
    }
    const Bytes output = cost.output;
    const double seconds =
        static_cast<double>(output) / static_cast<double>(std::max<std::int64_t>(1, links_.bandwidth()));
    times += 2 * (static_cast<double>(links_.latency()) + (links_.bandwidth() == 0 ? 0.0 : seconds * 1e9));
    for (const Bytes each : {cost.activation, cost.weight_grad_held, output, cost.weights, cost.gradients,
                             cost.optimizer, cost.workspace}) {
      sizes += static_cast<double>(each);
    }
  }
  if (request_->costs.overlapped_pair)
    times += static_cast<double>(*request_->costs.overlapped_pair) * schedule_.stages;
  double slowest = 1;
  for (const Fault& fault : request_->faults) slowest = std::max(slowest, fault.factor);
  const double most =
      std::max(times * slowest, sizes * schedule_.placement.replicas()) * (schedule_.total_pieces() + 1);
  if (most < kLimit) return;
  throw InputError(Diagnostic{"X001", "", "the times or sizes of this run add up to more than a 64-bit count holds",
                              "check the units; use fewer microbatches"});
}

const StageCost& Job::cost(const Op& op) const { return at(request_->costs.stages, op.stage); }

std::vector<Op> Job::cell(std::int32_t device, std::int32_t position) const {
  const auto& row = at(schedule_.rows, device);
  const bool pair = at(row, position).paired_with_next && to_index(position) + 1 < row.size();
  return {row.begin() + position, row.begin() + position + (pair ? 2 : 1)};
}

double Job::slowdown(std::int32_t device) const {
  double factor = 1;
  for (const Fault& fault : request_->faults) {
    if (fault.kind == Fault::Kind::kSlow && fault.device == device) factor *= fault.factor;
  }
  return factor;
}

namespace {

Nanoseconds slowed(Nanoseconds time, double factor) {
  return factor == 1 ? time : static_cast<Nanoseconds>(std::llround(static_cast<double>(time) * factor));
}

}  // namespace

Nanoseconds Job::nominal(const Op& op) const { return piece(duration_of(op.kind, cost(op))); }

Nanoseconds Job::duration(std::int32_t device, const Op& op) const { return slowed(nominal(op), slowdown(device)); }

Nanoseconds Job::duration(std::int32_t device, const std::vector<Op>& cell) const {
  const auto& pair = request_->costs.overlapped_pair;
  const auto is_forward = [](const Op& op) { return op.kind == OpKind::kForward; };
  if (pair && cell.size() == 2 && is_forward(cell[0]) != is_forward(cell[1])) {
    return slowed(piece(*pair), slowdown(device));
  }
  Nanoseconds sum = 0;
  for (const Op& op : cell) sum += duration(device, op);
  return sum;
}

Op Job::maker_of(const Tensor& tensor) const {
  const auto user_kind = tensor.gradient ? OpKind::kBackward : OpKind::kForward;
  const std::int32_t user_stage = tensor.gradient ? tensor.stage : tensor.stage + 1;
  return ops_->op(ops_->feeder({user_kind, false, user_stage, tensor.piece}));
}

Bytes Job::bytes(const Tensor& tensor) const { return piece(at(request_->costs.stages, tensor.stage).output); }

TransferTime Job::transfer(const Tensor& tensor) const {
  return links_.transfer(maker(schedule_, tensor), user(schedule_, tensor), bytes(tensor));
}

bool Job::has_fault(Fault::Kind kind, const Op& op) const {
  return std::any_of(request_->faults.begin(), request_->faults.end(),
                     [&](const Fault& fault) { return fault.kind == kind && same(fault.op, op); });
}

}  // namespace debubble::live
