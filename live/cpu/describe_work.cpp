#include "live/cpu/describe_work.hpp"

#include <string>

namespace debubble::live {

void describe_work(const LiveRequest& request, const WorkShape& shape, const MatmulLibrary& matmul,
                   LiveResult& result) {
  const std::string size = std::to_string(shape.hidden);
  result.assumptions.push_back({"work of an op",
                                "matmuls of " + std::to_string(shape.block_rows) + " x " + size + " by " + size +
                                    " x " + size + " floats, " + matmul.name() +
                                    (shape.token ? ", one per op" : ", as many rows as fill its cost"),
                                Source::kDefault});
  if (shape.divisor > 1) {
    result.assumptions.push_back(
        {"real buffers",
         "1/" + std::to_string(shape.divisor) + " of the model's bytes; memory is counted in the model's",
         Source::kDefault});
  }
  if (request.clock != Clock::kWall) return;
  result.origin.notes.emplace_back(
      request.warm_up > 0 ? "the bytes of tensors are hashed in the warm-up only, their chains checked always"
                          : "the first iteration's times include hashing the bytes of tensors; the others "
                            "check their chains only");
}

}  // namespace debubble::live
