// Orders of ranks that are said to be alike take the same time, and the search never loses by having more of them.
#include "studies/plan/rank_orders.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/model_profile.hpp"
#include "studies/plan/space.hpp"
#include "studies/simulate/simulate.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

std::vector<std::string> all_orders() {
  std::vector<std::string> dimensions{"cp", "dp", "pp", "tp"};
  std::vector<std::string> words;
  do {
    std::string word;
    for (const std::string& one : dimensions) word += (word.empty() ? "" : "-") + one;
    words.push_back(word);
  } while (std::next_permutation(dimensions.begin(), dimensions.end()));
  return words;
}

PlanChoice split(int tensor, int context, int data, int pipeline) {
  PlanChoice choice;
  choice.tensor = tensor;
  choice.context = context;
  choice.data = data;
  choice.pipeline = pipeline;
  choice.microbatches = 4;
  choice.schedule = "1f1b";
  choice.zero = data > 1 ? 1 : 0;
  return choice;
}

Nanoseconds step_of(const PlanChoice& choice, const ScenarioFlags& job) {
  NoProgress nobody;
  return simulate(check_scenario(flags_of(choice, job)), choice.schedule, nobody).result.report.makespan;
}

}  // namespace

TEST_CASE("orders that are alike by their dimensions and machines take the same step") {
  ScenarioFlags job;
  job.transformer.model = "gpt2-small";
  job.transformer.sequence = 512;
  std::size_t merged = 0;
  for (const PlanChoice& choice : {split(1, 1, 2, 2), split(2, 1, 2, 2), split(4, 1, 2, 2), split(2, 2, 2, 2),
                                   split(4, 2, 2, 2), split(4, 2, 4, 1), split(2, 4, 1, 4), split(1, 4, 4, 2),
                                   split(4, 1, 4, 2), split(2, 1, 8, 2), split(1, 1, 8, 4)}) {
    const int ranks = choice.tensor * choice.context * choice.data * choice.pipeline;
    job.cluster.topology = "dgx-h100:" + std::to_string((ranks + 7) / 8);
    CHECK_EQ(alike_machine(job.cluster.topology), 8);
    std::map<std::string, Nanoseconds> step;
    for (const std::string& order : all_orders()) {
      PlanChoice placed = choice;
      placed.rank_order = order;
      step[order] = step_of(placed, job);
    }
    const std::vector<std::string> first = distinct_rank_orders(choice, all_orders(), 8);
    merged += all_orders().size() - first.size();
    for (const std::string& order : all_orders()) {
      const std::vector<std::string> classes = [&] {
        std::vector<std::string> with = first;
        with.push_back(order);
        return distinct_rank_orders(choice, with, 8);
      }();
      CHECK_EQ(classes, first);  // it is one of them already
      const bool found = std::any_of(first.begin(), first.end(), [&](const std::string& one) {
        return distinct_rank_orders(choice, {one, order}, 8).size() == 1 && step[one] == step[order];
      });
      CAPTURE(to_string(choice));
      CAPTURE(order);
      CHECK(found);
    }
  }
  CHECK(merged > 150);
}

TEST_CASE("what is not known to be alike is kept apart, and what is one rank wide never matters") {
  const std::vector<std::string> two{"", kPipelineInside};
  CHECK_EQ(distinct_rank_orders(split(8, 1, 2, 2), two, 8).size(), 1);  // each pair of them is whole machines
  CHECK_EQ(distinct_rank_orders(split(8, 1, 2, 2), two, 0).size(), 2);  // of machines nothing is known
  CHECK_EQ(distinct_rank_orders(split(4, 1, 2, 2), two, 8).size(), 2);  // two to a machine: of dp, or of pp
  CHECK_EQ(distinct_rank_orders(split(2, 1, 2, 2), two, 8).size(), 1);  // all in one machine
  CHECK_EQ(distinct_rank_orders(split(2, 1, 2, 2), two, 0).size(), 2);
  CHECK_EQ(distinct_rank_orders(split(4, 1, 8, 1), two, 0).size(), 1);
  CHECK_EQ(alike_machine("dgx-h100:4,pod=2"), 0);
  CHECK_EQ(alike_machine("v100-mesh:2"), 0);
  CHECK_EQ(alike_machine("fat-tree:4"), 0);
  CHECK_EQ(rank_order_word(RankLayout{}.order), "");
}

TEST_CASE("the usual order is always in the space, and a fixed one is the only one") {
  PlanRequest request;
  request.job.transformer.model = "gpt2-small";
  request.job.cluster.topology = "dgx-h100:2";
  request.gpus = 16;
  request.global_batch = 32;
  request.alike = 8;
  request.layers = 14;
  request.heads = 12;
  request.sequence = 1024;
  const std::vector<PlanChoice> both = plan_space(request).bases;
  request.allowed["rank-order"] = {"tp-cp-dp-pp"};
  const std::vector<PlanChoice> usual = plan_space(request).bases;
  CHECK(both.size() > usual.size());
  CHECK(both.size() < 2 * usual.size());
  for (const PlanChoice& one : usual) CHECK(std::find(both.begin(), both.end(), one) != both.end());
  request.allowed["rank-order"] = {"tp-pp-dp"};
  for (const PlanChoice& one : plan_space(request).bases) CHECK_EQ(one.rank_order, kPipelineInside);
  request.allowed["rank-order"] = {"tp-pp"};
  CHECK_THROWS_AS((void)plan_space(request), InputError);
}
