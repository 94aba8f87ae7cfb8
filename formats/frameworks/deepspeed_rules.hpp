// What DeepSpeed decides about a configuration, as rows (formats/frameworks/rules.hpp). An example is what `debubble
// import --from deepspeed` gets beside a model and 8 ranks: flags, if any, and the file.
//
//     STAGE of ZeRO; PIPELINE, TENSOR, SEQUENCE, EXPERT ranks, WORLD of all, DATA_SIZE data_parallel_size
//     BATCH, MICRO, STEPS train_batch_size, train_micro_batch_size_per_gpu, gradient_accumulation_steps, as given or
//     made of each other; PRODUCT microbatch x steps x ranks that share the batch; NO_BATCH neither of the first two
//     FORMAT of weights in products, SUMS of gradients, PARAM_FORMAT data_types.param_dtype; FP16, BF16, AUTOCAST,
//     whose sections are on; MASTERS_16, MASTERS_FP16, STATES_16 master weights and moments in 16 bits; BF16_OPTIMIZER,
//     by which gradients are summed beside ZeRO OPTIMIZER, NO_OPTIMIZER of that name, UNTESTED with ZeRO, ALLOWED
//     untested, CLIPS in its own parameters, STATIC_SCALE of losses; OFFLOAD of the optimizer or weights, OFFLOAD_RATIO
//     OVERLAP, REDUCE_SCATTER, PRESCALE, PREDIVIDE, REDUCE_BY, COMM_FORMAT, NO_NORM, CLIPPING, LEGACY, QUANTIZED,
//     UNMANAGED keys of the file; AUTO_EP expert parallelism on, EXPERT_TENSOR its tensor ranks, TENSOR_BY_FLAG
//     REMOVED, UNKNOWN keys
#pragma once

#include "formats/frameworks/rules.hpp"

namespace debubble {

[[nodiscard]] FrameworkRules deepspeed_rules();

}  // namespace debubble
