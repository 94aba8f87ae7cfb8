// Streams, events, captures and graphs of the fake GPU, in virtual time. See fake_cuda_gpu.hpp.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "tests/recording/fake_cupti.hpp"
#include "tests/workload/fake_cuda_gpu.hpp"

namespace debubble::testing {
namespace {

void tell_kernel(const std::string& name, Nanoseconds begin, Nanoseconds end, std::uint32_t stream) {
  if (const FakeCupti cupti = find_fake_cupti(); cupti.launch != nullptr) {
    cupti.launch(name.c_str(), static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), stream);
  }
}

bool is_done(const std::vector<Nanoseconds>& ends, const std::vector<std::size_t>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&ends](std::size_t node) { return ends[node] >= 0; });
}

// One launch of a graph under way: every node begins when those before it have ended.
class GraphRun {
 public:
  GraphRun(std::shared_ptr<FakeGraph> graph, Nanoseconds begin)
      : graph_(std::move(graph)), begin_(begin), ends_(graph_->nodes.size(), -1) {}

  bool step() {
    bool all = true;
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      if (ends_[k] < 0) run(k);
      all = all && ends_[k] >= 0;
    }
    return all;
  }
  [[nodiscard]] Nanoseconds end() const {
    return ends_.empty() ? begin_ : std::max(begin_, *std::max_element(ends_.begin(), ends_.end()));
  }

 private:
  void run(std::size_t k) {
    const FakeNode& node = graph_->nodes[k];
    if (!is_done(ends_, node.after) || (node.command.ready && !node.command.ready())) return;
    Nanoseconds begin = begin_;
    for (const std::size_t before : node.after) {
      const bool same = graph_->nodes[before].stream == node.stream;
      begin = std::max(begin, ends_[before] + (same ? kFakeGap : kFakeCrossGap));
    }
    ends_[k] = begin + node.command.duration.value_or(0);
    if (node.command.run) node.command.run(begin, ends_[k]);
  }

  std::shared_ptr<FakeGraph> graph_;
  Nanoseconds begin_;
  std::vector<Nanoseconds> ends_;
};

void join(std::vector<std::size_t>& to, const std::vector<std::size_t>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

}  // namespace

void FakeGpu::add(FakeStream& stream, FakeCommand command) {
  if (stream.capture != nullptr) {
    stream.capture->nodes.push_back({std::move(command), stream.number, stream.last_captured});
    stream.last_captured = {stream.capture->nodes.size() - 1};
    return;
  }
  wait_for_room(stream);
  stream.queue.push_back(std::move(command));
  pump();
}

// A launch queue has an end: then the host waits for the GPU. Only another thread can help, by writing to memory.
void FakeGpu::wait_for_room(const FakeStream& stream) {
  wait_until([&stream] { return stream.queue.size() < kFakeQueue; },
             "the host waits for room in a stream that nobody lets begin");
}

void FakeGpu::wait_until_idle() {
  const auto is_idle = [](const FakeStream* stream) { return stream->queue.empty(); };
  wait_until([&] { return std::all_of(all_.begin(), all_.end(), is_idle); },
             "loading a kernel waits for a stream that nobody lets begin");
}

void FakeGpu::wait_until(const std::function<bool()>& condition, const char* problem) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (; !condition(); pump()) {
    if (std::chrono::steady_clock::now() > limit) {
      std::fprintf(stderr, "fake GPU: %s\n", problem);
      std::abort();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool FakeGpu::step(FakeStream& stream) {
  FakeCommand& next = stream.queue.front();
  if (next.ready && !next.ready()) return false;
  const FakeCommand command = std::move(next);
  stream.queue.pop_front();
  if (command.not_before) stream.not_before = std::max(stream.not_before, command.not_before());
  Nanoseconds begin = stream.end;
  if (command.duration) {
    begin = std::max(stream.end + kFakeGap, stream.not_before);
    stream.end = begin + *command.duration;
    latest_ = std::max(latest_, stream.end);
  }
  if (command.run) command.run(begin, stream.end);
  return true;
}

void FakeGpu::pump() {
  if (std::exchange(pumping_, true)) return;
  for (bool moved = true; moved;) {
    moved = false;
    for (FakeStream* const stream : all_) {
      while (!stream->queue.empty() && step(*stream)) moved = true;
    }
  }
  pumping_ = false;
}

void FakeGpu::drain(FakeStream& stream) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (pump(); !stream.queue.empty(); pump()) {
    if (std::chrono::steady_clock::now() > limit) {
      std::fprintf(stderr, "fake GPU: somebody waits for a stream that cannot go on\n");
      std::abort();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void FakeGpu::kernel(FakeStream& stream, const std::string& name, Nanoseconds duration,
                     const std::function<void(Nanoseconds)>& run, const std::function<bool()>& ready) {
  const std::uint32_t number = stream.number;
  add(stream, {ready, {}, duration, [this, name, run, number](Nanoseconds begin, Nanoseconds end) {
                 if (value("fail_run") == name) broken = 700;
                 run(begin);
                 tell_kernel(name, begin, end, number);
               }});
}

void FakeGpu::copy(FakeStream& stream, std::uint8_t kind, std::size_t bytes, const std::function<void()>& run) {
  const std::uint32_t number = stream.number;
  add(stream, {{},
               {},
               fake_transfer_time(static_cast<Bytes>(bytes)),
               [run, kind, bytes, number](Nanoseconds begin, Nanoseconds end) {
                 run();
                 if (const FakeCupti cupti = find_fake_cupti(); cupti.copy != nullptr) {
                   cupti.copy(kind, bytes, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), number);
                 }
               }});
}

void FakeGpu::set(FakeStream& stream, std::size_t bytes, const std::function<void()>& run) {
  const std::uint32_t number = stream.number;
  add(stream,
      {{}, {}, fake_transfer_time(static_cast<Bytes>(bytes)), [run, bytes, number](Nanoseconds begin, Nanoseconds end) {
         run();
         if (const FakeCupti cupti = find_fake_cupti(); cupti.set != nullptr) {
           cupti.set(bytes, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), number);
         }
       }});
}

void FakeGpu::record(FakeEvent& event, FakeStream& stream) {
  event.capture = stream.capture;
  event.captured = stream.last_captured;
  if (stream.capture != nullptr) {
    event.mark = nullptr;
    return;
  }
  const auto mark = std::make_shared<FakeMark>();
  mark->stream = stream.number;
  event.mark = mark;
  FakeStream* const on = &stream;
  add(stream, {{}, {}, std::nullopt, [mark, on](Nanoseconds, Nanoseconds end) {
                 mark->reached = true;
                 mark->time = std::max(end, on->not_before);
               }});
}

void FakeGpu::wait(FakeStream& stream, const FakeEvent& event) {
  if (event.capture != nullptr) {
    stream.capture = event.capture;  // it joins
    join(stream.last_captured, event.captured);
    return;
  }
  const std::shared_ptr<FakeMark> mark = event.mark;
  if (mark == nullptr || mark->stream == stream.number) return;
  add(stream, {[mark] { return mark->reached; }, [mark] { return mark->time + kFakeCrossGap; }, std::nullopt, {}});
}

// The moment at which the host wrote, on the GPU's clock: behind all that was done before.
Nanoseconds FakeGpu::released(const volatile std::uint32_t* word, std::uint32_t value) {
  return releases_.try_emplace({word, value}, latest_ + kFakeCrossGap).first->second;
}

void FakeGpu::wait_for_value(FakeStream& stream, const volatile std::uint32_t* word, std::uint32_t value) {
  releases_.erase({word, value});
  add(stream, {[word, value] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= value; },
               [this, word, value] { return released(word, value); },
               std::nullopt,
               {}});
}

void FakeGpu::launch_graph(FakeStream& stream, const std::shared_ptr<FakeGraph>& graph) {
  const auto run = std::make_shared<std::unique_ptr<GraphRun>>();
  FakeStream* const on = &stream;
  add(stream, {[run, graph, on] {
                 if (*run == nullptr) {
                   *run = std::make_unique<GraphRun>(graph, std::max(on->end + kFakeGap, on->not_before));
                 }
                 return (*run)->step();
               },
               {},
               std::nullopt,
               [this, run, on](Nanoseconds, Nanoseconds) {
                 on->end = (*run)->end();
                 latest_ = std::max(latest_, on->end);
               }});
}

std::shared_ptr<FakeGraph> FakeGpu::end_capture(FakeStream& origin) {
  const std::shared_ptr<FakeGraph> graph = origin.capture;
  std::vector<bool> reached(graph->nodes.size(), false);
  std::vector<std::size_t> open = origin.last_captured;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    open.insert(open.end(), graph->nodes[node].after.begin(), graph->nodes[node].after.end());
  }
  for (FakeStream* const stream : all_) {
    if (stream->capture != graph) continue;
    stream->capture = nullptr;
    stream->last_captured.clear();
  }
  const bool joined = std::all_of(reached.begin(), reached.end(), [](bool node) { return node; });
  return joined ? graph : nullptr;
}

bool FakeGpu::is_capturing() const {
  return std::any_of(all_.begin(), all_.end(), [](const FakeStream* stream) { return stream->capture != nullptr; });
}

FakeStream* FakeGpu::make_stream(const FakeContext* context) {
  auto* const made = new FakeStream;
  made->number = ++streams_;
  made->context = context;
  made->end = latest_;
  all_.insert(made);
  return made;
}

void FakeGpu::destroy(FakeStream* stream) {
  drain(*stream);
  all_.erase(stream);
  delete stream;
}

}  // namespace debubble::testing
