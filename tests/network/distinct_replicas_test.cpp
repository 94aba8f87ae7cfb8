// How many replicas of the pipeline are simulated.
#include "studies/simulate/distinct_replicas.hpp"
#include "tests/support/test.hpp"

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
  CHECK(first_problem([&] { (void)distinct_replicas(job, program, noise); }).code == "X005");
}

}  // namespace debubble
