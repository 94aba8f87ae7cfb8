#include "formats/megatron/number_formats.hpp"

#include <array>
#include <string>
#include <utility>

namespace debubble {
namespace {

void read_fp8(MegatronArguments& in, MegatronNumberFormats& formats) {
  if (in.flag("fp8-param-gather")) formats.flags.emplace_back("fp8-weights", "alone");
  const auto recipe = in.word("fp8-recipe");
  if (!recipe) return;
  for (const char* known : {"delayed", "tensorwise", "blockwise", "mxfp8"}) {
    if (*recipe != known) continue;
    formats.flags.emplace_back("fp8-recipe", *recipe);
    return;
  }
  in.find("--fp8-recipe " + *recipe + ": taken for delayed scaling");
}

// Megatron-Core's own default is fp32. Its logs have PyTorch's names.
std::string moment_dtype(MegatronArguments& in, const std::string& argument) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kNames{
      {{"fp32", "torch.float32"}, {"bf16", "torch.bfloat16"}, {"fp16", "torch.float16"}, {"fp8", "torch.uint8"}}};
  const std::string given = in.word_or_default(argument);
  for (const auto& [name, torch_name] : kNames) {
    if (given == name || given == torch_name) return name;
  }
  in.find("--" + argument + " " + given + ": not known; counts as fp32");
  return "fp32";
}

void read_moments(MegatronArguments& in, MegatronNumberFormats& formats) {
  const bool aware = in.flag("use-precision-aware-optimizer");
  const std::string first = moment_dtype(in, "exp-avg-dtype");
  const std::string second = moment_dtype(in, "exp-avg-sq-dtype");
  if (!aware) {
    if (first != "fp32" || second != "fp32") {
      in.find("--exp-avg-dtype " + first + ", --exp-avg-sq-dtype " + second +
              ": fp32 without --use-precision-aware-optimizer");
    }
    return;
  }
  if (first != "fp32") formats.flags.emplace_back("moment-dtype", first);
  if (first != second) formats.flags.emplace_back("second-moment-dtype", second);
  if (in.word("main-params-dtype").value_or("fp32") == "fp16") formats.flags.emplace_back("master-weights", "fp16");
}

void read_optimizer(MegatronArguments& in, bool bfloat, MegatronNumberFormats& formats) {
  read_moments(in, formats);
  const auto stage = in.word("zero-stage");
  formats.deepspeed_bf16 = in.flag("deepspeed") && bfloat && stage == "0";
  if (formats.deepspeed_bf16) formats.flags.emplace_back("low-gradients", "kept");
}

}  // namespace

MegatronNumberFormats number_formats(MegatronArguments& arguments) {
  MegatronNumberFormats formats;
  const bool half = arguments.flag("fp16");
  const bool bfloat = arguments.flag("bf16");
  bool eighth = false;
  for (const char* format : {"fp8-format", "fp8-hybrid", "fp8-e4m3"}) eighth = arguments.flag(format) || eighth;
  for (const char* detail :
       {"fp8-margin", "fp8-interval", "fp8-amax-history-len", "fp8-amax-compute-algo", "fp8-wgrad"}) {
    (void)arguments.flag(detail);
  }
  formats.flags.emplace_back("dtype", eighth ? "fp8" : bfloat ? "bf16" : half ? "fp16" : "fp32");
  if (eighth) {
    read_fp8(arguments, formats);
  } else {
    (void)arguments.word("fp8-recipe");
    (void)arguments.flag("fp8-param-gather");
  }
  read_optimizer(arguments, bfloat, formats);
  (void)arguments.flag("accumulate-allreduce-grads-in-fp32");
  const std::string main = arguments.word_or_default("main-grads-dtype");
  const bool kept_low = main == "bf16" || main == "torch.bfloat16";
  if (arguments.flag("grad-reduce-in-bf16") || kept_low) formats.flags.emplace_back("grad-dtype", "bf16");
  return formats;
}

}  // namespace debubble
