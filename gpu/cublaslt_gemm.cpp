#include "gpu/cublaslt_gemm.hpp"

#include <algorithm>
#include <string>

#include "sim/core/error.hpp"

namespace debubble {
namespace {

DataType result_type(const Gemm& gemm) { return gemm.fp32_output ? DataType::kFp32 : gemm.type; }

int cuda_type(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return cublaslt::kBfloat16;
    case DataType::kFp16:
      return cublaslt::kFloat16;
    case DataType::kFp32:
      return cublaslt::kFloat32;
  }
  return cublaslt::kFloat32;
}

// Of a matrix inside a buffer: cuBLASLt assumes 256 bytes unless told otherwise.
std::uint32_t alignment(DeviceAddress address) {
  return static_cast<std::uint32_t>(std::min<DeviceAddress>(address & (~address + 1), 256));
}

std::string shape_text(const Gemm& gemm) {
  const std::int64_t inner = gemm.transpose_a ? gemm.a.rows : gemm.a.columns;
  return "the matmul " + std::to_string(gemm.c.rows) + " x " + std::to_string(inner) + " x " +
         std::to_string(gemm.c.columns) + (gemm.batch > 1 ? ", " + std::to_string(gemm.batch) + " of them" : "") +
         ", in " + to_string(gemm.type);
}

const void* pointer(DeviceAddress address) {
  return reinterpret_cast<const void*>(address);  // NOLINT: an address of the device, only passed on
}

void* writable(DeviceAddress address) {
  return reinterpret_cast<void*>(address);  // NOLINT: see above
}

}  // namespace

CublasLtGemm::CublasLtGemm(const CublasLt& library, DeviceAddress workspace, std::int32_t processors)
    : library_(library), workspace_(workspace), processors_(processors) {
  cublaslt::Handle handle = nullptr;
  check_cublaslt(library_, library_.call.create(&handle), "starting cuBLASLt");
  handle_ = {handle, library_.call.destroy};
}

CublasLtGemm::Key CublasLtGemm::key_of(const Gemm& gemm) {
  Key key{gemm.transpose_a,
          gemm.transpose_b,
          gemm.batch,
          static_cast<std::int64_t>(gemm.type),
          static_cast<std::int64_t>(result_type(gemm)),
          gemm.beta == 0.0F};
  std::size_t at = 6;
  for (const MatrixView* view : {&gemm.a, &gemm.b, &gemm.c}) {
    key[at++] = view->rows * 512 + alignment(view->data);  // two numbers in one: an alignment is at most 256
    key[at++] = view->columns;
    key[at++] = view->leading;
    key[at++] = view->stride;
  }
  return key;
}

OwnedHandle<cublaslt::Layout> CublasLtGemm::layout(const MatrixView& view, DataType type, std::int64_t batch) const {
  cublaslt::Layout made = nullptr;
  check_cublaslt(library_,
                 library_.call.layout_create(&made, cuda_type(type), static_cast<std::uint64_t>(view.columns),
                                             static_cast<std::uint64_t>(view.rows), view.leading),
                 "describing a matrix to cuBLASLt");
  OwnedHandle<cublaslt::Layout> owned(made, library_.call.layout_destroy);
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    check_cublaslt(library_, library_.call.layout_set(made, cublaslt::kBatchCount, &count, sizeof count), "a batch");
    check_cublaslt(library_, library_.call.layout_set(made, cublaslt::kBatchStride, &view.stride, sizeof view.stride),
                   "a batch");
  }
  return owned;
}

CublasLtGemm::Plan CublasLtGemm::make_plan(const Gemm& gemm) const {
  Plan plan;
  cublaslt::Description made = nullptr;
  check_cublaslt(library_, library_.call.description_create(&made, cublaslt::kComputeFloat32, cublaslt::kFloat32),
                 "describing a matmul to cuBLASLt");
  plan.description = {made, library_.call.description_destroy};
  const std::int32_t first = gemm.transpose_b ? cublaslt::kTransposed : cublaslt::kAsStored;
  const std::int32_t second = gemm.transpose_a ? cublaslt::kTransposed : cublaslt::kAsStored;
  check_cublaslt(library_, library_.call.description_set(made, cublaslt::kTransposeA, &first, sizeof first),
                 "a matmul");
  check_cublaslt(library_, library_.call.description_set(made, cublaslt::kTransposeB, &second, sizeof second),
                 "a matmul");
  if (processors_ > 0) {
    check_cublaslt(library_,
                   library_.call.description_set(made, cublaslt::kProcessorTarget, &processors_, sizeof processors_),
                   "telling cuBLASLt its share of the GPU");
  }
  plan.first = layout(gemm.b, gemm.type, gemm.batch);
  plan.second = layout(gemm.a, gemm.type, gemm.batch);
  plan.result = layout(gemm.c, result_type(gemm), gemm.batch);
  plan.algorithm = choose(plan, gemm);
  return plan;
}

cublaslt::Algorithm CublasLtGemm::choose(const Plan& plan, const Gemm& gemm) const {
  cublaslt::Preference made = nullptr;
  check_cublaslt(library_, library_.call.preference_create(&made), "cuBLASLt's preferences");
  const OwnedHandle<cublaslt::Preference> preference(made, library_.call.preference_destroy);
  const auto set = [this, made](int attribute, const auto& value) {
    check_cublaslt(library_, library_.call.preference_set(made, attribute, &value, sizeof value), "a preference");
  };
  set(cublaslt::kMostWorkspace, static_cast<std::uint64_t>(kGemmWorkspace));
  set(cublaslt::kReductions, cublaslt::kReduceInComputeType);  // a sum in parts is added up in fp32 as well
  set(cublaslt::kAlignmentA, alignment(gemm.b.data));
  set(cublaslt::kAlignmentB, alignment(gemm.a.data));
  set(cublaslt::kAlignmentC, alignment(gemm.c.data));
  set(cublaslt::kAlignmentD, alignment(gemm.c.data));
  cublaslt::Candidate found{};
  int count = 0;
  cublaslt::Status status =
      library_.call.heuristic(handle_.get(), plan.description.get(), plan.first.get(), plan.second.get(),
                              plan.result.get(), plan.result.get(), made, 1, &found, &count);
  if (status == cublaslt::kSuccess) status = count == 0 ? cublaslt::kNotSupported : found.state;
  check_cublaslt(library_, status, "choosing an algorithm for " + shape_text(gemm));
  return found.algorithm;
}

void CublasLtGemm::run(const Gemm& gemm, cuda::Stream stream) {
  const Key key = key_of(gemm);
  auto plan = plans_.find(key);
  if (plan == plans_.end()) plan = plans_.emplace(key, make_plan(gemm)).first;
  const Plan& use = plan->second;
  const cublaslt::Status status = library_.call.matmul(
      handle_.get(), use.description.get(), &gemm.alpha, pointer(gemm.b.data), use.first.get(), pointer(gemm.a.data),
      use.second.get(), &gemm.beta, pointer(gemm.c.data), use.result.get(), writable(gemm.c.data), use.result.get(),
      &use.algorithm, writable(workspace_), static_cast<std::size_t>(kGemmWorkspace), stream);
  check_cublaslt(library_, status, shape_text(gemm));
}

}  // namespace debubble
