#include "profiler/cupti/recorder.hpp"

#include "profiler/cupti/recording.hpp"

namespace debubble {

struct Recorder::State {
  explicit State(const std::string& file) : recording(file) {}
  Recording recording;
  State* before = nullptr;  // abandoned before this one
};

namespace {

// Recordings of the parent process: their threads do not run here, so nothing of them may be destroyed.
void* abandoned = nullptr;

}  // namespace

Recorder::Recorder(const RecorderOptions& options) : state_(std::make_unique<State>(options.file)) {
  state_->recording.start_gpu(options);
}

Recorder::~Recorder() = default;

// Without a state the recorder was abandoned: everything does nothing.
void Recorder::push(std::string_view text) {
  if (state_ != nullptr) state_->recording.push(text);
}
void Recorder::pop() {
  if (state_ != nullptr) state_->recording.pop();
}
void Recorder::pause() {
  if (state_ != nullptr) state_->recording.pause();
}
void Recorder::resume() {
  if (state_ != nullptr) state_->recording.resume();
}
void Recorder::fact(std::string_view key, std::string_view value) {
  if (state_ != nullptr) state_->recording.fact(key, value);
}
void Recorder::flush() {
  if (state_ != nullptr) state_->recording.flush();
}
RecorderSummary Recorder::stop() { return state_ == nullptr ? RecorderSummary{} : state_->recording.stop(); }

void Recorder::abandon() {
  if (state_ == nullptr) return;
  state_->recording.abandon();
  state_->before = static_cast<State*>(abandoned);
  abandoned = state_.release();
}

}  // namespace debubble
