// What processes of debubble_torch write: read whole, and refused with its place when it is anything else.
#include "live/torch/rank_records.hpp"
#include "tests/support/test.hpp"

namespace debubble::live {
namespace {

constexpr const char* kWhole =
    "debubble.torch-rank/1\n"
    "rank 0\n"
    "fact torch 1.13.1\n"
    "cost 0 1 10 20 11 9 400 500 64 32 48 1\n"
    "link 7000 8000000000\n"
    "proof 4 28 3 1e-17 nan 1e-10 2 2\n"
    "wrong 1 0.5 1.2 inner layer.weight\n"
    "iteration 0 1 90\n"
    "op 0 1000 1010\n"
    "sent a0.3 1 1012 77\n"
    "got g0.2 1 1030 256 78\n"
    "iteration 1 0 91\n"
    "end\n";

std::string torch_refusal(const std::string& text) {
  const Diagnostic problem = first_problem([&] { static_cast<void>(read_torch_rank(text, "rank0.txt")); });
  return problem.code.empty() ? "" : problem.code + " " + problem.place + " " + problem.message;
}

std::string changed(const std::string& before, const std::string& after) {
  std::string text = kWhole;
  text.replace(text.find(before), before.size(), after);
  return text;
}

TEST_CASE("records are read as they were written") {
  const TorchRank rank = read_torch_rank(kWhole, "rank0.txt");
  CHECK(rank.facts.at("torch") == "1.13.1");
  REQUIRE(rank.costs.size() == 1);
  CHECK(rank.costs[0].stage == 1);
  CHECK(rank.costs[0].weight_grad == 9);
  CHECK(rank.costs[0].weights == 48);
  CHECK(rank.costs[0].whole);
  CHECK(rank.latency == 7000);
  REQUIRE(rank.proof.has_value());
  CHECK(rank.proof->same_bits == 3);
  CHECK(rank.proof->max_relative != rank.proof->max_relative);  // no number
  CHECK(rank.wrong.front() == "stage 1, inner layer.weight: off by 0.5, 1.2 times its largest gradient");
  REQUIRE(rank.iterations.size() == 2);
  CHECK(rank.iterations[0].cells[0].end == 1010);
  CHECK(rank.iterations[0].sent[0].tensor == Tensor{false, 0, 3});
  CHECK(rank.iterations[0].got[0].tensor == Tensor{true, 0, 2});
  CHECK(rank.iterations[0].got[0].bytes == 256);
  CHECK(!rank.iterations[1].as_proven);
}

TEST_CASE("anything else is refused with its line") {
  CHECK(torch_refusal("") == "G002 rank0.txt not what debubble_torch writes: it has no end");
  CHECK(torch_refusal(changed("end\n", "")) == "G002 rank0.txt not what debubble_torch writes: it has no end");
  CHECK(torch_refusal(std::string(kWhole) + "more\n") ==
        "G002 rank0.txt:14 not what debubble_torch writes: it goes on after its end");
  CHECK(torch_refusal(changed("rank/1", "rank/2")) ==
        "G002 rank0.txt:1 not what debubble_torch writes: another format");
  CHECK(torch_refusal(changed("link 7000", "link -1")) ==
        "G002 rank0.txt:5 not what debubble_torch writes: \"-1\" is not a number that can stand here");
  CHECK(torch_refusal(changed("op 0 1000 1010", "op 0 1000")) ==
        "G002 rank0.txt:9 not what debubble_torch writes: a word is missing");
  CHECK(torch_refusal(changed("op 0 1000 1010", "op 0 1000 1010 5")) ==
        "G002 rank0.txt:9 not what debubble_torch writes: it goes on with \"5\"");
  CHECK(torch_refusal(changed("a0.3", "b0.3")) == "G002 rank0.txt:10 not what debubble_torch writes: no tensor: b0.3");
  CHECK(torch_refusal(changed("iteration 0", "iteration 1")) ==
        "G002 rank0.txt:8 not what debubble_torch writes: iterations are out of order");
  CHECK(torch_refusal(changed("iteration 0 1 90\n", "")) ==
        "G002 rank0.txt:8 not what debubble_torch writes: no iteration has begun");
  CHECK(torch_refusal(changed("fact torch", "colour torch")) ==
        "G002 rank0.txt:3 not what debubble_torch writes: \"colour\" is not a fact");
}

}  // namespace
}  // namespace debubble::live
