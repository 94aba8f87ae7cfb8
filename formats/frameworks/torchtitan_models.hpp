// torchtitan's model registry: what `model.name` and `model.flavor` mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

struct TorchtitanFlavour {
  std::string name;     // "llama3"
  std::string flavour;  // "8B"
  std::string sizes;    // for --model llama --model-size; vocabularies are never padded
};

// Those of known_models.table.
[[nodiscard]] const std::vector<TorchtitanFlavour>& torchtitan_flavours();

// The longest sequence that a flavour's rotary embedding takes in torchtitan 0.3; 0: none.
[[nodiscard]] std::int64_t longest_sequence(const TorchtitanFlavour& flavour);

// Of config_registry.py in torchtitan 0.3, of each model that torchtitan_flavours() has.
struct TitanConfiguration {
  const char* name;        // "llama3_70b"
  const char* model;       // "llama3"
  const char* flavour;     // "70B"
  const char* eight_bits;  // what its weights multiply in: "", "float8", "mxfp8"
  std::string arguments;   // what it sets that matters here, as the command line would
};

// By name, or of a flavour with weights as given or multiplied in 8 bits. Null: there is none.
[[nodiscard]] const TitanConfiguration* torchtitan_configuration(const std::string& name);
[[nodiscard]] const TitanConfiguration* torchtitan_configuration(const TorchtitanFlavour& flavour,
                                                                 const std::string& eight_bits);

// The schedule class that torchtitan runs a row of the catalog by: "Interleaved1F1B" where its frameworks are
// "Megatron-LM, PyTorch and torchtitan (Interleaved1F1B)"; empty where there is none.
[[nodiscard]] std::string torchtitan_class(const ScheduleEntry& entry);
// The same of PyTorch, which runs some that torchtitan does not.
[[nodiscard]] std::string pytorch_class(const ScheduleEntry& entry);

// The row of the catalog that PyTorch's schedule class is, "Interleaved1F1B" in any case; nullptr: there is none.
[[nodiscard]] const ScheduleEntry* schedule_of_torchtitan(const std::string& class_name);

}  // namespace debubble
