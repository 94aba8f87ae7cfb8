// Hops: what transfers between devices take, alone and with all other devices at work.
//
//     sender     | op |end stamp|──made─┐
//     transfer                          └►|stamp copy stamp|──arrived─┐
//     receiver                                                        └►|stamp
//                            |<------------ latency ------------------->|
//
// The kernels around a copy are those of a run. In the busy pass the copies are spread over the sender's ops, and the
// receiver of a hand-over waits for it, as it does in a run; all others work.
#pragma once

#include <vector>

#include "live/cuda/bench.hpp"
#include "live/cuda/calibration.hpp"

namespace debubble::live {

// `sequences`: ops that keep each device busy. Fills the latency and the bandwidths of `result`; leaves them where
// nothing travels. Throws UnavailableError U027.
void measure_hops(const Job& job, const GpuParts& parts, const Lanes& lanes, const Works& works, Executor& executor,
                  Bench& bench, const std::vector<std::vector<Op>>& sequences, Calibration& result);

}  // namespace debubble::live
