// Whether the ranks' sends and receives can come to an end, found without a GPU.
#include "live/mpi/nccl_program.hpp"
#include "schedules/catalog.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::live {
namespace {

using Kind = NcclStep::Kind;

std::string problem_of(const Schedule& schedule) {
  return find_nccl_problem(nccl_program(make_plan(schedule, P2p::kOverlapped))).value_or("");
}

TEST_CASE("Every catalog row's sends and receives come to an end") {
  int count = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const Schedule& schedule : testing::schedules_of(entry)) {
      CAPTURE(testing::describe(schedule));
      CHECK(problem_of(schedule) == "");
      ++count;
    }
  }
  CHECK(count > 100);
}

TEST_CASE("A schedule that deadlocks is found out, with where each rank stands") {
  Schedule schedule = testing::build("gpipe", 2, 2);
  std::swap(schedule.rows[0][1], schedule.rows[0][2]);  // 0F0 0B1 0F1 0B0
  std::swap(schedule.rows[1][1], schedule.rows[1][2]);  // 1F0 1B1 1F1 1B0
  CHECK(problem_of(schedule) == "");
  std::swap(schedule.rows[1][1], schedule.rows[1][2]);  // 1F0 1F1 1B1 1B0
  CHECK(problem_of(schedule) ==
        "rank 0 is stuck before op 1; rank 1 is stuck before op 1; rank 0 is stuck sending the activation 0F1; "
        "rank 1 is stuck receiving the activation 0F1; rank 1 is stuck sending the gradient 1B1; "
        "rank 0 is stuck receiving the gradient 1B1");
}

TEST_CASE("Two ends of an edge that disagree about the order are found out") {
  NcclProgram program = nccl_program(make_plan(testing::build("gpipe", 2, 2), P2p::kOverlapped));
  const auto is_receive = [](const NcclStep& step) { return step.kind == Kind::kReceive; };
  const auto first = std::find_if(program[1].begin(), program[1].end(), is_receive);
  std::swap(first->tensor, (first + 1)->tensor);
  CHECK(find_nccl_problem(program) == "rank 0 sends the activation 0F0 where rank 1 expects the activation 0F1");
}

}  // namespace
}  // namespace debubble::live
