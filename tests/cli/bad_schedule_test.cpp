// Schedules asked for with numbers they cannot have: refused with the exact words and the nearest legal values.
#include <doctest/doctest.h>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("chimera needs an even number of devices") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "-p", "3"}) ==
        R"(error[S011]: chimera needs an even number of devices; got 3
  --> --devices
  = help: nearest legal values: -p 2 or 4
)");
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "-p", "1"}) ==
        R"(error[S011]: chimera needs an even number of devices; got 1
  --> --devices
  = help: nearest legal value: -p 2
)");
  CHECK(folder.refusal({"compare", "--schedule", "1f1b,chimera", "-p", "5"}) ==
        R"(error[S011]: chimera needs an even number of devices; got 5
  --> --devices
  = help: nearest legal values: -p 4 or 6
)");
}

TEST_CASE("chimera's pairs divide half the devices") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "-p", "8", "--param", "pairs=3"}) ==
        R"(error[S011]: the number of pairs must divide p/2 = 4; got 3
  --> --param pairs
  = help: legal values at p=8: 1, 2, 4
)");
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "-p", "8", "--param", "pairs=0"}) ==
        R"(error[S011]: the number of pairs must divide p/2 = 4; got 0
  --> --param pairs
  = help: legal values at p=8: 1, 2, 4
)");
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "--param", "pairs=two"}) ==
        R"(error[S006]: "two" is not a whole number
  --> --param pairs
  = help: write --param pairs=1
)");
}

TEST_CASE("chimera's modes are checked") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "-p", "8", "--param", "mode=dubbling"}) ==
        R"(error[S007]: "dubbling" is not one of direct|doubling|halving
  --> --param mode
  = help: did you mean doubling?
)");
  CHECK(folder.refusal(
            {"simulate", "--schedule", "chimera", "-p", "8", "--param", "mode=doubling", "--param", "pairs=2"}) ==
        R"(error[S075]: mode=doubling is defined for one pair of pipelines only; got pairs=2
  --> --param mode
  = help: use pairs=1, or mode=direct with several pairs
)");
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "--param", "fused=true"}) ==
        R"(error[S075]: fused=true belongs to mode=doubling; got mode=direct
  --> --param fused
  = help: leave --param fused out (halving always runs the halves of a forward as one)
)");
}

TEST_CASE("a group of interleaved that deadlocks is refused") {
  const Folder folder;
  CHECK(
      folder.refusal({"simulate", "--schedule", "interleaved", "--param", "group=2"}) ==
      R"(error[S016]: a group of 2 microbatches deadlocks on 4 devices: chunk 1 would need its input before it can exist
  --> --param group
  = help: nearest legal value: --param group=4
)");
  CHECK(
      folder.refusal({"simulate", "--schedule", "interleaved", "--param", "group=0"}) ==
      R"(error[S016]: a group of 0 microbatches deadlocks on 4 devices: chunk 1 would need its input before it can exist
  --> --param group
  = help: nearest legal value: --param group=4
)");
  CHECK(
      folder.refusal({"simulate", "--schedule", "interleaved", "--param", "group=-3", "-m", "2"}) ==
      R"(error[S016]: a group of -3 microbatches deadlocks on 4 devices: chunk 1 would need its input before it can exist
  --> --param group
  = help: nearest legal value: --param group=2
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "--param", "group=x"}) ==
        R"(error[S006]: "x" is not a whole number
  --> --param group
  = help: write --param group=4
)");
}

TEST_CASE("PyTorch's rounds must divide the microbatches") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "--param", "rounding=pytorch", "-m", "9"}) ==
        R"(error[S009]: PyTorch makes max(1, m div p) = 2 rounds, which do not divide m=9
  --> --microbatches
  = help: nearest legal values at p=4: -m 8 or 10
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "--param", "rounding=pytorch", "--param",
                        "group=4"}) == R"(error[S075]: rounding=pytorch derives the group size itself
  --> --param group
  = help: leave out either --param group or --param rounding=pytorch
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "--param", "rounding=torch"}) ==
        R"(error[S007]: "torch" is not one of megatron|pytorch
  --> --param rounding
  = help: write --param rounding=megatron
)");
}

TEST_CASE("schedules of one stage per device refuse more") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "1f1b", "-v", "2"}) ==
        R"(error[S005]: 1f1b has one stage per device; got 2
  --> --chunks
  = help: leave --chunks out, or use --schedule interleaved for several stages per device
)");
  CHECK(folder.refusal({"simulate", "--schedule", "gpipe", "-v", "2"}) ==
        R"(error[S005]: gpipe has one stage per device; got 2
  --> --chunks
  = help: leave --chunks out, or use --schedule interleaved for several stages per device
)");
  CHECK(folder.refusal({"simulate", "--schedule", "zb-h1", "-v", "3"}) ==
        R"(error[S005]: zb-h1 has one stage per device; got 3
  --> --chunks
  = help: leave --chunks out, or use --schedule interleaved for several stages per device
)");
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "-v", "2"}) ==
        R"(error[S005]: chimera has one stage per device; got 2
  --> --chunks
  = help: leave --chunks out, or use --schedule interleaved for several stages per device
)");
}

TEST_CASE("interleaved needs several stages per device and several devices") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "-v", "1"}) ==
        R"(error[S005]: interleaved needs at least 2 stages per device; got 1
  --> --chunks
  = help: use -v 2 or more, or --schedule 1f1b for one stage per device
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "-p", "1"}) ==
        R"(error[S011]: interleaved needs at least 2 devices
  --> --devices
  = help: use -p 2 or more
)");
}

TEST_CASE("a partition places each layer once") {
  const Folder folder;
  folder.write("p.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "1,2"}) ==
        R"(error[L006]: layers in model / layers placed: 2 / 3
  --> --partition
  = help: the numbers must add up to 2
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "1,1,1"}) ==
        R"(error[L005]: the pipeline has 2 stages, the partition 3
  --> --partition
  = help: give one number per stage (devices times chunks)
error[L006]: layers in model / layers placed: 2 / 3
  --> --partition
  = help: the numbers must add up to 2
2 errors
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "1"}) ==
        R"(error[L005]: the pipeline has 2 stages, the partition 1
  --> --partition
  = help: give one number per stage (devices times chunks)
error[L006]: layers in model / layers placed: 2 / 1
  --> --partition
  = help: the numbers must add up to 2
2 errors
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "4", "--partition", "1,1"}) ==
        R"(error[L005]: the pipeline has 4 stages, the partition 2
  --> --partition
  = help: give one number per stage (devices times chunks)
)");
}

TEST_CASE("a partition is numbers of layers") {
  const Folder folder;
  folder.write("p.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "1,x"}) ==
        R"(error[S061]: stage 1 gets "x", which is not a number of layers
  --> --partition
  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "0,2"}) ==
        R"(error[L004]: stage 0 gets 0 layers
  --> --partition
  = help: every stage needs at least one layer
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "3,-1"}) ==
        R"(error[L004]: stage 1 gets -1 layers
  --> --partition
  = help: every stage needs at least one layer
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "1,,1"}) ==
        R"(error[S061]: stage 1 gets "", which is not a number of layers
  --> --partition
  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "99999999999,1"}) ==
        R"(error[L007]: stage 0 gets more layers than can be counted
  --> --partition
  = help: the model has 2
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "autom"}) ==
        R"(error[S061]: stage 0 gets "autom", which is not a number of layers
  --> --partition
  = help: write one whole number per stage, as in 6,6,5,5; auto, even or memory
)");
}

TEST_CASE("a cut that minds memory needs to know it, and what the order holds") {
  const Folder folder;
  folder.write("p.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "memory"}) ==
        R"(error[C004]: "memory" cuts the layers so that they fit, and nothing says how much memory a device has
  --> --partition
  = help: add --memory 80GiB, or use --partition auto
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--partition", "memory", "--memory", "1GiB",
                        "--schedule", "zb-auto"}) ==
        R"(error[C087]: "memory" follows from what the order holds, and the order of zb-auto from what its stages cost
  --> --partition
  = help: use --partition auto, or layers per stage
)");
  CHECK(folder.refusal({"simulate", "--model", "gpt2-small", "-p", "4", "--partition", "memory", "--schedule", "bpipe"})
            .find("\"memory\" needs to know what the order holds, and with bpipe") != std::string::npos);
}

TEST_CASE("fewer layers than stages are refused") {
  const Folder folder;
  folder.write("p.json", kProfile);
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "4"}) ==
        R"(error[L004]: 4 stages need at least as many layers; tiny has 2
  --> --partition
  = help: use at most 2 stages (devices times chunks)
)");
  CHECK(folder.refusal({"simulate", "--profile", "p.json", "-p", "2", "--schedule", "interleaved"}) ==
        R"(error[L004]: 4 stages need at least as many layers; tiny has 2
  --> --partition
  = help: use at most 2 stages (devices times chunks)
)");
}

}  // namespace
}  // namespace debubble::testing
