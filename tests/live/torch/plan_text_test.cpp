// The plan that the processes of debubble_torch read, to the letter.
#include "live/torch/plan_text.hpp"

#include "live/job.hpp"
#include "schedules/catalog.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::live {
namespace {

TEST_CASE("a plan has sizes, placement, faults and every cell with its transfers") {
  LiveRequest request;
  request.schedule = debubble::testing::build("1f1b", 2, 2);
  request.costs.stages.resize(2);
  request.faults = {parse_fault("slow=1:1.5", request.schedule), parse_fault("drop=0F1", request.schedule)};
  const Job job(request);
  TorchOptions options;
  options.stages = "mine:make";
  options.folder = "/home/me";
  options.partition = {3, 4};
  options.timings = 5;
  CHECK(torch_plan(job, options, 4) ==
        "debubble.torch-plan/1\n"
        "sizes 2 2 2 4\n"
        "dtype float64\n"
        "device cpu\n"
        "seed 0\n"
        "costs 5\n"
        "stages mine:make\n"
        "folder /home/me\n"
        "partition 3,4\n"
        "fault slow 1.5 1\n"
        "fault drop 0F1\n"
        "replica 0 0\n"
        "place 0 0 1\n"
        "cell 0 0 0F0 a0.0:1 -\n"
        "cell 0 1 0F1 a0.1:1 -\n"
        "cell 0 2 0B0 - g0.0:1\n"
        "cell 0 3 0B1 - g0.1:1\n"
        "cell 1 0 1F0 - a0.0:0\n"
        "cell 1 1 1B0 g0.0:0 -\n"
        "cell 1 2 1F1 - a0.1:0\n"
        "cell 1 3 1B1 g0.1:0 -\n"
        "end\n");
}

TEST_CASE("pairs are one cell, V-shaped placements and replicas are told") {
  LiveRequest request;
  request.schedule = debubble::testing::build("dualpipe-v", 2, 4);
  request.costs.stages.resize(4);
  const std::string plan = torch_plan(Job(request), {}, 1);
  CHECK(contains(plan, "\nplace 0 0 1 1 0\n"));
  CHECK(contains(plan, ",0"));
  request.schedule = debubble::testing::build("chimera", 2, 4);
  request.costs.stages.resize(2);
  const std::string replicas = torch_plan(Job(request), {}, 1);
  CHECK(contains(replicas, "\nreplica 0 0 1 1\nplace 0 0 1\nplace 1 1 0\n"));
}

}  // namespace
}  // namespace debubble::live
