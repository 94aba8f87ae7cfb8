// What a training log of torchtitan says: a line of means over the steps since the line before (components/metrics.py,
// 0.3.0).
//
//     [titan] ... - step: 10  loss:  7.90000  grad_norm:  1.2500  memory: 33.25GiB(41.60%)  tps: 16,384  tflops: 786.43
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace debubble {

struct TorchtitanStep {
  std::int64_t step = 0;
  double tokens_per_second = 0;  // of one device
};

// Lines of training, not of validation; others are skipped.
[[nodiscard]] std::vector<TorchtitanStep> read_torchtitan_log(std::string_view text);

}  // namespace debubble
