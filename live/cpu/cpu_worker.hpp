// CpuWorker: one device's ops as matmuls on one core, in buffers of its own.
//
// Forward is X W, the input gradient dY W', the weight gradient X' dY, in blocks of rows; an op takes as many rows as
// fill its cost. X is the tensor from the stage before, kept in the activation buffer until the backward is done; Y is
// what the next stage gets. So a tensor sent to the wrong op, or a buffer freed too early, corrupts real results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "live/cpu/matrix.hpp"
#include "live/job.hpp"
#include "live/worker.hpp"

namespace debubble::live {

// Sizes of the matmuls, the same for all devices of a run.
struct WorkShape {
  int hidden = 256;     // columns of all matrices
  int block_rows = 64;  // rows of one matmul
  bool token = false;   // one block per op, whatever its cost: where durations are given
  Bytes divisor = 1;    // real buffers have 1/divisor of the model's bytes
};

enum class Matmul : std::uint8_t { kForward, kInputGrad, kWeightGrad };

class CpuWorker final : public Worker {
 public:
  // Allocates and touches the device's weights; call it in the thread that does the work.
  CpuWorker(const Job& job, std::int32_t device, const WorkShape& shape, const MatmulLibrary& matmul);

  void start(Ledger& ledger) override;
  void begin(const Op& op) override;
  [[nodiscard]] Payload work(const Op& op, std::span<const std::byte> input) override;
  void end(const Op& op) override;

  // How many rows an op of this kind and cost (of one piece) multiplies; a whole backward does both of its halves. Not
  // used with a token shape.
  struct Rows {
    std::int64_t input_or_forward = 0;
    std::int64_t weight = 0;
  };
  void set_rows(OpKind kind, Nanoseconds cost, Rows rows) { rows_[{kind, cost}] = rows; }
  // Every op takes this many times as many rows: a `slow` fault.
  void slow_down(double factor) { slowdown_ = factor; }
  // Multiplies that many rows of a fixed pattern: to see how long it takes.
  void try_out(Matmul which, std::int32_t stage, std::int64_t rows);
  // A tensor of the size of the stage's output, to calibrate with.
  [[nodiscard]] Payload sample_output(std::int32_t stage) const;

 private:
  using Buffer = std::vector<float>;
  using Key = std::pair<std::int32_t, std::int32_t>;  // stage, piece
  struct Weights {
    Buffer values;    // hidden x hidden in front, then the rest of what the stage holds all the time
    Buffer gradient;  // hidden x hidden
  };

  [[nodiscard]] std::size_t floats(Bytes bytes) const;
  [[nodiscard]] Buffer take_buffer(Bytes bytes);
  void give_back(std::map<Key, Buffer>& from, const Key& key);
  [[nodiscard]] Rows rows_of(const Op& op) const;

  [[nodiscard]] static std::span<const std::byte> kept(const Buffer& activation, std::span<const std::byte> input);
  void keep_for_weight_grad(const Op& op, std::span<const std::byte> gradient);
  [[nodiscard]] Payload multiply(Matmul which, std::int32_t stage, std::int64_t rows, std::span<const std::byte> left,
                                 std::span<const std::byte> right);
  void one_matmul(Matmul which, Weights& weights, int rows);
  void load(std::span<const std::byte> source, std::size_t& at, Buffer& operand) const;

  const Job& job_;
  WorkShape shape_;
  const MatmulLibrary& matmul_;
  Ledger* ledger_ = nullptr;
  double slowdown_ = 1;
  std::map<std::pair<OpKind, Nanoseconds>, Rows> rows_;
  std::map<std::int32_t, Weights> weights_;          // by stage; replicas on one device share a matrix
  std::map<Key, Buffer> activations_;                // F until B or I
  std::map<Key, Buffer> held_;                       // I until W: a part of the input, then a part of the gradient
  std::map<Key, Buffer> workspaces_;                 // while an op runs
  std::map<std::size_t, std::vector<Buffer>> free_;  // given back, by size
  Buffer pattern_;                                   // is used where nothing comes in: at the pipeline's ends
  Buffer left_;                                      // operands and result of one matmul
  Buffer right_;
  Buffer result_;
};

}  // namespace debubble::live
