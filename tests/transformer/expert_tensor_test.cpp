// --etp: ranks that split an expert, apart from those that split everything else.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using FoldedJson = nlohmann::json;

// 4 blocks of 8 experts; an expert has 3 x 64 x 256 numbers.
constexpr std::int64_t kExpertNumbers = 3LL * 64 * 256;

FoldedJson folded_run(const Folder& folder, std::vector<std::string> more) {
  std::vector<std::string> flags{"simulate",
                                 "--model",
                                 "gpt",
                                 "--model-size",
                                 "layers=4,hidden=64,heads=4,feed_forward=256,vocabulary=1024,experts=8,experts_per_"
                                 "token=2,expert_feed_forward=256,gated=yes,biases=no",
                                 "--sequence",
                                 "128",
                                 "-p",
                                 "2",
                                 "-m",
                                 "4",
                                 "--partition",
                                 "even",
                                 "--tp",
                                 "2",
                                 "--sequence-parallel",
                                 "--hardware",
                                 "h100",
                                 "--format",
                                 "json"};
  flags.insert(flags.end(), more.begin(), more.end());
  return FoldedJson::parse(folder.data(flags));
}

std::int64_t of(const FoldedJson& run, const char* what) {
  return run["devices"][0]["peak_by_category_bytes"][what].get<std::int64_t>();
}

TEST_CASE("as many ranks as --tp has are the default, on links of any kind") {
  const Folder folder;
  for (const std::vector<std::string>& links :
       {std::vector<std::string>{}, std::vector<std::string>{"--topology", "dgx-h100:2"}}) {
    std::vector<std::string> flags{"--dp", "4", "--ep", "2", "--zero", "1"};
    flags.insert(flags.end(), links.begin(), links.end());
    const FoldedJson without = folded_run(folder, flags);
    flags.insert(flags.end(), {"--etp", "2"});
    const FoldedJson with = folded_run(folder, flags);
    CHECK(with["makespan_ns"] == without["makespan_ns"]);
    CHECK(with["devices"] == without["devices"]);
  }
}

TEST_CASE("weights, sums and optimizer of whole experts, over as many copies as there are") {
  const Folder folder;
  const auto run = [&](const std::string& ep, const std::string& etp) {
    return folded_run(folder, {"--dp", "4", "--ep", ep, "--etp", etp, "--zero", "1"});
  };
  const FoldedJson split = run("2", "2");
  const FoldedJson whole = run("2", "1");
  // Two blocks of 4 experts on each device: halves, and all of them; half as many ranks hold the same.
  const std::int64_t half = 2 * 4 * kExpertNumbers / 2;
  CHECK(of(whole, "weights") - of(split, "weights") == 2 * half);
  CHECK(of(whole, "gradients") - of(split, "gradients") == 4 * half);
  // 12 bytes a number over 2 copies (8 ranks / 2 x 2), and twice the numbers over 4.
  CHECK(of(whole, "optimizer") == of(split, "optimizer"));
  // Twice the expert ranks: as many weights a rank as where two ranks split each expert.
  const FoldedJson more = run("4", "1");
  CHECK(of(more, "weights") == of(split, "weights"));
  CHECK(of(more, "optimizer") == of(split, "optimizer"));
}

TEST_CASE("whole experts gather no tokens over the tensor ranks") {
  const Folder folder;
  const auto costs = [&](const std::string& etp) {
    const auto ran = folder.run({"explain", "cost", "--model", "mixtral-8x7b", "--hardware", "h100", "--tp", "2",
                                 "--sequence-parallel", "--dp", "4", "--ep", "4", "--etp", etp, "--format", "json"});
    return ran.out;
  };
  CHECK(costs("2").find("tokens of the experts") != std::string::npos);
  CHECK(costs("1").find("tokens of the experts") == std::string::npos);
  CHECK(costs("1").find("tokens to their experts") != std::string::npos);
}

TEST_CASE("what is exported has it, and comes back") {
  const Folder folder;
  const auto ran = folder.run({"export", "--to", "megatron", "--model", "mixtral-8x7b",        "-p",   "4",
                               "-m",     "8",    "--tp",     "2",       "--sequence-parallel", "--dp", "8",
                               "--ep",   "8",    "--etp",    "1",       "--hardware",          "h100"});
  CHECK(ran.out.find("--expert-tensor-parallel-size 1") != std::string::npos);
}

}  // namespace
}  // namespace debubble::testing
