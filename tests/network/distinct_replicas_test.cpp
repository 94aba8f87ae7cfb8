// How many replicas of the pipeline are simulated.
#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "studies/simulate/distinct_replicas.hpp"

namespace debubble {

TEST_CASE("one replica of any length is simulated, several long ones that differ are refused") {
  Job job;
  Program program;
  program.nodes.resize(20'000'001);
  CHECK(distinct_replicas(job, program, {}) == 1);
  Variation noise;
  noise.jitter = 0.1;
  CHECK(distinct_replicas(job, program, noise) == 1);
  job.pipeline_replicas = 2;
  CHECK(distinct_replicas(job, program, {}) == 1);  // alike, on ideal links
  try {
    (void)distinct_replicas(job, program, noise);
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().code == "X005");
  }
}

}  // namespace debubble
