#include "live/mpi/nccl_program.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

using Kind = NcclStep::Kind;
using NcclEdge = std::pair<std::int32_t, std::int32_t>;  // from, to

NcclStep transfer(Kind kind, const Hop& hop, std::vector<std::size_t> after) {
  return {kind, 0, hop.tensor, hop.peer, std::move(after)};
}

// Receives come first in the list, so that cells can name them; queues alone say when they run.
void add_receives(const Plan& plan, std::int32_t rank, std::vector<NcclStep>& steps) {
  for (std::size_t peer = 0; peer < plan.devices.size(); ++peer) {
    for (const Action& action : plan.devices[peer]) {
      for (const Hop& hop : action.sends) {
        if (hop.peer == rank) {
          steps.push_back(transfer(Kind::kReceive, {hop.tensor, static_cast<std::int32_t>(peer)}, {}));
        }
      }
    }
  }
}

std::vector<NcclStep> steps_of(const Plan& plan, std::int32_t rank) {
  std::vector<NcclStep> steps;
  add_receives(plan, rank, steps);
  for (const Action& action : at(plan.devices, rank)) {
    NcclStep cell{Kind::kCompute, action.position, {}, -1, {}};
    for (const Hop& hop : action.receives) {
      const auto it = std::find_if(steps.begin(), steps.end(), [&hop](const NcclStep& step) {
        return step.kind == Kind::kReceive && step.tensor == hop.tensor;
      });
      if (it != steps.end()) cell.after.push_back(static_cast<std::size_t>(it - steps.begin()));
    }
    steps.push_back(std::move(cell));
    const std::size_t made = steps.size() - 1;
    for (const Hop& hop : action.sends) steps.push_back(transfer(Kind::kSend, hop, {made}));
  }
  return steps;
}

// The queues of all ranks, and how far they have come.
class NcclWalk {
 public:
  explicit NcclWalk(const NcclProgram& program) : program_(program), done_(program.size()), compute_(program.size()) {
    for (std::size_t rank = 0; rank < program.size(); ++rank) {
      done_[rank].assign(program[rank].size(), false);
      for (std::size_t k = 0; k < program[rank].size(); ++k) queue_of(rank, program[rank][k]).push_back(k);
    }
  }

  // Executes whatever can be executed until nothing can. The order does not matter: finishing a step never blocks
  // another, so if one order ends, all do.
  std::optional<std::string> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < program_.size(); ++rank) moved = compute(rank) || moved;
      for (auto& [edge, ends] : edges_) {
        while (both_ready(edge)) {
          if (auto problem = mismatch(edge)) return problem;
          finish(edge.first, ends.first);
          finish(edge.second, ends.second);
          moved = true;
        }
      }
    }
    return stuck();
  }

 private:
  using Queue = std::deque<std::size_t>;

  Queue& queue_of(std::size_t rank, const NcclStep& step) {
    const auto own = static_cast<std::int32_t>(rank);
    if (step.kind == Kind::kCompute) return compute_[rank];
    return step.kind == Kind::kSend ? edges_[{own, step.peer}].first : edges_[{step.peer, own}].second;
  }

  const NcclStep& step(std::int32_t rank, std::size_t k) const { return at(program_, rank)[k]; }

  bool is_ready(std::int32_t rank, const Queue& queue) const {
    if (queue.empty()) return false;
    const std::vector<std::size_t>& after = step(rank, queue.front()).after;
    const std::vector<bool>& done = at(done_, rank);
    return std::all_of(after.begin(), after.end(), [&done](std::size_t k) { return done[k]; });
  }

  bool both_ready(const NcclEdge& edge) const {
    const auto& [sends, receives] = edges_.at(edge);
    return is_ready(edge.first, sends) && is_ready(edge.second, receives);
  }

  void finish(std::int32_t rank, Queue& queue) {
    at(done_, rank)[queue.front()] = true;
    queue.pop_front();
  }

  bool compute(std::size_t rank) {
    bool moved = false;
    for (; is_ready(static_cast<std::int32_t>(rank), compute_[rank]); moved = true) {
      finish(static_cast<std::int32_t>(rank), compute_[rank]);
    }
    return moved;
  }

  std::optional<std::string> mismatch(const NcclEdge& edge) const {
    const auto& [sends, receives] = edges_.at(edge);
    const Tensor& sent = step(edge.first, sends.front()).tensor;
    const Tensor& wanted = step(edge.second, receives.front()).tensor;
    if (sent == wanted) return std::nullopt;
    return "rank " + std::to_string(edge.first) + " sends " + to_string(sent) + " where rank " +
           std::to_string(edge.second) + " expects " + to_string(wanted);
  }

  std::optional<std::string> stuck() const {
    std::string text;
    const auto add = [&text](std::int32_t rank, const std::string& what) {
      text += (text.empty() ? "" : "; ") + ("rank " + std::to_string(rank) + " is stuck ") + what;
    };
    for (std::size_t rank = 0; rank < compute_.size(); ++rank) {
      if (compute_[rank].empty()) continue;
      const auto number = static_cast<std::int32_t>(rank);
      add(number, "before op " + std::to_string(step(number, compute_[rank].front()).position));
    }
    for (const auto& [edge, ends] : edges_) {
      if (!ends.first.empty()) add(edge.first, "sending " + to_string(step(edge.first, ends.first.front()).tensor));
      if (!ends.second.empty()) {
        add(edge.second, "receiving " + to_string(step(edge.second, ends.second.front()).tensor));
      }
    }
    return text.empty() ? std::nullopt : std::optional(text);
  }

  const NcclProgram& program_;
  std::vector<std::vector<bool>> done_;
  std::vector<Queue> compute_;                         // by rank
  std::map<NcclEdge, std::pair<Queue, Queue>> edges_;  // sends, receives
};

}  // namespace

NcclProgram nccl_program(const Plan& plan) {
  NcclProgram program;
  for (std::size_t rank = 0; rank < plan.devices.size(); ++rank) {
    program.push_back(steps_of(plan, static_cast<std::int32_t>(rank)));
  }
  return program;
}

std::optional<std::string> find_nccl_problem(const NcclProgram& program) { return NcclWalk(program).run(); }

}  // namespace debubble::live
