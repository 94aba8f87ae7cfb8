// What the gate found, for people: one block per suite, one line per scenario, its measured numbers below.
//
//     suite nightly: nightly.suite.json, baseline nightly.suite.baseline.json
//
//     pass     zb-h1: prediction unchanged; fresh, cpu, logical clock, 1 repetition
//     FAIL     gpipe: prediction unchanged; recorded, cuda, gpu clock, NVIDIA H200, 10 repetitions
//                metric  predicted   measured     error  95 % interval   allowed  verdict
//                bubble    27.27 %    29.40 %  +2.13 pp  [+2.01, +2.20]     1 pp  FAIL
//              debubble diff gpipe.run.json
//
//     2 scenarios: 1 pass, 1 fail
#pragma once

#include <string>

#include "studies/check/result.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string check_text(const CheckResult& result, const ViewStyle& style);

}  // namespace debubble
