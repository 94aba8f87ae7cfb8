// What a plan keeps and deals out changes nothing of what it finds.
#include <thread>

#include "studies/plan/evaluation_codec.hpp"
#include "studies/plan/pieces_board.hpp"
#include "studies/plan/step_costs.hpp"
#include "studies/plan/variant_id.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

PlanRequest shared_request(bool kept) {
  PlanRequest request;
  request.job.transformer.model = "gpt2-small";
  request.job.transformer.sequence = 1024;
  request.job.cluster.topology = "dgx-a100:2";
  if (kept) request.job.cluster.known = std::make_shared<KnownTopologies>();
  request.gpus = 16;
  request.global_batch = 64;
  request.layers = 14;
  request.heads = 12;
  request.sequence = 1024;
  return request;
}

VariantId random_id(const PlanSpace& space, Dice& dice) {
  VariantId id;
  id.base = static_cast<std::uint32_t>(dice.from(0, static_cast<int>(space.bases.size()) - 1));
  const PlanChoice& base = space.bases[id.base];
  const std::vector<int> zeros = space.zeros_of(base);
  id.zero =
      static_cast<std::uint16_t>(zeros[static_cast<std::size_t>(dice.from(0, static_cast<int>(zeros.size()) - 1))]);
  id.variant = static_cast<std::uint16_t>(dice.from(0, static_cast<int>(space.variants_of(base).size()) - 1));
  return id;
}

std::string in_words(const Evaluation& one) {
  return std::to_string(static_cast<int>(one.kind)) + " " + std::to_string(one.bound) + " " +
         std::to_string(one.memory_bound) + " " + std::to_string(one.missing) + " " + one.code + " " + one.message +
         " " + std::to_string(one.run.step) + " " + std::to_string(one.run.peak) + " " +
         std::to_string(one.run.spare.value_or(-1)) + " " + std::to_string(one.run.mfu.value_or(-1));
}

live::MessageReader read_again(const live::MessageWriter& message) { return live::MessageReader(message.bytes()); }

}  // namespace

TEST_CASE("step costs of the first order with a shape give the bounds of every order with it") {
  const PlanRequest request = shared_request(true);
  const PlanRequest alone = shared_request(false);
  const PlanSpace space = plan_space(request);
  std::vector<std::unique_ptr<Pattern>> firsts;
  int shared = 0;
  Dice dice(18);
  for (int k = 0; k < 300; ++k) {
    const PlanChoice choice = choice_of(space, random_id(space, dice));
    const Pattern own = make_pattern(alone, choice);
    Evaluation bare = bounded(alone, {choice}, {{pattern_key(choice), own}}).front();
    if (bare.kind != Evaluation::Kind::kBounded) continue;
    auto first = std::find_if(firsts.begin(), firsts.end(), [&](const auto& one) { return same_shape(*one, own); });
    if (first == firsts.end()) first = firsts.insert(firsts.end(), std::make_unique<Pattern>(own));
    shared += (*first)->shape.name != own.shape.name ? 1 : 0;
    Evaluation whole = bare;
    refine_planned(alone, choice, whole);
    refine(choice, own, make_step_costs(request, choice, (*first)->shape), bare);
    INFO(to_string(choice));
    CHECK(in_words(bare) == in_words(whole));
  }
  CHECK(shared > 50);
}

TEST_CASE("a run is the same on a cluster that was described before") {
  const PlanRequest kept = shared_request(true);
  const PlanRequest alone = shared_request(false);
  const PlanSpace space = plan_space(kept);
  Dice dice(4);
  int fit = 0;
  for (int k = 0; k < 60; ++k) {
    const PlanChoice choice = choice_of(space, random_id(space, dice));
    Evaluation one;
    Evaluation other;
    simulate_choice(kept, choice, one);
    simulate_choice(alone, choice, other);
    INFO(to_string(choice));
    CHECK(in_words(one) == in_words(other));
    fit += one.kind == Evaluation::Kind::kFits ? 1 : 0;
    const BaseEvaluation base = evaluate_base(kept, choice, choice.zero);
    const BaseEvaluation same = evaluate_base(alone, choice, choice.zero);
    CHECK(base.compute == same.compute);
    CHECK(base.states == same.states);
  }
  CHECK(fit > 10);
}

TEST_CASE("what is evaluated survives a message") {
  const PlanRequest request = shared_request(true);
  const PlanSpace space = plan_space(request);
  Dice dice(7);
  for (int k = 0; k < 20; ++k) {
    const VariantId id = random_id(space, dice);
    const PlanChoice choice = choice_of(space, id);
    live::MessageWriter message;
    write(message, id);
    Evaluation one;
    one.bound = k;
    simulate_choice(request, choice, one);
    write(message, one);
    const BaseEvaluation base = evaluate_base(request, choice, 0);
    write(message, base);
    const Pattern pattern = make_pattern(request, choice);
    const StepCosts step = make_step_costs(request, choice, pattern.shape);
    write(message, step);
    write(message, Interest{k, k % 2 == 0});
    live::MessageReader reader = read_again(message);
    CHECK(live::read<VariantId>(reader) == id);
    CHECK(in_words(live::read<Evaluation>(reader)) == in_words(one));
    CHECK(live::read<BaseEvaluation>(reader).compute == base.compute);
    const StepCosts read = live::read<StepCosts>(reader);
    CHECK(read.costs.stages == step.costs.stages);
    CHECK(read.chains == step.chains);
    CHECK(read.capacities == step.capacities);
    CHECK(in_words(read.refusal) == in_words(step.refusal));
    const Interest interest = live::read<Interest>(reader);
    CHECK(interest.below == k);
    CHECK(interest.missing == (k % 2 == 0));
  }
}

TEST_CASE("each piece is done once, here or elsewhere, and what comes too late is dropped") {
  std::vector<int> done(100, 0);
  const auto ask = [](std::size_t k) { return std::to_string(k); };
  const auto take = [&](std::size_t k, const std::string& text) { done[k] += text == "done" ? 1 : 100; };
  PiecesBoard board(500, done.size(), ask, take);
  const std::optional<BlockRange> lost = board.take_now();
  const std::optional<BlockRange> kept = board.take_now();
  REQUIRE(lost);
  REQUIRE(kept);
  CHECK(lost->number == 500);
  CHECK(kept->task == "1");
  board.give_back(*lost);
  SweepBlock result;
  result.lines = "done";
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 3; ++k) {
      threads.emplace_back([&] { board.do_here([&](std::size_t piece) { ++done[piece]; }); });
    }
    board.put(*kept, result);
  }
  CHECK(board.finished());
  board.put(*kept, result);
  board.put(*lost, result);
  board.put({17, 17, 18}, result);  // of an earlier board
  CHECK(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }));
  board.rethrow();
}
