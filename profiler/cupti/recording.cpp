#include "profiler/cupti/recording.hpp"

#include "profiler/cupti/process_facts.hpp"
#include "profiler/cupti/refusals.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

UnavailableError no_gpu_records(std::uint64_t launches) {
  return UnavailableError(
      {"U041", "", std::to_string(launches) + " launches were seen, but no GPU work came back from CUPTI",
       "another client of CUPTI in this process takes the records: remove torch.profiler from the script and unset "
       "KINETO_USE_DAEMON, or record with torch.profiler and use debubble import --from kineto"});
}

}  // namespace

Recording::Recording(const std::string& file) : stream_(file) {
  for (const auto& [key, value] : process_facts()) fact(key, value);
}

Recording::~Recording() {
  try {
    stop();
  } catch (const UnavailableError&) {
    // Who wanted to know has called stop().
  }
}

void Recording::start_gpu(const RecorderOptions& options) {
  session_ = std::make_unique<CuptiSession>(load_cupti(options.cupti_library), options, stream_);
  gpu_ = session_.get();
  stream_.ranges().attach(session_.get());
}

void Recording::pause() {
  CuptiSession* const gpu = gpu_;
  if (gpu == nullptr || stopped_ || paused_.exchange(true)) return;
  stream_.ranges().set_pushing_ids(false);
  gpu->enable(false);
  stream_.queue().add(SwitchRecord{.time = now(), .recording = false});
}

void Recording::resume() {
  CuptiSession* const gpu = gpu_;
  if (gpu == nullptr || stopped_ || !paused_.exchange(false)) return;
  stream_.queue().add(SwitchRecord{.time = now(), .recording = true});
  gpu->enable(true);
  stream_.ranges().set_pushing_ids(true);
}

void Recording::fact(std::string_view key, std::string_view value) { stream_.queue().add(FactRecord{key, value}); }

void Recording::loss(std::string_view what, std::int64_t count) { stream_.queue().add(LossRecord{what, count}); }

void Recording::flush() {
  if (stopped_) return;
  if (CuptiSession* const gpu = gpu_; gpu != nullptr) gpu->flush(false);
  stream_.flush();
}

RecorderSummary Recording::stop() {
  if (stopped_.exchange(true)) return {};
  if (session_ != nullptr) session_->finish();
  stream_.ranges().attach(nullptr);
  stream_.close();
  RecorderSummary summary;
  summary.write_failed = stream_.failed();
  if (session_ == nullptr) return summary;
  const ActivityCounts& counts = session_->counts();
  summary.kernels = counts.kernels;
  summary.copies = counts.copies;
  summary.launches = counts.launches;
  summary.timeless = counts.timeless;
  summary.dropped = session_->dropped();
  if (!session_->disbelief().empty()) throw senseless_records(session_->library(), session_->disbelief());
  if (summary.launches > 0 && summary.kernels + summary.copies == 0) throw no_gpu_records(summary.launches);
  return summary;
}

void Recording::abandon() {
  stopped_ = true;
  stream_.abandon();
}

}  // namespace debubble
