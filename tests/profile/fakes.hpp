// Machines for the verb `profile`: one with a fake GPU, and programs that use it.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {

// Environment of a machine with the fake GPU: DEBUBBLE_FAKE_CUDA and DEBUBBLE_FAKE_CUPTI are paths, from CMake.
inline Surroundings fake_machine(Words more = {}) {
  Surroundings surroundings;
  surroundings.limit = std::chrono::minutes(9);  // its kernels run on the host, without optimisation
  surroundings.environment = {"DEBUBBLE_LIBCUDA=" DEBUBBLE_FAKE_CUDA, "DEBUBBLE_CUBLASLT=" DEBUBBLE_FAKE_CUDA,
                              "DEBUBBLE_NVRTC=" DEBUBBLE_FAKE_CUDA, "DEBUBBLE_CUPTI=" DEBUBBLE_FAKE_CUPTI};
  surroundings.environment.insert(surroundings.environment.end(), more.begin(), more.end());
  return surroundings;
}

// The arguments of `debubble profile OURS -- fake_training THEIRS`.
inline Words profile_of_training(const Words& ours, const Words& theirs = {}) {
  Words arguments{"profile"};
  arguments.insert(arguments.end(), ours.begin(), ours.end());
  arguments.insert(arguments.end(), {"--", DEBUBBLE_FAKE_TRAINING});
  arguments.insert(arguments.end(), theirs.begin(), theirs.end());
  return arguments;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace debubble::testing
