// Flags of `debubble live --backend torch` that are wrong: refused with the exact words, with or without PyTorch.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("what PyTorch measures, and what other backends run, is refused, all at once") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--backend", "torch", "--times", "f=1", "--comm", "1", "--costs", "given", "--model",
                        "gpt-1.3b", "--dtype", "fp32", "--launch", "eager", "--gpu", "1", "--gpus", "shared"}) ==
        R"(error[C009]: PyTorch's work is timed by the wall clock
  --> --costs
  = help: leave --costs out
error[C087]: with --backend torch costs and links are measured, not given
  --> --times
  = help: leave --times out
error[C087]: with --backend torch costs and links are measured, not given
  --> --comm
  = help: leave --comm out
error[C087]: it is about the built-in transformer, and torch runs what --stages-from makes
  --> --model
  = help: leave --model out
error[C087]: the numbers of torch's stages are --precision
  --> --dtype
  = help: leave --dtype out
error[C087]: PyTorch launches op by op
  --> --launch
  = help: leave --launch out
error[C087]: processes do not share a GPU
  --> --gpu
  = help: leave --gpu out
error[C009]: processes do not share a GPU
  --> --gpus
  = help: write --gpus each, or leave it out to work on the CPU
8 errors
)");
}

TEST_CASE("a factory and a partition have a form") {
  const Folder folder;
  for (const char* factory : {"mine", ":make", "mine:", "mine:make it"}) {
    CHECK(folder.refusal({"live", "--backend", "torch", "--stages-from", factory}) ==
          std::string("error[C006]: \"") + factory + R"(" is not MODULE:FACTORY
  --> --stages-from
  = help: write --stages-from my_model:make_stages, for def make_stages(stages) in my_model.py
)");
  }
  CHECK(folder.refusal({"live", "--backend", "torch", "--stages-from", "a:b", "--partition", "2,auto"}) ==
        R"(error[C006]: "auto" is not a number of layers
  --> --partition
  = help: --backend torch takes numbers, one for each stage: --partition 3,3,2
)");
  CHECK(folder.refusal({"live", "--backend", "torch", "--partition", "1,1"}) ==
        R"(error[C087]: the built-in chain has a block for each stage
  --> --partition
  = help: leave --partition out, or add --stages-from for a factory that returns an nn.Sequential
)");
}

TEST_CASE("flags of torch are of no other backend") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--stages-from", "a:b", "--precision", "float32"}) ==
        R"(error[C087]: it is about PyTorch, and the backend is cpu
  --> --stages-from
  = help: leave --stages-from out, or add --backend torch
error[C087]: it is about PyTorch, and the backend is cpu
  --> --precision
  = help: leave --precision out, or add --backend torch
2 errors
)");
}

TEST_CASE("schedules, transfers and faults that no process could run are refused before any starts") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--backend", "torch", "--schedule", "pipedream"}) ==
        R"(error[E040]: this schedule updates weights while microbatches are under way, which --backend torch cannot do
  --> pipedream
  = help: run it with --backend cpu, or take a schedule without that
)");
  CHECK(folder.refusal({"live", "--backend", "torch", "--schedule", "terapipe"}) ==
        R"(error[E040]: this schedule slices sequences, which --backend torch cannot do
  --> terapipe
  = help: run it with --backend cpu, or take a schedule without that
)");
  CHECK(folder.refusal({"live", "--backend", "torch", "--p2p", "coupled"}) ==
        R"(error[E003]: PyTorch's isend and irecv overlap the work
  --> --p2p
  = help: leave it out; the backends cpu and mpi know the others
)");
  CHECK(folder.refusal({"live", "--backend", "torch", "--fault", "slow=1:0.5"}) ==
        R"(error[E003]: real ops cannot be made faster than they are
  --> --fault slow
  = help: give a factor of at least 1
)");
}

}  // namespace
}  // namespace debubble::testing
