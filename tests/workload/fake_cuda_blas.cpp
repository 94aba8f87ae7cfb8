// The fake libcublasLt: column-major products with cuBLAS's meaning, as plain loops. See fake_cuda.hpp.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "gpu/cublaslt_abi.hpp"
#include "tests/workload/fake_cuda_gpu.hpp"

using namespace debubble::testing;  // NOLINT(google-build-using-namespace): this file is only exported C functions
namespace lt = debubble::cublaslt;
namespace cuda = debubble::cuda;
using debubble::Nanoseconds;

namespace {

constexpr int kInvalidValue = 7;  // CUBLAS_STATUS_INVALID_VALUE
constexpr std::uint64_t kMagic = 0x66616b65;

struct Description {
  int compute = 0;
  int scale = 0;
  std::int32_t transpose_a = lt::kAsStored;
  std::int32_t transpose_b = lt::kAsStored;
  std::int32_t processors = 0;  // of the part of the GPU that it will run on; 0: all
};

struct Layout {
  int type = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7;                                // all
  std::array<std::uint32_t, 4> alignment{256, 256, 256, 256};  // of A, B, C and D, unless told otherwise
};

template <typename Object, typename Handle>
Object& of(Handle handle) {
  return *reinterpret_cast<Object*>(handle);
}

template <typename Object, typename Handle>
int make(Handle* handle, const Object& object) {
  ++FakeGpu::one().live_objects;
  *handle = reinterpret_cast<Handle>(new Object(object));
  return lt::kSuccess;
}

template <typename Object, typename Handle>
int destroy(Handle handle) {
  --FakeGpu::one().live_objects;
  delete &of<Object>(handle);
  return lt::kSuccess;
}

template <typename Value>
int set(Value& to, const void* from, std::size_t bytes) {
  if (bytes != sizeof(Value)) return kInvalidValue;
  std::memcpy(&to, from, bytes);
  return lt::kSuccess;
}

std::size_t bytes_of(int type) { return type == lt::kFloat32 ? 4 : 2; }

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float fraction = static_cast<float>(bits & 1023) / 1024.0F;
  const float magnitude = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0F + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t float_to_half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float size = std::fabs(value);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00);
  const int exponent = size < std::ldexp(1.0F, -14) ? -14 : std::ilogb(size);
  const auto steps =
      static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));      // 1024 steps from 2^e to 2^(e+1)
  const int bits = exponent == -14 ? steps : (exponent + 14) * 1024 + steps;  // carries into the exponent
  return static_cast<std::uint16_t>(sign | bits);
}

float read(const std::byte* at, int type) {
  if (type == lt::kFloat32) {
    float value = 0.0F;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return type == lt::kBfloat16 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16) : half_to_float(bits);
}

void write(std::byte* at, int type, float value) {
  if (type == lt::kFloat32) {
    std::memcpy(at, &value, sizeof value);
    return;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto rounded = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  const std::uint16_t stored = type == lt::kBfloat16 ? rounded : float_to_half(value);
  std::memcpy(at, &stored, sizeof stored);
}

// Element (row, column) of op(matrix), column-major.
float element(const std::byte* data, const Layout& layout, bool transposed, std::int64_t row, std::int64_t column) {
  const std::int64_t index = transposed ? column + row * layout.leading : row + column * layout.leading;
  return read(data + index * static_cast<std::int64_t>(bytes_of(layout.type)), layout.type);
}

bool aligned(const void* pointer, std::uint64_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
  bool fit = false;
};

Sizes sizes_of(const Description& product, const Layout& a, const Layout& b, const Layout& d) {
  const bool ta = product.transpose_a == lt::kTransposed;
  const bool tb = product.transpose_b == lt::kTransposed;
  const Sizes sizes{ta ? a.columns : a.rows, tb ? b.rows : b.columns, ta ? a.rows : a.columns, true};
  const std::int64_t other_k = tb ? b.columns : b.rows;
  const bool leading = a.leading >= a.rows && b.leading >= b.rows && d.leading >= d.rows;
  const bool batches = a.batch == d.batch && b.batch == d.batch;
  return {sizes.m, sizes.n, sizes.k,
          other_k == sizes.k && d.rows == sizes.m && d.columns == sizes.n && leading && batches};
}

std::string name_of(const Description& product, const Sizes& sizes, const Layout& a) {
  const char* const type = a.type == lt::kFloat32 ? "fp32" : a.type == lt::kFloat16 ? "fp16" : "bf16";
  return std::string("fake_gemm_") + type + "_" + std::to_string(sizes.m) + "x" + std::to_string(sizes.n) + "x" +
         std::to_string(sizes.k) + (product.transpose_a != 0 ? "_t" : "_n") + (product.transpose_b != 0 ? "t" : "n");
}

void multiply(const Description& product, const Sizes& sizes, float alpha_value, const void* a, const Layout& la,
              const void* b, const Layout& lb, float beta_value, const void* c, const Layout& lc, void* d,
              const Layout& ld) {
  const auto at = [](const void* data, const Layout& layout, std::int64_t item) {
    return static_cast<const std::byte*>(data) +
           item * layout.stride * static_cast<std::int64_t>(bytes_of(layout.type));
  };
  for (std::int64_t item = 0; item < ld.batch; ++item) {
    for (std::int64_t row = 0; row < sizes.m; ++row) {
      for (std::int64_t column = 0; column < sizes.n; ++column) {
        float sum = 0.0F;
        for (std::int64_t k = 0; k < sizes.k; ++k) {
          sum += element(at(a, la, item), la, product.transpose_a != 0, row, k) *
                 element(at(b, lb, item), lb, product.transpose_b != 0, k, column);
        }
        float value = alpha_value * sum;
        if (beta_value != 0.0F) value += beta_value * element(at(c, lc, item), lc, false, row, column);
        const std::int64_t index = (row + column * ld.leading) * static_cast<std::int64_t>(bytes_of(ld.type));
        write(const_cast<std::byte*>(at(d, ld, item)) + index, ld.type, value);  // NOLINT(*-const-cast)
      }
    }
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cublasLtCreate(lt::Handle* handle) { return make(handle, 0); }
int cublasLtDestroy(lt::Handle handle) { return destroy<int>(handle); }
std::size_t cublasLtGetVersion() { return 130100; }
std::size_t cublasLtGetCudartVersion() { return static_cast<std::size_t>(FakeGpu::number("libraries", 13000)); }

const char* cublasLtGetStatusName(int status) {
  switch (status) {
    case kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case lt::kNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_OTHER";
  }
}

int cublasLtMatmulDescCreate(lt::Description* description, int compute, int scale) {
  return make(description, Description{compute, scale});
}
int cublasLtMatmulDescDestroy(lt::Description description) { return destroy<Description>(description); }
int cublasLtMatmulDescSetAttribute(lt::Description description, int attribute, const void* value, std::size_t bytes) {
  if (attribute == lt::kTransposeA) return set(of<Description>(description).transpose_a, value, bytes);
  if (attribute == lt::kTransposeB) return set(of<Description>(description).transpose_b, value, bytes);
  if (attribute == lt::kProcessorTarget) return set(of<Description>(description).processors, value, bytes);
  return kInvalidValue;
}

int cublasLtMatrixLayoutCreate(lt::Layout* layout, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t leading) {
  return make(layout, Layout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading});
}
int cublasLtMatrixLayoutDestroy(lt::Layout layout) { return destroy<Layout>(layout); }
int cublasLtMatrixLayoutSetAttribute(lt::Layout layout, int attribute, const void* value, std::size_t bytes) {
  if (attribute == lt::kBatchCount) return set(of<Layout>(layout).batch, value, bytes);
  if (attribute == lt::kBatchStride) return set(of<Layout>(layout).stride, value, bytes);
  return kInvalidValue;
}

int cublasLtMatmulPreferenceCreate(lt::Preference* preference) { return make(preference, Preference{}); }
int cublasLtMatmulPreferenceDestroy(lt::Preference preference) { return destroy<Preference>(preference); }
int cublasLtMatmulPreferenceSetAttribute(lt::Preference preference, int attribute, const void* value,
                                         std::size_t bytes) {
  Preference& changed = of<Preference>(preference);
  if (attribute == lt::kMostWorkspace) return set(changed.workspace, value, bytes);
  if (attribute == lt::kReductions) return set(changed.reductions, value, bytes);
  if (attribute < lt::kAlignmentA || attribute > lt::kAlignmentD) return kInvalidValue;
  return set(changed.alignment[static_cast<std::size_t>(attribute - lt::kAlignmentA)], value, bytes);
}

// One algorithm, which remembers the alignments it was promised.
int cublasLtMatmulAlgoGetHeuristic(lt::Handle, lt::Description description, lt::Layout a, lt::Layout b, lt::Layout,
                                   lt::Layout d, lt::Preference preference, int asked, lt::Candidate* found,
                                   int* count) {
  *count = 0;
  if (FakeGpu::has("fail_gemm")) return lt::kNotSupported;
  if (asked < 1) return kInvalidValue;
  if (!sizes_of(of<Description>(description), of<Layout>(a), of<Layout>(b), of<Layout>(d)).fit) return kInvalidValue;
  *found = {};
  const Preference& wanted = of<Preference>(preference);
  for (std::size_t k = 0; k < wanted.alignment.size(); ++k) found->algorithm.data[k] = wanted.alignment[k];
  found->algorithm.data[4] = kMagic;
  found->algorithm.data[5] = wanted.workspace;
  found->algorithm.data[6] = wanted.reductions;
  *count = 1;
  return lt::kSuccess;
}

int cublasLtMatmul(lt::Handle, lt::Description description, const void* alpha, const void* a, lt::Layout a_layout,
                   const void* b, lt::Layout b_layout, const void* beta, const void* c, lt::Layout c_layout, void* d,
                   lt::Layout d_layout, const lt::Algorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                   cuda::Stream stream) {
  const Description& product = of<Description>(description);
  const Layout& la = of<Layout>(a_layout);
  const Layout& lb = of<Layout>(b_layout);
  const Layout& lc = of<Layout>(c_layout);
  const Layout& ld = of<Layout>(d_layout);
  const Sizes sizes = sizes_of(product, la, lb, ld);
  const std::array<const void*, 4> pointers{a, b, c, d};
  bool valid = sizes.fit && algorithm->data[4] == kMagic && workspace_bytes >= algorithm->data[5] &&
               workspace != nullptr && product.compute == lt::kComputeFloat32 && product.scale == lt::kFloat32 &&
               algorithm->data[6] == lt::kReduceInComputeType;
  for (std::size_t k = 0; k < pointers.size(); ++k) valid = valid && aligned(pointers[k], algorithm->data[k]);
  if (!valid) return kInvalidValue;
  float alpha_value = 0.0F;
  float beta_value = 0.0F;
  std::memcpy(&alpha_value, alpha, sizeof alpha_value);
  std::memcpy(&beta_value, beta, sizeof beta_value);
  FakeStream& on = stream == nullptr ? FakeGpu::one().default_stream() : *reinterpret_cast<FakeStream*>(stream);
  if (stream != nullptr && on.context != FakeGpu::one().current) return kInvalidValue;
  const bool idle = FakeGpu::has("idle");
  FakeGpu::one().kernel(on, name_of(product, sizes, la), fake_gemm_time(sizes.m, sizes.n, sizes.k, ld.batch),
                        [=](Nanoseconds) {
                          if (!idle) multiply(product, sizes, alpha_value, a, la, b, lb, beta_value, c, lc, d, ld);
                        });
  return lt::kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
