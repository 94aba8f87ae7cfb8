// Flags of `debubble live` that are wrong: refused with the exact words, before anything runs.
#include <doctest/doctest.h>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("unknown words are refused with the list, all of them at once") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--backend", "gpu"}) == R"(error[C002]: "gpu" is not one of: cpu, cuda, mpi, torch
  --> --backend
  = help: did you mean cpu?
)");
  CHECK(folder.refusal({"live", "--clock", "walls", "--costs", "real", "--launch", "lazy", "--gpus", "all"}) ==
        R"(error[C002]: "walls" is not one of: logical, wall
  --> --clock
  = help: did you mean wall?
error[C002]: "real" is not one of: given, cpu-time
  --> --costs
  = help: write --costs given
error[C002]: "lazy" is not one of: eager, graph
  --> --launch
  = help: write --launch eager
error[C002]: "all" is not one of: shared, each
  --> --gpus
  = help: write --gpus shared
4 errors
)");
}

TEST_CASE("numbers out of range are refused") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--repetitions", "0", "--warm-up", "-1", "--watchdog", "0"}) ==
        R"(error[C012]: at least 1 is needed; got 0
  --> --repetitions
  = help: leave it out for the default
error[C012]: at least 0 is needed; got -1
  --> --warm-up
  = help: leave it out for the default
error[C012]: at least 1 is needed; got 0
  --> --watchdog
  = help: leave it out for the default
3 errors
)");
  CHECK(folder.refusal({"live", "--watchdog", "86401"}) ==
        R"(error[C012]: at most 86400 (a day) is possible; got 86401
  --> --watchdog
  = help: give it in seconds
)");
  CHECK(folder.refusal({"live", "--repetitions", "many"}) ==
        R"(error[C061]: "many" is not a whole number up to 2147483647
  --> --repetitions
  = help: write it like --repetitions N
)");
  CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3b", "--gpu", "-1"}) ==
        R"(error[C012]: at least 0 is needed; got -1
  --> --gpu
  = help: leave it out for the default
)");
}

TEST_CASE("clocks that contradict the costs or the backend are refused") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--clock", "wall", "--costs", "given"}) ==
        R"(error[C009]: on the wall clock an op takes the time it takes
  --> --costs
  = help: give it with --clock logical
)");
  CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3b", "--clock", "wall"}) ==
        R"(error[C009]: work on GPUs is timed by the GPU's clock
  --> --clock
  = help: leave --clock out
)");
  CHECK(folder.refusal({"live", "--backend", "mpi", "--gpus", "each", "--model", "gpt-1.3b", "--costs", "given"}) ==
        R"(error[C009]: work on GPUs is timed by the GPU's clock
  --> --costs
  = help: leave --costs out
)");
  CHECK(folder.refusal({"live", "--backend", "mpi", "--gpus", "shared"}) ==
        R"(error[C009]: processes do not share a GPU
  --> --gpus
  = help: write --gpus each, or leave it out to work on the CPU
)");
  CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3b", "--gpus", "each", "--gpu", "1"}) ==
        R"(error[C009]: with --gpus each the devices are the GPUs from 0 on
  --> --gpu
  = help: leave --gpu out
)");
}

TEST_CASE("flags of GPUs are refused where none take part") {
  const Folder folder;
  for (const std::vector<std::string>& flag : {std::vector<std::string>{"--model", "gpt-1.3b"},
                                               {"--microbatch-size", "2"},
                                               {"--sequence", "128"},
                                               {"--dtype", "fp32"},
                                               {"--launch", "graph"},
                                               {"--gpu", "0"},
                                               {"--gpus", "each"}}) {
    CAPTURE(flag[0]);
    CHECK(folder.refusal({"live", flag[0], flag[1]}) ==
          "error[C087]: it is about GPUs, and the backend is cpu\n  --> " + flag[0] + "\n  = help: leave " + flag[0] +
              " out, or add --backend cuda\n");
  }
}

TEST_CASE("processes with GPUs are asked for a model and launch op by op") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--backend", "mpi", "--gpus", "each", "--launch", "graph"}) ==
        R"(error[C004]: --backend mpi needs a model to run
  --> --model
  = help: add --model NAME; `debubble list models` shows the presets
error[C087]: one graph of all devices takes one process
  --> --launch
  = help: leave --launch out, or add --backend cuda
2 errors
)");
  CHECK(folder.refusal({"live", "--backend", "mpi", "--seq", "128"}) ==
        R"(error[C087]: it is about GPUs, and the backend is mpi
  --> --seq
  = help: leave --seq out, or add --gpus each
)");
}

TEST_CASE("a run on GPUs needs a model and takes no costs") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--backend", "cuda"}) == R"(error[C004]: --backend cuda needs a model to run
  --> --model
  = help: add --model NAME; `debubble list models` shows the presets
)");
  for (const std::vector<std::string>& flag : {std::vector<std::string>{"--times", "f=1,b=2"},
                                               {"--w-share", "1"},
                                               {"--profile", "p.json"},
                                               {"--comm", "1"},
                                               {"--bandwidth", "1GB/s"}}) {
    CAPTURE(flag[0]);
    CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3b", flag[0], flag[1]}) ==
          "error[C087]: on GPUs costs and links are measured, not given\n  --> " + flag[0] + "\n  = help: leave " +
              flag[0] + " out\n");
  }
  CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3c"}).find("error[C003]") == 0);
  CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3b", "--dtype", "int8"}).find("error[C002]") ==
        0);
  CHECK(folder.refusal({"live", "--backend", "cuda", "--model", "gpt-1.3b", "--partition", "13,13"})
            .find("error[L005]") == 0);
}

TEST_CASE("faults in what the schedule does not have are refused") {
  const Folder folder;
  for (const char* fault : {"drop", "drop=", "drop=9F9", "lose=1F3", "slow=2", "slow=9:2", "slow=0:zero", "swap=3W1"}) {
    CAPTURE(fault);
    const std::string said = folder.refusal({"live", "--fault", fault});
    CHECK(said.find("error[") == 0);
    CHECK(said.find("  --> --fault") != std::string::npos);
    CHECK(said.find("  = help: ") != std::string::npos);
  }
  CHECK(folder.refusal({"live", "--fault", "kill=1F3"}).find("--fault kill") != std::string::npos);
}

TEST_CASE("what the shared flags refuse is refused here too") {
  const Folder folder;
  CHECK(folder.refusal({"live", "--schedule", "1f1c"}).find("error[S001]") == 0);
  CHECK(folder.refusal({"live", "--partition", "1,2"}).find("error[C004]") == 0);
  CHECK(folder.refusal({"live", "--fail-if", "bubbel>1%"}).find("error[C032]") == 0);
  CHECK(folder.refusal({"live", "--clock", "logical", "--fail-if", "steady_period>1ms"}) ==
        R"(error[C036]: steady_period_ns is not known in this run
  --> --fail-if
  = help: iterations that begin together do not show it: take it from `simulate`
)");
  CHECK(folder.refusal({"live", "--trace", "x.json", "--save-run", "x.json"}) ==
        R"(error[C066]: --trace and --save-run both write x.json
  --> --save-run
  = help: give each its own file
)");
  CHECK(folder.refusal({"live", "--save-run", "nowhere/x.json"}).find("error[C051]") == 0);
  CHECK(folder.refusal({"simulate", "--save-run", "nowhere/x.json"}).find("error[C051]") == 0);
  CHECK(folder.refusal({"live", "--repetition", "3"}) == R"(error[C061]: unexpected "--repetition"
  --> debubble live
  = help: did you mean --repetitions?
)");
}

}  // namespace
}  // namespace debubble::testing
