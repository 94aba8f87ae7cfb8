#include "profiler/attribution/ledger.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "sim/core/words.hpp"

namespace debubble::attribution {
namespace {

// No kernel runs for an hour; a damaged record may say so, and sums must not overflow.
constexpr Nanoseconds kLongestKernel = 3'600'000'000'000;
constexpr std::size_t kMostLosses = 1000;  // kinds of them

// What kernels of matrix products are called: cuBLAS ("ampere_bf16_s16816gemm_...", "sm90_xmma_gemm_...",
// "nvjet_hsh_..." since CUDA 12.8), CUTLASS ("cutlass::Kernel2<cutlass_80_tensorop_...>", "cutlass3x_sm100_..."),
// hipBLASLt ("Cijk_...").
constexpr std::array<std::string_view, 6> kProducts{"gemm", "Gemm", "GEMM", "nvjet", "cutlass", "Cijk_"};
// "void cublasLt::splitKreduce_kernel<...>"
constexpr std::array<std::string_view, 2> kSplitSums{"splitKreduce", "splitk_reduce"};

bool contains_any_text(std::string_view name, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains_text(name, part); });
}

bool is_product_name(std::string_view name) {
  return contains_any_text(name, kProducts) && !contains_any_text(name, kSplitSums);
}

}  // namespace

bool Ledger::take(const KernelRecord& record, Work& work) {
  Nanoseconds duration = 0;
  if (record.begin == 0 && record.end == 0) {
    lose("kernels without times");
  } else if (record.end < record.begin) {
    lose("kernels that end before they begin");
  } else if (__builtin_sub_overflow(record.end, record.begin, &duration) || duration > kLongestKernel) {
    lose("kernels longer than an hour");
  } else {
    // Stream numbers repeat per device and context. A hash is enough: it only decides whether two kernels may overlap.
    constexpr std::uint32_t kSpread = 0x9E3779B1U;
    const std::uint32_t stream = ((record.device * kSpread + record.context) * kSpread) + record.stream;
    work = {record.begin, record.end, kernels_.intern(record.name.empty() ? "unnamed kernel" : record.name), stream,
            record.work};
    return true;
  }
  return false;
}

const Ledger::Traits& Ledger::traits_of(std::uint32_t kernel) {
  while (traits_.size() <= kernel) {
    const std::string& name = kernels_.text(static_cast<std::uint32_t>(traits_.size()));
    traits_.push_back({contains_text(name, "nccl") || contains_text(name, "Nccl") || contains_text(name, "NCCL"),
                       contains_text(name, "GammaBeta"), is_product_name(name), contains_any_text(name, kSplitSums)});
  }
  return traits_[kernel];
}

void Ledger::enter(Slot slot, const Work& work) {
  const Nanoseconds duration = work.end - work.begin;
  // What the work itself is overrides its range in three cases: communication is never a layer's compute, copies
  // outside of layers are kept apart from other work there, and a norm's backward has its two gradients in one node.
  const Traits& traits = traits_of(work.kernel);
  if (traits.communication) {
    if (slot.in_layer()) communication_in_layers_ += duration;
    slot = rest_slot(Rest::kCommunication);
  } else if (!slot.in_layer() && work.kind != GpuWork::kKernel &&
             (slot.rest == Rest::kOutsideLayers || slot.rest == Rest::kOutsideRanges)) {
    slot = rest_slot(Rest::kCopies);
  } else if (slot.finer != Finer::kNothing && traits.weight) {
    slot.phase = Phase::kWeightGrad;
    if (slot.finer != Finer::kNormKernels) slot.rule = Rule::kName;
  }
  std::uint32_t layer = 0;
  if (slot.in_layer()) {
    Instance& instance = instances_[slot.instance];
    instance.times[index_of(slot.phase)] += duration;
    layer = instance.layer;
    note_overlap(layer, slot.instance, work);
  }
  tallies_.add(slot, layer, work.kernel, duration);
  ++entered_;
  entered_time_ += duration;
}

// Exact when work of one execution is entered in order of its begin, as it nearly always is.
void Ledger::note_overlap(std::uint32_t layer, std::uint32_t instance, const Work& work) {
  if (last_.size() <= layer) last_.resize(layer + 1);
  Last& last = last_[layer];
  if (last.instance == instance && last.work.stream != work.stream) {
    const Nanoseconds shared = std::min(last.work.end, work.end) - std::max(last.work.begin, work.begin);
    if (shared > 0) overlapped_ += shared;
  }
  if (last.instance != instance || work.end > last.work.end) last = {instance, work};
}

void Ledger::lose(std::string_view what, std::int64_t count) {
  const auto found = losses_.find(what);
  if (found != losses_.end()) {
    found->second += count;
  } else if (losses_.size() < kMostLosses) {
    losses_.emplace(what, count);
  } else {
    losses_["others"] += count;
  }
}

}  // namespace debubble::attribution
