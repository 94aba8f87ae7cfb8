// Commands that a launcher hands to a shell, as the scripts for Slurm do.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/megatron/shell_words.hpp"

namespace debubble {

TEST_CASE("the command inside sh -c is the program, what starts the shell its launcher") {
  const LaunchWords words = launch_words(R"(#!/bin/bash
options=" \
    --num-layers 96 --hidden-size 12288 \
    --bf16"
run_cmd="cd ${DIR} && python -u ${DIR}/pretrain_gpt.py $@ ${options}"
srun -l --nodes 4 --container-image "nvcr.io/nvidia/pytorch" sh -c "${run_cmd}"
)");
  CHECK(words.launcher == std::vector<std::string>{"srun", "-l", "--nodes", "4", "--container-image",
                                                   "nvcr.io/nvidia/pytorch", "python", "-u"});
  REQUIRE(words.program.size() >= 5);
  CHECK(std::vector<std::string>(words.program.end() - 5, words.program.end()) ==
        std::vector<std::string>{"--num-layers", "96", "--hidden-size", "12288", "--bf16"});
  CHECK(launch_words("bash -lc 'torchrun --nnodes 2 a.py --x 1'").program == std::vector<std::string>{"--x", "1"});
}

TEST_CASE("-c is a word like others where no shell stands before it") {
  CHECK(launch_words("python a.py --x 1 -c 'b --y 2 --z 3'").program ==
        std::vector<std::string>{"--x", "1", "-c", "b --y 2 --z 3"});
  for (const char* odd : {"sh -c", "-c", "sh -c ''", "sh -c \"sh -c 'a.py --x 1'\""}) (void)launch_words(odd);
}

}  // namespace debubble
