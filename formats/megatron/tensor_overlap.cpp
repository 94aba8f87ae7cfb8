#include "formats/megatron/tensor_overlap.hpp"

namespace debubble {
namespace {

struct BufferedParts {
  bool gathers = true;
  bool sums = true;
};

// A script says what is switched off; a log has the arguments themselves, those that are on.
BufferedParts buffered_parts(MegatronArguments& in) {
  const bool gathers = in.flag("tp-comm-overlap-ag");
  const bool sums = in.flag("tp-comm-overlap-rs");
  const bool dgrad = in.flag("tp-comm-bulk-dgrad");
  const bool wgrad = in.flag("tp-comm-bulk-wgrad");
  const BufferedParts script{!in.flag("disable-tp-comm-overlap-ag"), !in.flag("disable-tp-comm-overlap-rs")};
  (void)in.flag("disable-tp-comm-bulk-dgrad");
  (void)in.flag("disable-tp-comm-bulk-wgrad");
  return gathers || sums || dgrad || wgrad ? BufferedParts{gathers, sums} : script;
}

}  // namespace

// The bulk overlaps are what --tensor-overlap on is, and stay where they are switched off: NCCL's collectives take the
// place of user buffers then.
std::string tensor_overlap(MegatronArguments& in, std::int64_t tensor_ranks) {
  (void)in.flag("async-tensor-model-parallel-allreduce");
  const bool none = in.flag("no-async-tensor-model-parallel-allreduce");
  const bool asked = in.flag("tp-comm-overlap");
  const BufferedParts parts = buffered_parts(in);
  const bool early = in.flag("tp-comm-overlap-rs-dgrad");
  const auto config = in.word("tp-comm-overlap-cfg");
  if (!asked || tensor_ranks < 2 || (!parts.gathers && !parts.sums)) return none ? "off" : "";
  if (!in.flag("sequence-parallel")) {
    in.find("--tp-comm-overlap: Megatron-LM refuses it without --sequence-parallel; it is left out");
    return none ? "off" : "";
  }
  if (early) in.find("--tp-comm-overlap-rs-dgrad: sums of input gradients overlap the weight gradients' products");
  if (config) in.find("--tp-comm-overlap-cfg: Transformer Engine's default methods and splits are taken");
  if (!parts.sums) return "userbuffers-ag";
  return parts.gathers ? "userbuffers" : "userbuffers-rs";
}

}  // namespace debubble
