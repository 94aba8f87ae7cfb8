// FakeGpu: the state behind the fake CUDA libraries: options, memory, streams and time. See fake_cuda.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/workload/fake_cuda.hpp"

namespace debubble::testing {

// A GPU's primary context, or a green one: a part of its processors.
struct FakeContext {
  int gpu = 0;
  unsigned processors = 0;
  bool green = false;
};

// One thing that a stream, or a node of a graph, does. It begins when the last one on its stream has ended and what it
// waits for has happened; then `run` gets its begin and end.
struct FakeCommand {
  std::function<bool()> ready;              // empty: always
  std::function<Nanoseconds()> not_before;  // asked once ready; empty: no matter
  std::optional<Nanoseconds> duration;      // nothing: takes no time, and no gap before it
  std::function<void(Nanoseconds begin, Nanoseconds end)> run;
};

// What cuEventRecord marked: one point of one stream, reached or not.
struct FakeMark {
  bool reached = false;
  Nanoseconds time = 0;
  std::uint32_t stream = 0;
};

struct FakeNode {
  FakeCommand command;
  std::uint32_t stream = 0;
  std::vector<std::size_t> after;
};
struct FakeGraph {
  std::vector<FakeNode> nodes;
};

// What one stream does, in order. Work that cannot begin yet waits, and all behind it.
struct FakeStream {
  std::uint32_t number = 0;
  const FakeContext* context = nullptr;
  Nanoseconds end = 0;         // of what was done so far
  Nanoseconds not_before = 0;  // what follows waits for another stream until then
  std::deque<FakeCommand> queue;
  std::shared_ptr<FakeGraph> capture;      // while it is being captured: all streams of a capture share one
  std::vector<std::size_t> last_captured;  // nodes that its next node follows
};

struct FakeEvent {
  const FakeContext* context = nullptr;
  std::shared_ptr<FakeMark> mark;      // nothing: never recorded
  std::shared_ptr<FakeGraph> capture;  // recorded while capturing: the capture, and the nodes before it
  std::vector<std::size_t> captured;
};

// A module is the text of its kernels.
struct FakeModule {
  std::string text;
};

class FakeGpu {
 public:
  static FakeGpu& one();

  // $FAKE_CUDA, as it is now: tests change it between cases.
  [[nodiscard]] static bool has(std::string_view word);
  [[nodiscard]] static std::string value(std::string_view word);
  [[nodiscard]] static std::int64_t number(std::string_view word, std::int64_t otherwise);

  // What `function` returns instead of doing anything; 0: it works.
  [[nodiscard]] static int refusal(std::string_view function);

  // What $CUDA_VISIBLE_DEVICES, a list of numbers, leaves of the GPUs; -1: there is none of this number. As CUDA's, an
  // entry that is no GPU ends the list (CUDA C++ Programming Guide, "CUDA Environment Variables").
  [[nodiscard]] static int visible_gpus();
  [[nodiscard]] static int visible_gpu(int ordinal);

  // nullptr: out of memory.
  [[nodiscard]] void* allocate(std::size_t bytes);
  [[nodiscard]] bool release(void* address);
  [[nodiscard]] std::size_t free_memory() const;

  // Each goes to the stream's queue, or into the graph that the stream is being captured into; `run` is what it does
  // to memory. The fake CUPTI hears of it when it is done.
  void kernel(FakeStream& stream, const std::string& name, Nanoseconds duration,
              const std::function<void(Nanoseconds)>& run, const std::function<bool()>& ready = {});
  void copy(FakeStream& stream, std::uint8_t kind, std::size_t bytes, const std::function<void()>& run);
  void set(FakeStream& stream, std::size_t bytes, const std::function<void()>& run);
  void record(FakeEvent& event, FakeStream& stream);
  void wait(FakeStream& stream, const FakeEvent& event);
  void wait_for_value(FakeStream& stream, const volatile std::uint32_t* word, std::uint32_t value);
  void launch_graph(FakeStream& stream, const std::shared_ptr<FakeGraph>& graph);
  // nullptr: a stream that left the origin has not come back.
  [[nodiscard]] std::shared_ptr<FakeGraph> end_capture(FakeStream& origin);

  [[nodiscard]] bool is_capturing() const;

  // Does all that can be done, on every stream.
  void pump();
  // Waits until nothing is left to do; a stream that nothing can free any more ends the process.
  void wait_until_idle();
  // Waits for a stream; one that nothing can free any more ends the process.
  void drain(FakeStream& stream);

  [[nodiscard]] FakeStream* make_stream(const FakeContext* context);
  void destroy(FakeStream* stream);
  // The stream of a null handle, which exists always.
  [[nodiscard]] FakeStream& default_stream() { return default_stream_; }

  [[nodiscard]] FakeContext& primary(int gpu) { return primaries_[gpu]; }
  const FakeContext* current = nullptr;
  std::set<std::pair<int, int>> peers;  // who may reach whose memory

  int broken = 0;  // error of a kernel that broke the context; every later synchronisation returns it
  std::int64_t live_objects = 0;
  [[nodiscard]] std::int64_t live_bytes() const { return static_cast<std::int64_t>(used_); }

 private:
  FakeGpu();
  void add(FakeStream& stream, FakeCommand command);
  void wait_for_room(const FakeStream& stream);
  void wait_until(const std::function<bool()>& condition, const char* problem);
  bool step(FakeStream& stream);
  [[nodiscard]] Nanoseconds released(const volatile std::uint32_t* word, std::uint32_t value);

  std::map<void*, std::size_t> sizes_;
  std::size_t used_ = 0;
  Nanoseconds latest_ = 0;
  std::uint32_t streams_ = 7;  // CUPTI counts from the default stream's 7
  FakeStream default_stream_;
  std::set<FakeStream*> all_;
  std::map<int, FakeContext> primaries_;
  std::map<std::pair<const volatile std::uint32_t*, std::uint32_t>, Nanoseconds> releases_;
  bool pumping_ = false;
};

}  // namespace debubble::testing
