#include "profiler/cupti/record_judge.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace debubble {

namespace {

constexpr std::uint64_t kNanosOfSecond = 1'000'000'000;
constexpr std::uint64_t kNanosOfHour = 3600 * kNanosOfSecond;
constexpr std::uint32_t kMostDevices = 1024;
constexpr std::uint32_t kMostStreams = 1U << 24U;
constexpr std::uint32_t kNoId = 0xffffffff;
constexpr std::int64_t kMostThreadsOfBlock = 1024;  // CUDA C++ Programming Guide, "Technical Specifications"
constexpr std::size_t kLongestText = std::size_t{1} << 16U;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50U;
constexpr std::int64_t kLeastToCount = 8;

// Asks the kernel, which answers EFAULT where a read of ours would end the process: the set of signals is read before
// the unknown `how` is refused.
bool is_readable(const void* word) {
  constexpr int kNoSuchHow = -1;
  return syscall(SYS_rt_sigprocmask, kNoSuchHow, word, nullptr, std::size_t{8}) == 0 || errno != EFAULT;
}

// A text that ends, of printable characters, at least one.
bool is_text(const char* text) {
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  if (address == 0) return false;
  for (std::size_t i = 0; i < kLongestText; ++i) {
    const char* const at = text + i;
    const std::size_t in_word = (address + i) % 8;
    if ((i == 0 || in_word == 0) && !is_readable(at - in_word)) return false;
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\0') return i > 0;
    if (c < 0x20 || c == 0x7f) return false;
  }
  return false;
}

std::string two_times(std::uint64_t first, std::uint64_t second) {
  return " (" + std::to_string(first) + " and " + std::to_string(second) + ")";
}

// Both 0: lost on the way, which CUPTI says so.
std::string judge_times(const std::string& what, std::uint64_t begin, std::uint64_t end, std::uint64_t now) {
  if (begin == 0 && end == 0) return "";
  if (end < begin) return what + " ends before it begins" + two_times(begin, end);
  const auto of_this_hour = [now](std::uint64_t time) {
    return time + kNanosOfHour > now && time < now + kNanosOfHour;
  };
  if (!of_this_hour(begin) || !of_this_hour(end)) return what + " is not of this hour" + two_times(begin, end);
  return "";
}

template <class Work>
std::string judge_place(const std::string& what, const Work& work, std::uint64_t now) {
  if (work.device >= kMostDevices) return what + " ran on device " + std::to_string(work.device);
  if (work.stream >= kMostStreams && work.stream != kNoId)
    return what + " ran on stream " + std::to_string(work.stream);
  return judge_times(what, work.start, work.end, now);
}

std::string judge_work(const cupti_abi::Kernel& kernel, std::uint64_t now) {
  if (!is_text(kernel.name)) return "a kernel's name is not text";
  std::int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (kernel.grid[i] < 0 || kernel.block[i] < 0 || kernel.block[i] > kMostThreadsOfBlock)
      return "a kernel has no grid";
    threads *= std::max(kernel.block[i], 1);
  }
  if (threads > kMostThreadsOfBlock) return "a kernel has " + std::to_string(threads) + " threads in a block";
  return judge_place("a kernel", kernel, now);
}

template <class Copy>
std::string judge_work(const Copy& copy, std::uint64_t now) {
  if (copy.bytes > kMostBytes) return "a copy or set has " + std::to_string(copy.bytes) + " bytes";
  return judge_place("a copy or set", copy, now);
}

std::string judge_call(const cupti_abi::Api& call, std::uint64_t now) {
  if (call.process != static_cast<std::uint32_t>(getpid())) {
    return "a call was made by process " + std::to_string(call.process) + ", which is not this one";
  }
  if (call.thread == 0) return "a call was made by no thread";
  return judge_times("a call", call.start, call.end, now);
}

std::string judge_link(const cupti_abi::ExternalCorrelation& link) {
  return link.correlation == 0 ? "a range is linked to no call" : "";
}

std::string judge_allocation(const cupti_abi::Memory& memory, std::uint64_t now) {
  if (memory.bytes > kMostBytes) return "an allocation has " + std::to_string(memory.bytes) + " bytes";
  return judge_times("an allocation", memory.time, memory.time, now);
}

std::string judge_overhead(const cupti_abi::Overhead& overhead, std::uint64_t now) {
  return judge_times("overhead", overhead.start, overhead.end, now);
}

bool is_gpu_work(std::uint32_t kind) {
  return kind == cupti_abi::kConcurrentKernel || kind == cupti_abi::kMemcpy || kind == cupti_abi::kPeerMemcpy ||
         kind == cupti_abi::kMemset;
}

std::string judge_device(const cupti_abi::Device& device) {
  if (device.id >= kMostDevices) return "a device has number " + std::to_string(device.id);
  return is_text(device.name) ? "" : "a device's name is not text";
}

template <class Known>
const Known& as(const cupti_abi::Activity* activity) {
  return *reinterpret_cast<const Known*>(activity);
}

}  // namespace

std::uint64_t RecordJudge::time_now() const {
  std::uint64_t now = 0;
  if (clock_ != nullptr && clock_(&now) == cupti_abi::kSuccess) return now;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosOfSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

std::string RecordJudge::judge_record(const cupti_abi::Activity* activity) const {
  const std::uint64_t now = time_now();
  switch (activity->kind) {
    case cupti_abi::kConcurrentKernel:
      return judge_work(as<cupti_abi::Kernel>(activity), now);
    case cupti_abi::kMemcpy:
      return judge_work(as<cupti_abi::Memcpy>(activity), now);
    case cupti_abi::kPeerMemcpy:
      return judge_work(as<cupti_abi::PeerMemcpy>(activity), now);
    case cupti_abi::kMemset:
      return judge_work(as<cupti_abi::Memset>(activity), now);
    case cupti_abi::kDriver:
    case cupti_abi::kRuntime:
      return judge_call(as<cupti_abi::Api>(activity), now);
    case cupti_abi::kExternalCorrelation:
      return judge_link(as<cupti_abi::ExternalCorrelation>(activity));
    case cupti_abi::kMemory2:
      return judge_allocation(as<cupti_abi::Memory>(activity), now);
    case cupti_abi::kOverhead:
      return judge_overhead(as<cupti_abi::Overhead>(activity), now);
    case cupti_abi::kDevice:
      return judge_device(as<cupti_abi::Device>(activity));
    default:
      return "";
  }
}

std::string RecordJudge::judge(std::uint8_t* buffer, std::size_t valid) {
  cupti_abi::Activity* activity = nullptr;
  const cupti_abi::Activity* before = nullptr;
  while (valid > 0 && next_(buffer, valid, &activity) == cupti_abi::kSuccess) {
    if (!is_inside(activity, before, buffer, valid)) return "the library's own walk leaves the buffer";
    before = activity;
    ++records_;
    if (is_gpu_work(activity->kind)) ++works_;
    if (!is_known(activity->kind)) ++unknown_;
    if (std::string nonsense = judge_record(activity); !nonsense.empty()) return nonsense;
  }
  if (records_ >= kLeastToCount && unknown_ * 2 > records_) {
    return std::to_string(unknown_) + " of the first " + std::to_string(records_) +
           " records are of kinds that nobody enabled";
  }
  return "";
}

}  // namespace debubble
