// Job: what all devices of a run share: the request, the rows as they will run (a `swap` fault changes one), the plan,
// and what each cell and transfer costs. Read-only once made, so any number of threads may use it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "live/live.hpp"
#include "live/plan.hpp"
#include "sim/core/topology.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble::live {

class Job {
 public:
  // The request must outlive the job. Throws InputError X001 when the run's times or sizes could exceed 64 bits,
  // E040 for a schedule that holds what no executor runs, and E002 when one `swap` fault leaves the next nothing to
  // swap.
  explicit Job(const LiveRequest& request);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const LiveRequest& request() const { return *request_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }  // rows as they run
  [[nodiscard]] const OpIndex& ops() const { return *ops_; }            // of those rows
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const StageCost& cost(const Op& op) const;

  // The ops of the cell at this position: one, or two that run as an overlapped pair.
  [[nodiscard]] std::vector<Op> cell(std::int32_t device, std::int32_t position) const;
  [[nodiscard]] Nanoseconds nominal(const Op& op) const;  // by the given costs
  // By the given costs, with a `slow` fault: of one op, and of a cell.
  [[nodiscard]] Nanoseconds duration(std::int32_t device, const Op& op) const;
  [[nodiscard]] Nanoseconds duration(std::int32_t device, const std::vector<Op>& cell) const;
  [[nodiscard]] double slowdown(std::int32_t device) const;  // 1 without a fault

  [[nodiscard]] Op maker_of(const Tensor& tensor) const;
  [[nodiscard]] Bytes bytes(const Tensor& tensor) const;
  [[nodiscard]] TransferTime transfer(const Tensor& tensor) const;  // from its maker to its user
  // A size of a stage's cost for one piece.
  [[nodiscard]] Bytes piece(Bytes size) const { return piece_of(size, schedule_.pieces); }

  // What a stage on a device holds whether or not it works, all versions of its weights included.
  struct Resident {
    std::int32_t stage = 0;
    Bytes bytes = 0;
  };
  [[nodiscard]] std::vector<Resident> residents(std::int32_t device) const;

  // Whether a fault of this kind is injected into the output of `op`.
  [[nodiscard]] bool has_fault(Fault::Kind kind, const Op& op) const;

 private:
  void refuse_features() const;
  void swap_rows();
  void check_range() const;

  const LiveRequest* request_;
  Schedule schedule_;
  std::optional<OpIndex> ops_;
  std::vector<std::int32_t> extra_weights_;  // copies in addition to the first, by replica, then stage; empty: none
  Plan plan_;
  Topology links_;
};

}  // namespace debubble::live
