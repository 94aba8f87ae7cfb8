#include "formats/megatron/defaults.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/core/word_list.hpp"

namespace debubble {

const std::vector<std::pair<std::string_view, std::string>>& megatron_defaults() {
  static const std::vector<std::pair<std::string_view, std::string>> defaults = [] {
    std::vector<std::pair<std::string_view, std::string>> made;
    for (const std::string_view word : words_in(
             "tensor-model-parallel-size=1 pipeline-model-parallel-size=1 context-parallel-size=1 "
             "expert-model-parallel-size=1 num-distributed-optimizer-instances=1 cp-comm-type=p2p mtp-num-layers=0 "
             "position-embedding-type=learned_absolute recompute-modules=core_attn cuda-graph-impl=none "
             "fp8-recipe=delayed num-layers-at-start-in-bf16=1 num-layers-at-end-in-bf16=1 main-grads-dtype=fp32 "
             "main-params-dtype=fp32 exp-avg-dtype=fp32 exp-avg-sq-dtype=fp32 optimizer=adam ckpt-format=torch_dist "
             "transformer-impl=transformer_engine data-parallel-sharding-strategy=optim_grads_params "
             "cross-entropy-fusion-impl=native moe-token-dispatcher-type=allgather moe-flex-dispatcher-backend=deepep "
             "moe-router-topk=2 moe-router-score-function=softmax moe-router-load-balancing-type=aux_loss "
             "experimental-attention-variant=none hidden-dropout=0.1 attention-dropout=0.1 moe-aux-loss-coeff=0.0 "
             "dataloader-type=single normalization=LayerNorm wgrad-deferral-limit=0 kv-lora-rank=512 qk-head-dim=128 "
             "qk-pos-emb-head-dim=64 v-head-dim=128 make-vocab-size-divisible-by=128 sgd-momentum=0.9 "
             "attention-backend=auto")) {
      const std::size_t sign = word.find('=');
      made.emplace_back(word.substr(0, sign), word.substr(sign + 1));
    }
    return made;
  }();
  return defaults;
}

const std::string& megatron_default(std::string_view name) {
  const auto& all = megatron_defaults();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  if (found == all.end()) throw std::logic_error("no default of --" + std::string(name));
  return found->second;
}

}  // namespace debubble
