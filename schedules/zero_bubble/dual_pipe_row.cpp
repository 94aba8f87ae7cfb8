#include "schedules/zero_bubble/dual_pipe_row.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace debubble {

namespace {

class Builder {
 public:
  Builder(int microbatches, const DualPipeStage& a, const DualPipeStage& b, const DualPipeWays& ways)
      : a_{a}, b_{b}, ways_(ways) {
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
    input_only = input_only && ways_.split;
    const OpKind kind = input_only ? OpKind::kInputGrad : OpKind::kBackward;
    row_.push_back({kind, false, side.at.stage, side.at.first_microbatch + side.backwards++});
    if (!input_only) return;
    waiting_.push_back({OpKind::kWeightGrad, false, side.at.stage, row_.back().microbatch});
  }
  void pair(Side& front, Side& back, bool overlapped = true) {
    if (ways_.backward_first) backward(back);
    forward(front, overlapped && ways_.overlapped);
    if (!ways_.backward_first) backward(back);
  }
  void weight_grad() {  // one that waits, if any does
    if (waiting_.empty()) return;
    const auto next = ways_.backward_first ? waiting_.end() - 1 : waiting_.begin();
    row_.push_back(*next);
    waiting_.erase(next);
  }

  Side a_, b_;
  std::vector<Op> row_;

 private:
  DualPipeWays ways_;
  std::deque<Op> waiting_;
};

}  // namespace

std::vector<Op> dual_pipe_row(const DualPipeShape& shape, int rank, const DualPipeStage& a, const DualPipeStage& b,
                              const DualPipeWays& ways) {
  const int inner = shape.half - rank - 1;  // how far the turn is
  Builder row(shape.microbatches, a, b, ways);
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
    const bool turn = k == 0 && inner == 0;  // there the first two run one by one: the neighbour waits for the F
    row.pair(row.a_, row.b_, !turn);
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
