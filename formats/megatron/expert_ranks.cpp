#include "formats/megatron/expert_ranks.hpp"

#include <string>

namespace debubble {

std::int64_t expert_ranks(MegatronArguments& arguments, std::int64_t tensor_ranks, std::int64_t places) {
  const std::int64_t given = arguments.count("expert-model-parallel-size").value_or(1);
  const std::int64_t split = arguments.count("expert-tensor-parallel-size").value_or(tensor_ranks);
  const std::int64_t over = split > 0 ? tensor_ranks / split : 1;
  if (places == 0 || given <= places || over < 2 || given % over != 0) return given;
  arguments.find("--expert-model-parallel-size " + std::to_string(given) + " reaches over " + std::to_string(over) +
                 " tensor ranks: " + std::to_string(given / over) +
                 " ranks of experts that are split over them hold as many weights");
  return given / over;
}

}  // namespace debubble
