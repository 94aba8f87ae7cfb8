#include "schedules/zero_bubble/dual_pipe_row.hpp"

#include <cstddef>
#include <utility>

namespace debubble {

namespace {

class Builder {
 public:
  Builder(int microbatches, const DualPipeStage& a, const DualPipeStage& b) : a_{a}, b_{b} {
    row_.reserve(6 * static_cast<std::size_t>(microbatches));
  }

  struct Side {
    DualPipeStage at;
    int forwards = 0;
    int backwards = 0;
  };

  void forward(Side& side, bool paired = false) {
    row_.push_back({OpKind::kForward, paired, side.at.stage, side.at.first_microbatch + side.forwards++});
  }
  void backward(Side& side, bool input_only = false) {
    const OpKind kind = input_only ? OpKind::kInputGrad : OpKind::kBackward;
    row_.push_back({kind, false, side.at.stage, side.at.first_microbatch + side.backwards++});
    if (!input_only) return;
    waiting_.push_back({OpKind::kWeightGrad, false, side.at.stage, row_.back().microbatch});
  }
  void pair(Side& front, Side& back) {
    forward(front, true);
    backward(back);
  }
  void weight_grad() {  // the oldest that waits, if any does
    if (done_ < waiting_.size()) row_.push_back(waiting_[done_++]);
  }

  Side a_, b_;
  std::vector<Op> row_;

 private:
  std::vector<Op> waiting_;
  std::size_t done_ = 0;
};

}  // namespace

std::vector<Op> dual_pipe_row(const DualPipeShape& shape, int rank, const DualPipeStage& a, const DualPipeStage& b) {
  const int inner = shape.half - rank - 1;  // how far the turn is
  Builder row(shape.microbatches, a, b);
  for (int k = 0; k < 2 * inner; ++k) row.forward(row.a_);
  for (int k = 0; k < rank + 1; ++k) {
    row.forward(row.a_);
    row.forward(row.b_);
  }
  for (int k = 0; k < inner; ++k) {
    row.backward(row.b_, true);
    row.weight_grad();
    row.forward(row.b_);
  }
  for (int k = 0; k < shape.microbatches - 2 * shape.half + rank + 1; ++k) {
    if (k == 0 && inner == 0) {  // at the turn the first two run one by one: the neighbour waits for the F
      row.forward(row.a_);
      row.backward(row.b_);
    } else {
      row.pair(row.a_, row.b_);
    }
    row.pair(row.b_, row.a_);
  }
  for (int k = 0; k < inner; ++k) {
    row.backward(row.b_);
    row.pair(row.b_, row.a_);
  }
  bool input_only = false;
  for (int k = 0; k < rank + 1; ++k) {
    const bool turns = k == (rank + 1) / 2;
    if (turns && rank % 2 == 1) input_only = true;
    row.backward(row.b_, input_only);
    if (turns && rank % 2 == 0) input_only = true;
    row.backward(row.a_, input_only);
  }
  for (int k = 0; k < inner; ++k) {
    row.weight_grad();
    row.backward(row.a_, input_only);
  }
  for (int k = 0; k < rank + 1; ++k) row.weight_grad();
  return std::move(row.row_);
}

}  // namespace debubble
