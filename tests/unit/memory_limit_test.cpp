#include "schedules/common/memory_limit.hpp"

#include "schedules/catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

PlanningCosts costs_with(Bytes unit, std::vector<Bytes> fixed = {}) {
  PlanningCosts costs;
  costs.activation_unit = unit;
  costs.static_bytes = std::move(fixed);
  return costs;
}

ScheduleRequest request_with(const std::string& limit, int devices = 4) {
  return {devices, 8, 0, {{"memory_limit", limit}}};
}

std::vector<Bytes> limits(const std::string& text, const PlanningCosts& costs, int devices = 4) {
  return memory_limit_of(request_with(text, devices), costs, "1p").activations;
}

// Code and help of the refusal; "" when it is not refused.
template <typename Call>
std::string refusal(const Call& call) {
  const Diagnostic problem = first_problem([&] { call(); });
  return problem.code.empty() ? "" : problem.code + ": " + problem.help;
}

TEST_CASE("a memory limit counts activations of a device share") {
  CHECK(limits("3", costs_with(1000)) == std::vector<Bytes>(4, 3000));
  CHECK(limits("2.5", costs_with(1000)) == std::vector<Bytes>(4, 2500));
  CHECK(limits(".25", costs_with(1000)) == std::vector<Bytes>(4, 250));
  CHECK(limits("1p", costs_with(1000)) == std::vector<Bytes>(4, 4000));
  CHECK(limits("1.5p", costs_with(1000)) == std::vector<Bytes>(4, 6000));
  CHECK(limits("0.0019", costs_with(1000)) == std::vector<Bytes>(4, 1));  // rounded down: a limit is kept
  CHECK(limits("0", costs_with(1000)) == std::vector<Bytes>(4, 0));
}

TEST_CASE("a limit for every device") {
  CHECK(limits("4,3,2,1", costs_with(10)) == std::vector<Bytes>{40, 30, 20, 10});
  CHECK(limits(" 1p , 2, 50B , 1kB ", costs_with(10)) == std::vector<Bytes>{40, 20, 50, 1000});
  CHECK(limits("7", costs_with(10), 1) == std::vector<Bytes>{70});
}

TEST_CASE("a size holds the fixed state too") {
  CHECK(limits("76GiB", costs_with(10)) == std::vector<Bytes>(4, Bytes{76} << 30));
  CHECK(limits("80GB", costs_with(10, {1, 2, 3, 4})) ==
        std::vector<Bytes>{79'999'999'999, 79'999'999'998, 79'999'999'997, 79'999'999'996});
  CHECK(limits("2.5 MiB", costs_with(10)) == std::vector<Bytes>(4, 2'621'440));
  CHECK(limits("100B", costs_with(10, {100, 0, 0, 0})) == std::vector<Bytes>{0, 100, 100, 100});
  CHECK(limits("3", costs_with(10, {100, 0, 0, 0})) == std::vector<Bytes>(4, 30));  // a count is of activations only
  CHECK(memory_limit_of(request_with("1,2,3,4B"), costs_with(10), "1p").sized);
  CHECK_FALSE(memory_limit_of(request_with("1,2,3,4"), costs_with(10), "1p").sized);
}

TEST_CASE("no limit given: the schedule's own") {
  const MemoryLimit limit = memory_limit_of({4, 8, 0, {}}, costs_with(10), "2p");
  CHECK(limit.text == "2p");
  CHECK(limit.activations == std::vector<Bytes>(4, 80));
}

TEST_CASE("enormous limits are no limits") {
  CHECK(limits("999999999999999999TiB", costs_with(10)) == std::vector<Bytes>(4, kLargestSize));
  CHECK(limits("999999999999999999p", costs_with(1'000'000'000)) == std::vector<Bytes>(4, kLargestSize));
}

TEST_CASE("what is no limit is refused with the forms that are") {
  const std::string help =
      "S006: write activations of a device share (8 or 1.5), times p (1p, 2p), one of them per device (8,6,6,4), or a "
      "size (76GiB)";
  for (const char* text : {"", "p", "x", "1q", "-1", "1e3", "1..2", ".", "76 gib", "1p2", "0x10", "1,,2,3", "1,2,3,",
                           "1234567890123456789", "inf"}) {
    CAPTURE(text);
    CHECK(refusal([&] { limits(text, costs_with(10)); }) == help);
  }
  CHECK(refusal([] { limits("1,2,3", costs_with(10)); }) ==
        "S062: write one limit for all devices, or 4 joined by commas");
  CHECK(refusal([] { limits("1,2,3,4,5", costs_with(10)); }).starts_with("S062"));
}

TEST_CASE("a size below the fixed state is refused") {
  CHECK(refusal([] {
          limits("1GiB", costs_with(10, {0, Bytes{2} << 30, 0, 0}));
        }) == "S042: spread the model over more devices, or allow more than 2GiB");
  CHECK(limits("2GiB", costs_with(10, {0, Bytes{2} << 30, 0, 0}))[1] == 0);
}

// The smallest limit of the refusal works, and a little less does not.
void check_smallest(const std::string& schedule, const PlanningCosts* costs, const std::string& given,
                    const std::string& smallest, const std::string& less) {
  const auto build = [&](const std::string& limit) {
    ScheduleRequest request = request_with(limit);
    request.costs = costs;
    return refusal([&] { (void)build_schedule(schedule, request); });
  };
  CHECK(build(given) == "S042: smallest limit that works here: --param memory_limit=" + smallest);
  CHECK(build(smallest) == "");
  CHECK(build(less).starts_with("S042"));
}

TEST_CASE("what a model's activations leave over when they are divided by the devices counts") {
  PlanningCosts costs;
  set_activation_unit(costs, 31, 3);
  CHECK(limits("1p", costs, 3) == std::vector<Bytes>(3, 31));
  CHECK(limits("2p", costs, 3) == std::vector<Bytes>(3, 62));
  CHECK(limits("3", costs, 3) == std::vector<Bytes>(3, 31));
  CHECK(limits("1", costs, 3) == std::vector<Bytes>(3, 10));
  set_activation_unit(costs, 30, 3);
  CHECK(limits("1p", costs, 3) == std::vector<Bytes>(3, 30));
}

TEST_CASE("a limit with which the order cannot run names the smallest that works") {
  check_smallest("zb-auto", nullptr, "0.5", "1", "0.999");
  check_smallest("zb-v-auto", nullptr, "0.5", "1", "0.999");
  check_smallest("zb-auto", nullptr, "0.5,8,0,8", "1,8,1,8", "1,8,0.999,8");
  PlanningCosts costs;
  StageCost stage;
  stage.forward = stage.input_grad = stage.weight_grad = 10;
  stage.activation = 1000;
  stage.weight_grad_held = 700;
  costs.costs.stages.assign(4, stage);
  costs.costs.stages[2].activation = 1500;
  costs.activation_unit = 1125;
  check_smallest("zb-auto", &costs, "0.1", "1.334", "1.333");  // 1500 / 1125, rounded up to thousandths
  costs.static_bytes = {0, 5000, 0, 100};
  check_smallest("zb-auto", &costs, "5500B", "5.86KiB", "5999B");
  costs.costs.stages[0].weight_grad_held = 9000;  // more is kept for W than was for I
  check_smallest("zb-auto", &costs, "1", "8", "7.999");
}

}  // namespace
}  // namespace debubble
