// Holds our own declarations of NCCL's binary interface to its header, of the newest release and the oldest promised.
#include <nccl.h>

#include <type_traits>

#include "live/mpi/nccl_library.hpp"
#include "tests/support/test.hpp"

namespace debubble::live {
namespace {

// Passed the same way: both pointers, both integers or enums, or both the same number of bytes in a struct.
template <typename Ours, typename Theirs>
constexpr bool kSame =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>;

template <typename Ours, typename Theirs>
struct SameFunction : std::false_type {};
template <typename R1, typename R2, typename... Ours, typename... Theirs>
struct SameFunction<R1 (*)(Ours...), R2(Theirs...)> {
  static constexpr bool all() {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return kSame<R1, R2> && (kSame<Ours, Theirs> && ...);
    return false;
  }
  static constexpr bool value = all();
};

#define DEBUBBLE_CHECK(name, symbol, result, parameters) \
  static_assert(SameFunction<decltype(nccl::Functions::name), decltype(symbol)>::value, #symbol);
DEBUBBLE_NCCL_FUNCTIONS(DEBUBBLE_CHECK)
#undef DEBUBBLE_CHECK

static_assert(nccl::kSuccess == ncclSuccess);
static_assert(nccl::kInProgress == ncclInProgress);
static_assert(nccl::kBytes == ncclInt8);
static_assert(sizeof(nccl::UniqueId) == NCCL_UNIQUE_ID_BYTES);
static_assert(offsetof(nccl::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(nccl::Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(nccl::Config, min_ctas) == offsetof(ncclConfig_t, minCTAs));
static_assert(offsetof(nccl::Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(nccl::Config, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(nccl::Config, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(NCCL_VERSION_CODE >= 21900 || sizeof(nccl::Config) == sizeof(ncclConfig_t));

TEST_CASE("Our declarations are those of nccl.h") {
  const ncclConfig_t real = NCCL_CONFIG_INITIALIZER;
  const nccl::Config ours;
  CHECK(ours.magic == real.magic);
  CHECK(ours.blocking == real.blocking);
  CHECK(ours.max_ctas == real.maxCTAs);
  CHECK(ours.split_share == real.splitShare);
}

}  // namespace
}  // namespace debubble::live
