#include "profiler/cupti/cupti_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "profiler/cupti/buffer_pool.hpp"
#include "profiler/cupti/calls.hpp"
#include "profiler/cupti/no_signals.hpp"
#include "profiler/cupti/refusals.hpp"
#include "profiler/cupti/release.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

constexpr std::chrono::milliseconds kClockPeriod{250};
constexpr int kFlushEvery = 2;  // periods: a killed program loses about half a second of GPU records

// Where CUPTI's callbacks put full buffers. They carry no pointer of ours, so this must be global.
std::atomic<RecordQueue*> target = nullptr;
std::atomic<int> inside = 0;
std::atomic<bool> must_serve = false;  // an old CUPTI may crash when it gets no buffer
std::atomic<std::int64_t> lost_buffers = 0;

// Nothing may be thrown into CUPTI.
std::uint8_t* take_buffer() noexcept {
  try {
    return BufferPool::instance().take(must_serve);
  } catch (...) {
    return nullptr;
  }
}

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = take_buffer();
  *size = *buffer == nullptr ? 0 : BufferPool::kSize;
  *max_records = 0;
}

bool hand_over(FullBuffer buffer) noexcept {
  RecordQueue* const queue = target;
  if (queue == nullptr || buffer.valid == 0) return false;
  try {
    queue->add(buffer);
    return true;
  } catch (...) {
    ++lost_buffers;
    return false;
  }
}

void complete_buffer(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (buffer == nullptr) return;
  ++inside;
  if (!hand_over({buffer, valid})) BufferPool::instance().give_back(buffer, valid);
  --inside;
}

void ignore_callback(void*, std::uint32_t, std::uint32_t, const void*) {}

// The queue may be destroyed afterwards.
void retire_target() {
  target = nullptr;
  while (inside > 0) std::this_thread::yield();
}

}  // namespace

CuptiSession::CuptiSession(const CuptiTable& cupti, const RecorderOptions& options, RecordStream& stream)
    : cupti_(cupti),
      stream_(stream),
      queue_(stream.queue()),
      decoder_(
          cupti.next_record, cupti.version,
          [this](std::uint32_t device, const std::string& uuid) { clocks_.add(device, uuid); }, cupti.get_timestamp),
      sample_clocks_(options.clocks),
      inside_cu_init_(options.inside_cu_init) {
  subscribe();
  stream_.decode_with(&decoder_);
  try {
    start(options);
    fact("cupti", std::to_string(cupti_.version));
    fact("cupti.path", cupti_.path);
    fact("cupti.why", cupti_.why);
    for (const std::string& note : cupti_.notes) fact("cupti.note", note);
    fact("cuda", release_text(cuda_of_cupti(cupti_.version)));
    const NoSignals blocked;
    flush_thread_ = std::thread([this] { run_flush_thread(); });
  } catch (...) {
    undo();
    throw;
  }
}

CuptiSession::~CuptiSession() { finish(); }

void CuptiSession::fact(const std::string& key, const std::string& value) {
  if (!value.empty()) queue_.add(FactRecord{key, value});
}

// Where there are calls of single subscribers, cuptiSubscribe_v2 may be the first of them: then the old one is made.
void CuptiSession::subscribe() {
  std::array<char, cupti_abi::kOldNameSize> other{};
  cupti_abi::Result result = cupti_abi::kSuccess;
  if (cupti_.subscribe_v2 != nullptr && !cupti_.has_scoped_calls) {
    cupti_abi::SubscriberParams params{sizeof params, "debubble", other.data(), other.size()};
    result = cupti_.subscribe_v2(&subscriber_, ignore_callback, nullptr, &params);
    other.back() = '\0';
  } else {
    result = cupti_.subscribe(&subscriber_, ignore_callback, nullptr);
  }
  if (result == cupti_abi::kOtherSubscriber) throw other_profiler(cupti_, other.data());
  if (result == cupti_abi::kUnknownError) throw no_driver("CUPTI could not begin, " + describe(cupti_, result));
  require(result, "cuptiSubscribe");
}

void CuptiSession::require(cupti_abi::Result result, const std::string& step) const {
  if (result != cupti_abi::kSuccess) throw refused_step(cupti_, result, step);
}

void CuptiSession::start(const RecorderOptions& options) {
  // We hand out zeroed memory; else CUPTI zeroes it on the program's thread. Old releases do not know the attribute.
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  static_cast<void>(cupti_.set_attribute(cupti_abi::kAttributeZeroedBuffers, &size, &zeroed));
  require(cupti_.set_thread_id_type(cupti_abi::kThreadIdSystem), "cuptiSetThreadIdType");
  must_serve = cupti_.version < cupti_abi::kRejectsBuffersFrom;
  target = &queue_;
  require(cupti_.register_callbacks(request_buffer, complete_buffer), "cuptiActivityRegisterCallbacks");
  enable_kind(cupti_abi::kDevice, false);
  enable_kind(cupti_abi::kConcurrentKernel, true);
  enable_kind(cupti_abi::kMemcpy, true);
  enable_kind(cupti_abi::kMemset, true);
  enable_kind(cupti_abi::kPeerMemcpy, false);
  enable_kind(cupti_abi::kOverhead, false);
  if (options.memory) enable_kind(cupti_abi::kMemory2, false);
  if (!options.launches) return;
  enable_kind(cupti_abi::kExternalCorrelation, true);
  enable_launches();
}

// "Device records are emitted in CUPTI on CUDA driver initialization", to those who attached before it; later they are
// to be had by a dump only (cuptiActivityEnableAndDump, cupti_activity.h of 13.0). Inside cuInit it may be too late for
// the one and too early for the other, which may re-enter the driver [GPU?]: see ask_for_devices().
cupti_abi::Result CuptiSession::enable_devices() const {
  const bool dump = !inside_cu_init_ && cupti_.enable_and_dump != nullptr;
  if (dump && cupti_.enable_and_dump(cupti_abi::kDevice) == cupti_abi::kSuccess) return cupti_abi::kSuccess;
  return cupti_.enable(cupti_abi::kDevice);
}

void CuptiSession::enable_kind(std::uint32_t kind, bool required) {
  const std::string step = "cuptiActivityEnable of kind " + std::to_string(kind);
  const cupti_abi::Result result = kind == cupti_abi::kDevice ? enable_devices() : cupti_.enable(kind);
  if (required) require(result, step);
  if (result == cupti_abi::kSuccess) {
    kinds_.push_back(kind);
  } else {
    fact("cupti.refused." + std::to_string(kind), describe(cupti_, result));
  }
}

// Whether any call could be enabled at both levels. A release may lack some of them.
bool CuptiSession::enable_calls(std::uint8_t on) const {
  if (cupti_.enable_runtime_api == nullptr) return false;
  int runtime = 0;
  int driver = 0;
  for (const std::uint32_t call : cupti_abi::kRuntimeLaunches) {
    if (cupti_.enable_runtime_api(call, on) == cupti_abi::kSuccess) ++runtime;
  }
  for (const std::uint32_t call : cupti_abi::kDriverLaunches) {
    if (cupti_.enable_driver_api(call, on) == cupti_abi::kSuccess) ++driver;
  }
  return runtime > 0 && driver > 0;
}

void CuptiSession::enable_launches() {
  calls_ = enable_calls(1);
  if (calls_) return;
  static_cast<void>(enable_calls(0));  // those of one level may be on
  enable_kind(cupti_abi::kRuntime, true);
  enable_kind(cupti_abi::kDriver, true);
}

void CuptiSession::enable(bool on) {
  for (const std::uint32_t kind : kinds_) {
    if (kind == cupti_abi::kDevice || kind == cupti_abi::kMemory2) continue;
    static_cast<void>(on ? cupti_.enable(kind) : cupti_.disable(kind));
  }
  if (calls_) static_cast<void>(enable_calls(on ? 1 : 0));
}

void CuptiSession::disable_all() {
  for (const std::uint32_t kind : kinds_) static_cast<void>(cupti_.disable(kind));
  if (calls_) static_cast<void>(enable_calls(0));
}

void CuptiSession::undo() {
  disable_all();
  retire_target();
  static_cast<void>(cupti_.unsubscribe(subscriber_));
  stream_.flush();
  stream_.decode_with(nullptr);
}

bool CuptiSession::push_external_id(std::uint64_t range) {
  return cupti_.push_external(cupti_abi::kExternalKindCustom2, range) == cupti_abi::kSuccess;
}

void CuptiSession::pop_external_id() {
  std::uint64_t last = 0;
  static_cast<void>(cupti_.pop_external(cupti_abi::kExternalKindCustom2, &last));
}

// Once work was seen, the driver has started for sure.
void CuptiSession::ask_for_devices() {
  const ActivityCounts& seen = decoder_.counts();
  if (!inside_cu_init_ || cupti_.enable_and_dump == nullptr || seen.launches + seen.kernels + seen.copies == 0) return;
  if (devices_asked_.exchange(true) || seen.devices > 0) return;
  if (std::find(kinds_.begin(), kinds_.end(), cupti_abi::kDevice) == kinds_.end()) return;  // refused: not to be had
  static_cast<void>(cupti_.enable_and_dump(cupti_abi::kDevice));
}

// No lock of ours is held: CUPTI calls back into complete_buffer.
void CuptiSession::flush(bool forced) {
  ask_for_devices();
  static_cast<void>(cupti_.flush_all(forced ? cupti_abi::kFlushForced : 0));
  count_dropped();
  count_lost_buffers();
}

void CuptiSession::count_lost_buffers() {
  if (const std::int64_t count = lost_buffers.exchange(0); count > 0) queue_.add(LossRecord{"lost_buffers", count});
}

void CuptiSession::count_dropped() {
  std::size_t count = 0;
  if (cupti_.dropped_records(nullptr, 0, &count) != cupti_abi::kSuccess || count == 0) return;
  dropped_ += count;
  queue_.add(LossRecord{"dropped_records", static_cast<std::int64_t>(count)});
}

void CuptiSession::run_flush_thread() {
  std::unique_lock lock(flush_mutex_);
  for (int period = 1; !flush_wakes_.wait_for(lock, kClockPeriod, [&] { return finished_; }); ++period) {
    lock.unlock();
    stream_.attempt([&] { flush_and_sample(period); });
    lock.lock();
  }
}

void CuptiSession::flush_and_sample(int period) {
  if (period % kFlushEvery == 0) flush(false);
  if (sample_clocks_) clocks_.sample([&](const ClockRecord& record) { queue_.add(record); });
  if (clocks_.driver() != driver_) fact("driver", driver_ = clocks_.driver());
}

void CuptiSession::finish() {
  {
    const std::lock_guard lock(flush_mutex_);
    if (finished_) return;
    finished_ = true;
  }
  flush_wakes_.notify_all();
  flush_thread_.join();
  // A forced flush hands out buffers with unfinished records too [GPU?], so first what is complete, then no new ones.
  stream_.attempt([&] { flush(false); });
  if (inside_cu_init_ && !devices_asked_) {  // a short program: nothing was decoded before
    stream_.attempt([&] { stream_.flush(); });
    stream_.attempt([&] { ask_for_devices(); });
  }
  disable_all();
  stream_.attempt([&] { flush(true); });
  retire_target();
  static_cast<void>(cupti_.unsubscribe(subscriber_));
}

}  // namespace debubble
