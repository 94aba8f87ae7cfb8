// What we use of CUPTI's binary interface, in our own words: facts of the library, no header of its own is needed to
// build. A test compares every size, offset and value with NVIDIA's headers, of the newest release and of the oldest.
//
// Records: only the beginning that we read. It is the same from CUDA 11.6 to 13.5; later fields come and go. CUPTI
// packs its structs; two of them have fields off their natural places. Records are walked by the library's own
// function, never by our sizes; those of a newer release are judged first (record_judge.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace debubble::cupti_abi {

using Result = std::int32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfRecords = 12;     // MAX_LIMIT_REACHED
inline constexpr Result kNotCompatible = 14;    // NOT_COMPATIBLE
inline constexpr Result kNotInitialized = 15;   // NOT_INITIALIZED; "unable to initialize its connection to the driver"
inline constexpr Result kInvalidKind = 21;      // INVALID_KIND
inline constexpr Result kOtherSubscriber = 39;  // MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
inline constexpr Result kUnknownError = 999;    // UNKNOWN; at the start: there is no driver

inline constexpr std::uint32_t kOldestVersion = 17;       // CUDA 11.6
inline constexpr std::uint32_t kRejectsBuffersFrom = 27;  // older ones may crash when a request is refused
inline constexpr std::uint32_t kFirstLongVersion = 130000;
// CUDA 13.0, any update: the newest whose records we have from a GPU. Newer ones are tried up to the next major
// release, and their records judged.
inline constexpr std::uint32_t kNewestVersion = 130099;
inline constexpr std::uint32_t kNewestHeaders = 130599;  // the newest whose headers were compared
inline constexpr std::uint32_t kOverheadHasData = 22;    // CUDA 12.4
inline constexpr std::uint32_t kNextMajor = 140000;

enum Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kPeerMemcpy = 22,
  kExternalCorrelation = 39,
  kMemory2 = 49,
};

inline constexpr std::uint32_t kExternalKindCustom2 = 5;  // Kineto takes CUSTOM0 and CUSTOM1
inline constexpr std::int32_t kAttributeZeroedBuffers = 5;
inline constexpr std::uint32_t kThreadIdSystem = 1;
inline constexpr std::uint32_t kFlushForced = 1;

inline constexpr std::uint32_t kAllocation = 1;
inline constexpr std::uint32_t kRelease = 2;
inline constexpr std::uint32_t kMemoryDevice = 3;
inline constexpr std::uint32_t kMemoryManaged = 5;

inline constexpr std::uint32_t kOverheadCompiler = 1;
inline constexpr std::uint32_t kOverheadBufferFlush = 1U << 16U;
inline constexpr std::uint32_t kOverheadInstrumentation = 2U << 16U;
inline constexpr std::uint32_t kOverheadResource = 3U << 16U;
inline constexpr std::uint32_t kOverheadModuleLoading = 4U << 16U;
inline constexpr std::uint32_t kOverheadLazyLoading = 5U << 16U;
inline constexpr std::uint32_t kOverheadCommandBufferFull = 6U << 16U;
inline constexpr std::uint32_t kOverheadBufferRequest = 7U << 16U;

struct Activity {
  std::uint32_t kind;
};

struct Kernel {
  std::uint32_t kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers;
  std::uint32_t partitioned_requested;
  std::uint32_t partitioned_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared;
  std::int32_t dynamic_shared;
  std::uint32_t local_per_thread;
  std::uint32_t local_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout[2];
  std::uint8_t padding;
  std::uint32_t shared_executed;
  std::uint64_t graph_node;
};

struct Memcpy {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t from;
  std::uint8_t to;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

struct PeerMemcpy {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t from;
  std::uint8_t to;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t from_device;
  std::uint32_t from_context;
  std::uint32_t to_device;
  std::uint32_t to_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
};

struct Memset {
  std::uint32_t kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

struct Api {
  std::uint32_t kind;
  std::uint32_t call;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t result;
};

struct ExternalCorrelation {
  std::uint32_t kind;
  std::uint32_t external_kind;
  std::uint64_t external;
  std::uint32_t correlation;
  std::uint32_t reserved;
};

struct Memory {
  std::uint32_t kind;
  std::uint32_t operation;
  std::uint32_t memory_kind;
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t time;
  std::uint64_t program_counter;
  std::uint32_t process;
  std::uint32_t device;
};

struct Overhead {
  std::uint32_t kind;
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
  std::uint32_t object_process;  // of a union; for a thread: process and thread
  std::uint32_t object_thread;
  std::uint32_t object_third;
  std::uint64_t start;
  std::uint64_t end;
};

// The whole record from CUDA 12.4 on, whose last field is ours to free.
struct OverheadWithData {
  Overhead overhead;
  std::uint32_t correlation;
  std::uint32_t reserved;
  void* data;
};
inline constexpr std::uint32_t kObjectThread = 2;

struct Device {
  std::uint32_t kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth;
  std::uint64_t memory;
  std::uint32_t constant_memory;
  std::uint32_t l2_cache;
  std::uint32_t threads_per_warp;
  std::uint32_t clock_khz;
  std::uint32_t copy_engines;
  std::uint32_t processors;
  std::uint32_t limits[14];
  std::uint32_t capability_major;
  std::uint32_t capability_minor;
  std::uint32_t id;
  std::uint32_t ecc;
  std::uint8_t uuid[16];
  const char* name;
};

struct SubscriberParams {
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
};
inline constexpr std::size_t kOldNameSize = 64;

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid);
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t call, const void* data);

}  // namespace debubble::cupti_abi
