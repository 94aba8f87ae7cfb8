#include "tests/workload/fake_cuda_gpu.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tests/recording/fake_cupti.hpp"

namespace debubble::testing {
namespace {

constexpr std::size_t kAlignment = 256;

// The GPU's clock is an hour ahead, so that no kernel begins before its launch, however slow the host is; every
// begin is a multiple of the clock's steps.
Nanoseconds start_of_time() {
  const auto now = std::chrono::system_clock::now() + std::chrono::hours(1);
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  return since / kFakeTick * kFakeTick;
}

constexpr std::array<std::string_view, 23> kWords{
    "idle",          "error",    "stub",   "driver",     "processors",    "least_part",  "most_parts", "no_green",
    "no_wait_value", "no_peers", "hang",   "lazy",       "fail_wait",     "refuse",      "unusable",

    "libraries",     "gpus",     "memory", "capability", "compile_error", "fail_launch", "fail_run",   "fail_gemm"};

// The value of a word of $FAKE_CUDA, empty for one without a value.
std::optional<std::string> find(std::string_view word) {
  const char* const set = std::getenv("FAKE_CUDA");
  std::string_view rest = set == nullptr ? "" : set;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equals = std::min(item.find('='), item.size());
    if (std::find(kWords.begin(), kWords.end(), item.substr(0, equals)) == kWords.end()) {
      std::fprintf(stderr, "FAKE_CUDA: unknown word in %s\n", set);
      std::abort();
    }
    if (item.substr(0, equals) == word) return std::string(item.substr(std::min(equals + 1, item.size())));
  }
  return std::nullopt;
}

}  // namespace

FakeGpu::FakeGpu() : latest_(start_of_time()) {
  default_stream_.number = streams_;
  default_stream_.end = latest_;
  all_.insert(&default_stream_);
}

FakeGpu& FakeGpu::one() {
  static FakeGpu gpu;
  return gpu;
}

bool FakeGpu::has(std::string_view word) { return find(word).has_value(); }

std::string FakeGpu::value(std::string_view word) { return find(word).value_or(""); }

std::int64_t FakeGpu::number(std::string_view word, std::int64_t otherwise) {
  const std::string text = value(word);
  std::int64_t found = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), found);
  return found;
}

int FakeGpu::refusal(std::string_view function) {
  const std::string text = value("refuse");
  const std::size_t colon = std::min(text.find(':'), text.size());
  int result = 0;
  if (text.substr(0, colon) == function) std::from_chars(text.data() + colon + 1, text.data() + text.size(), result);
  return result;
}

int FakeGpu::visible_gpus() {
  const auto built_in = static_cast<int>(number("gpus", 1));
  const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return built_in;
  int visible = 0;
  while (visible_gpu(visible) >= 0) ++visible;
  return visible;
}

int FakeGpu::visible_gpu(int ordinal) {
  const auto built_in = static_cast<int>(number("gpus", 1));
  const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return ordinal < built_in ? ordinal : -1;
  const char* const end = list + std::strlen(list);
  const char* next = list;
  for (int left = ordinal;; --left) {
    int gpu = -1;
    next = std::from_chars(next, end, gpu).ptr;
    if (gpu < 0 || gpu >= built_in) return -1;  // what follows is not visible either
    if (left == 0) return gpu;
    if (next == end || *next != ',') return -1;
    ++next;
  }
}

std::size_t FakeGpu::free_memory() const {
  const auto total = static_cast<std::size_t>(number("memory", std::int64_t{8} << 30));
  return total > used_ ? total - used_ : 0;
}

void* FakeGpu::allocate(std::size_t bytes) {
  if (bytes > free_memory()) return nullptr;
  void* const address = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (address == nullptr) return nullptr;
  sizes_[address] = bytes;
  used_ += bytes;
  if (const FakeCupti cupti = find_fake_cupti(); cupti.memory != nullptr) {
    cupti.memory(reinterpret_cast<std::uint64_t>(address), static_cast<std::int64_t>(bytes));
  }
  return address;
}

bool FakeGpu::release(void* address) {
  const auto found = sizes_.find(address);
  if (found == sizes_.end()) return false;
  if (const FakeCupti cupti = find_fake_cupti(); cupti.memory != nullptr) {
    cupti.memory(reinterpret_cast<std::uint64_t>(address), -static_cast<std::int64_t>(found->second));
  }
  used_ -= found->second;
  sizes_.erase(found);
  std::free(address);  // NOLINT(*-no-malloc)
  return true;
}

}  // namespace debubble::testing

#pragma GCC visibility push(default)
extern "C" std::int64_t fake_cuda_live_objects() { return debubble::testing::FakeGpu::one().live_objects; }
extern "C" std::int64_t fake_cuda_live_bytes() { return debubble::testing::FakeGpu::one().live_bytes(); }
#pragma GCC visibility pop
