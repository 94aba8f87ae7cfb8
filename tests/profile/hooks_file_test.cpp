// The reader of debubble_hooks' sizes file.
#include "profiler/hooks_file.hpp"

#include "sim/core/error.hpp"
#include "tests/cli/inputs.hpp"
#include "tests/profile/fakes.hpp"

namespace debubble::testing {
namespace {

const std::string kLayer =
    R"({"name": "blocks.0", "kind": "Block", "activation_bytes": 100, "weight_input_bytes": 60,
  "weight_gradient_bytes": 20, "weight_grad_held_bytes": 80, "output_bytes": 10, "parameter_bytes": 7,
  "workspace_bytes": 3, "checkpointed": false})";

const std::string kFile = R"({"schema": "debubble.hooks/1", "schema_version": 1, "complete": true, "rank": 2, "pid": 9,
 "torch": "2.3.0", "model": "GPT", "dtype": "bf16", "microbatch_size": 4, "sequence_length": null,
 "input_shapes": [[4, 8]], "steps": 3, "outside_bytes": 0, "layers": [)" +
                          kLayer + R"(], "notes": ["one"]})";

Words codes_of(const std::string& text) {
  try {
    static_cast<void>(read_hooks_file(text, "hooks-2-9.json"));
  } catch (const InputError& error) {
    Words codes;
    for (const Diagnostic& problem : error.diagnostics()) codes.push_back(problem.code);
    return codes;
  }
  return {};
}

TEST_CASE("a sizes file is read") {
  const HooksFile file = read_hooks_file(kFile, "hooks-2-9.json");
  CHECK(file.model == "GPT");
  CHECK(file.dtype == "bf16");
  CHECK(file.microbatch_size == 4);
  CHECK(file.sequence_length == 0);
  CHECK(file.rank == 2);
  CHECK(file.complete);
  CHECK(file.notes == Words{"one"});
  const LayerFacts& facts = file.layers.at("blocks.0");
  CHECK(facts.kind == "Block");
  CHECK(facts.activation == 100);
  CHECK(facts.weight_grad_held == 80);
  CHECK(facts.output == 10);
  CHECK(facts.parameters == 7);
  CHECK(facts.workspace == 3);
}

TEST_CASE("null held bytes are unknown") {
  const HooksFile file =
      read_hooks_file(replaced(kFile, "\"weight_grad_held_bytes\": 80", "\"weight_grad_held_bytes\": null"), "f");
  CHECK_FALSE(file.layers.at("blocks.0").weight_grad_held.has_value());
}

TEST_CASE("every fault has its code") {
  using Codes = Words;
  CHECK(codes_of("") == Codes{"P001"});
  CHECK(codes_of("\xff") == Codes{"P002"});
  CHECK(codes_of(replaced(kFile, "\"rank\": 2", "\"rank\": 2, \"rank\": 2")) == Codes{"P003"});
  CHECK(codes_of(replaced(kFile, "\"output_bytes\": 10", "\"output_bytes\": -10")) == Codes{"P004"});
  CHECK(codes_of(replaced(kFile, "\"rank\": 2", "\"rank\": 2, \"more\": 2")) == Codes{"P005"});
  CHECK(codes_of(replaced(kFile, "\"pid\": 9,", "")) == Codes{"P006"});
  CHECK(codes_of(replaced(kFile, "\"complete\": true", "\"complete\": 1")) == Codes{"P007"});
  CHECK(codes_of(replaced(kFile, "\"steps\": 3", "\"steps\": 1.5")) == Codes{"P007"});
  CHECK(codes_of(replaced(kFile, "\"output_bytes\": 10", "\"output_bytes\": 99999999999999999")) == Codes{"P004"});
  CHECK(codes_of(replaced(kFile, "hooks/1", "hooks/2")) == Codes{"P010"});
  CHECK(codes_of(replaced(kFile, "\"activation_bytes\": 100", "\"activation_bytes\": 79")) == Codes{"P012"});
  CHECK(codes_of(replaced(kFile, kLayer, kLayer + "," + kLayer)) == Codes{"G004"});
  CHECK(codes_of(std::string(40, '[')) == Codes{"P018"});
  CHECK(codes_of(replaced(kFile, "\"name\": \"blocks.0\"", "\"name\": \"\"")) == Codes{"P019"});
}

TEST_CASE("a fault says where it is and that the file is not for editing") {
  try {
    static_cast<void>(read_hooks_file(replaced(kFile, "\"output_bytes\": 10", "\"output_bytes\": -10"), "h.json"));
    FAIL("it was read");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().place == "h.json#/layers/0/output_bytes");
    CHECK(error.diagnostics().front().help == "debubble_hooks writes this file; do not edit it");
  }
}

TEST_CASE("layers of several ranks: the largest of each size, and unknown held bytes stay unknown") {
  HooksFile one = read_hooks_file(kFile, "a");
  HooksFile two = one;
  two.layers.at("blocks.0").activation = 120;
  two.layers.at("blocks.0").output = 5;
  two.layers.emplace("blocks.1", LayerFacts{});
  const auto merged = merged_facts({one, two});
  CHECK(merged.size() == 2);
  CHECK(merged.at("blocks.0").activation == 120);
  CHECK(merged.at("blocks.0").output == 10);
  CHECK(merged.at("blocks.0").weight_grad_held == 80);
  two.layers.at("blocks.0").weight_grad_held.reset();
  CHECK_FALSE(merged_facts({one, two}).at("blocks.0").weight_grad_held.has_value());
}

}  // namespace
}  // namespace debubble::testing
