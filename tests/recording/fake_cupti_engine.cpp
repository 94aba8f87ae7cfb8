#include "tests/recording/fake_cupti_engine.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "profiler/cupti/no_signals.hpp"

namespace debubble::testing {

namespace {

thread_local std::map<std::uint32_t, std::vector<std::uint64_t>> external_ids;

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_work(std::uint32_t kind) {
  return kind == cupti_abi::kConcurrentKernel || kind == cupti_abi::kMemcpy || kind == cupti_abi::kMemset ||
         kind == cupti_abi::kPeerMemcpy;
}

constexpr cupti_abi::Result kInvalidParameter = 1;

bool every(std::uint64_t count, std::uint64_t n) { return n > 0 && count % n == 0; }

constexpr std::uint32_t kLaunchKernelCall = 307;  // cuLaunchKernel

}  // namespace

void push_external(std::uint32_t kind, std::uint64_t id) { external_ids[kind].push_back(id); }

bool pop_external(std::uint32_t kind, std::uint64_t* id) {
  std::vector<std::uint64_t>& stack = external_ids[kind];
  if (stack.empty()) return false;
  *id = stack.back();
  stack.pop_back();
  return true;
}

FakeCuptiEngine& FakeCuptiEngine::instance() {
  static auto* const engine = new FakeCuptiEngine;
  return *engine;
}

cupti_abi::Result FakeCuptiEngine::subscribe(char* other_name, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const std::string name = subscribed_ ? "CUPTI for debubble" : options.other_tool;
  if (other_name != nullptr && size > 0) {
    other_name[std::min(size - 1, name.copy(other_name, size - 1))] = '\0';
  }
  if (options.subscribe != 0) return options.subscribe;
  if (subscribed_) return cupti_abi::kOtherSubscriber;
  subscribed_ = true;
  if (process_ == getpid()) return cupti_abi::kSuccess;
  process_ = getpid();
  start_worker();
  if (options.ends_at_exit) std::atexit([] { instance().ended_ = true; });
  return cupti_abi::kSuccess;
}

void FakeCuptiEngine::start_worker() {
  const NoSignals blocked;  // a test looks which threads take signals
  std::thread([this] { work(); }).detach();
}

void FakeCuptiEngine::unsubscribe() {
  const std::lock_guard lock(mutex_);
  subscribed_ = false;
}

void FakeCuptiEngine::register_callbacks(cupti_abi::RequestBuffer request, cupti_abi::CompleteBuffer completed) {
  {
    const std::lock_guard lock(mutex_);
    request_ = request;
    complete_ = completed;
  }
  if (options.hoard) hoard();
}

// Asks for buffers until none is given.
void FakeCuptiEngine::hoard() {
  for (int i = 0; i < 10'000; ++i) {
    Buffer buffer;
    std::size_t most = 0;
    request_(&buffer.data, &buffer.size, &most);
    if (buffer.data == nullptr) return;
    const std::lock_guard lock(mutex_);
    hoarded_.push_back(buffer);
  }
}

cupti_abi::Result FakeCuptiEngine::enable(std::uint32_t kind, bool on) {
  const std::lock_guard lock(mutex_);
  if (on && scoped) return cupti_abi::kNotCompatible;
  if (on && options.enable != 0) return options.enable;
  if (on && options.refuse.contains(kind)) return cupti_abi::kInvalidKind;
  if (!on) kinds_.erase(kind);
  if (!on || !kinds_.insert(kind).second || kind != cupti_abi::kDevice) return cupti_abi::kSuccess;
  if (!options.devices_missed) record_device();
  return cupti_abi::kSuccess;
}

cupti_abi::Result FakeCuptiEngine::dump(std::uint32_t kind) {
  const cupti_abi::Result result = enable(kind, true);
  if (result != cupti_abi::kSuccess || !options.devices_missed || kind != cupti_abi::kDevice) return result;
  const std::lock_guard lock(mutex_);
  record_device();
  return result;
}

void FakeCuptiEngine::record_device() {
  cupti_abi::Device device{};
  device.kind = cupti_abi::kDevice;
  device.memory = std::uint64_t{80} << 30U;
  device.processors = 132;
  device.capability_major = 9;
  for (std::uint8_t i = 0; i < 16; ++i) device.uuid[i] = i;
  device.name = "Fake GPU";
  add(calls_buffer_, &device, sizeof device);
}

cupti_abi::Result FakeCuptiEngine::take_zeroed_buffers() {
  if (!release.knows_zeroed_buffers) return kInvalidParameter;
  zeroed_buffers_ = true;
  return cupti_abi::kSuccess;
}

// As CUPTI zeroes a buffer itself unless it was told that it comes zeroed.
void FakeCuptiEngine::take_buffer(Buffer& buffer) {
  std::size_t most = 0;
  if (request_ != nullptr) request_(&buffer.data, &buffer.size, &most);
  if (buffer.data == nullptr) {
    if (request_ != nullptr && release.crashes_without_buffer) std::abort();
    return;
  }
  if (!zeroed_buffers_) std::memset(buffer.data, 0, buffer.size);
  const bool zeroed = std::all_of(buffer.data, buffer.data + buffer.size, [](std::uint8_t byte) { return byte == 0; });
  if (!zeroed) std::abort();
}

void FakeCuptiEngine::enable_call(std::uint32_t level, std::uint32_t call, bool on) {
  const std::lock_guard lock(mutex_);
  if (on) {
    calls_[level].insert(call);
  } else {
    calls_[level].erase(call);
  }
}

const char* FakeCuptiEngine::keep(const char* name) {
  const std::lock_guard lock(mutex_);
  return names_.insert(name).first->c_str();
}

std::size_t FakeCuptiEngine::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

void FakeCuptiEngine::complete(Buffer& buffer) {
  if (buffer.used > 0) waiting_.push_back(std::exchange(buffer, Buffer{}));
}

// The lock is held while the callback runs, as CUPTI's own may be: ours must not take a lock that we hold elsewhere.
void FakeCuptiEngine::put(Buffer& buffer, const void* activity, std::size_t known) {
  const std::uint32_t kind = static_cast<const cupti_abi::Activity*>(activity)->kind;
  const std::size_t size = record_size(release, kind);
  if (buffer.data != nullptr && buffer.used + size > std::min(buffer.size, options.buffer)) {
    complete(buffer);
    wake_.notify_one();
  }
  if (buffer.data == nullptr) take_buffer(buffer);
  if (buffer.data == nullptr) {
    ++dropped_;
    return;
  }
  std::uint8_t* const record = buffer.data + buffer.used;
  std::memcpy(record, activity, std::min(size, known));
  // Whatever comes behind what we know is nobody's business. An overhead record of 13.0 owns what its last field points
  // to.
  if (size > known) std::memset(record + known, kind == cupti_abi::kOverhead ? 0 : 0xa5, size - known);
  if (options.shifted && is_work(kind)) std::memmove(record + 16, record + 8, size - 16);
  buffer.last = buffer.used;
  buffer.used += size;
}

void FakeCuptiEngine::add(Buffer& buffer, const void* activity, std::size_t size) {
  put(buffer, activity, size);
  if (!every(++records_, options.foreign)) return;
  const std::uint32_t foreign[14] = {kForeignKind};
  put(buffer, foreign, sizeof foreign);
}

// When the work begins. Its call comes no later, however long this thread was kept waiting between the two.
std::uint64_t FakeCuptiEngine::begin_of(const void* work) {
  const std::uint32_t kind = static_cast<const cupti_abi::Activity*>(work)->kind;
  if (kind == cupti_abi::kConcurrentKernel) return static_cast<const cupti_abi::Kernel*>(work)->start;
  return kind == cupti_abi::kMemcpy ? static_cast<const cupti_abi::Memcpy*>(work)->start : now();
}

void FakeCuptiEngine::link_records(std::uint32_t correlation) {
  if (!kinds_.contains(cupti_abi::kExternalCorrelation)) return;
  for (const auto& [kind, stack] : external_ids) {
    if (stack.empty()) continue;
    const cupti_abi::ExternalCorrelation link{cupti_abi::kExternalCorrelation, kind, stack.back(), correlation, 0};
    add(calls_buffer_, &link, sizeof link);
  }
}

void FakeCuptiEngine::api_records(std::uint32_t correlation, std::uint64_t latest) {
  if (!kinds_.contains(cupti_abi::kDriver) && !calls_[cupti_abi::kDriver].contains(kLaunchKernelCall)) return;
  link_records(correlation);
  cupti_abi::Api call{};
  call.kind = cupti_abi::kDriver;
  call.call = kLaunchKernelCall;
  call.start = call.end = std::min(now(), latest);
  call.process = static_cast<std::uint32_t>(getpid());
  call.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  call.correlation = correlation;
  add(calls_buffer_, &call, sizeof call);
}

// Whether the record is lost on its way.
bool FakeCuptiEngine::spoil(std::uint8_t* work) {
  ++works_;
  if (options.lose_work) return true;
  if (every(works_, options.drop)) {
    ++dropped_;
    return true;
  }
  auto* const kernel = reinterpret_cast<cupti_abi::Kernel*>(work);
  if (kernel->kind != cupti_abi::kConcurrentKernel) return false;
  ++kernels_;
  if (every(kernels_, options.timeless)) kernel->start = kernel->end = 0;
  if (every(kernels_, options.impossible)) kernel->start = std::uint64_t{1} << 63U;
  return false;
}

void FakeCuptiEngine::launch(const void* work, std::size_t size, std::size_t correlation_offset) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t correlation = ++correlation_;
  api_records(correlation, begin_of(work));
  std::vector<std::uint64_t> record(size / 8);
  std::memcpy(record.data(), work, size);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(record.data());
  std::memcpy(bytes + correlation_offset, &correlation, sizeof correlation);
  if (!kinds_.contains(*reinterpret_cast<const std::uint32_t*>(bytes)) || spoil(bytes)) return;
  add(work_buffer_, bytes, size);
}

void FakeCuptiEngine::record(const void* activity, std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (kinds_.contains(static_cast<const cupti_abi::Activity*>(activity)->kind)) add(calls_buffer_, activity, size);
}

void FakeCuptiEngine::play(const void* activity, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t kind = static_cast<const cupti_abi::Activity*>(activity)->kind;
  if (size > record_size(release, kind)) std::abort();
  if (kind == cupti_abi::kDriver || kind == cupti_abi::kRuntime) {
    const auto& call = *static_cast<const cupti_abi::Api*>(activity);
    if (!kinds_.contains(kind) && !calls_[kind].contains(call.call)) return;
    link_records(call.correlation);
    return add(calls_buffer_, activity, size);
  }
  if (kinds_.contains(kind)) add(is_work(kind) ? work_buffer_ : calls_buffer_, activity, size);
}

void FakeCuptiEngine::deliver(const Buffer& buffer) const {
  if (options.spill)
    std::memset(buffer.data + buffer.used, 0xff, std::min<std::size_t>(9000, buffer.size - buffer.used));
  const std::size_t valid = options.cut ? (buffer.last + buffer.used) / 2 : buffer.used;
  complete_(nullptr, 0, buffer.data, buffer.size, valid);
}

void FakeCuptiEngine::deliver_waiting(std::unique_lock<std::mutex>& lock) {
  while (!waiting_.empty()) {
    const Buffer buffer = waiting_.front();
    waiting_.pop_front();
    ++delivering_;
    lock.unlock();
    deliver(buffer);
    lock.lock();
    --delivering_;
    delivered_.notify_all();
  }
}

bool FakeCuptiEngine::enabled() const {
  return !kinds_.empty() ||
         std::any_of(calls_.begin(), calls_.end(), [](const auto& level) { return !level.second.empty(); });
}

void FakeCuptiEngine::flush(bool forced) {
  // CUPTI's worker does not live in a forked child, and a flush there waits for it forever.
  while (process_ != getpid()) pause();
  if (ended_ || (options.late && !forced)) return;
  std::unique_lock lock(mutex_);
  if (forced && options.forced_last && enabled()) std::abort();
  complete(options.gpu_first ? work_buffer_ : calls_buffer_);
  complete(options.gpu_first ? calls_buffer_ : work_buffer_);
  for (Buffer& buffer : hoarded_) {
    if (forced) waiting_.push_back(buffer);
  }
  if (forced) hoarded_.clear();
  deliver_waiting(lock);
  delivered_.wait(lock, [&] { return delivering_ == 0; });  // "a blocking call" (cupti_activity.h)
}

void FakeCuptiEngine::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, std::chrono::milliseconds(20), [&] { return !waiting_.empty() && !options.late; });
    if (!options.late) deliver_waiting(lock);
  }
}

}  // namespace debubble::testing
