// fake_training: a training program whose GPU is the fake libcupti, with kernels of known lengths. It plays the CUDA
// driver's and NVTX's part, so under `debubble profile -- fake_training` (DEBUBBLE_CUPTI=libfake_cupti.so) the whole
// path runs and every sum is known beforehand:
//
//     step s    copy to device 2000 ns, 1 MiB, in no layer
//               M times, layers k = 0 .. L-1:      forward      gemm_f 10000 + 1000 k ns, gelu 3000 ns
//                        layers k = L-1 .. 0:      input grad   gemm_i 11000 + 1000 k ns
//                                                  weight grad  gemm_w 12000 + 1000 k ns, bias_w 1000 ns
//               optimizer kernel "adam" 5000 ns, in no layer
//
// Forward of layer k allocates (k + 1) MiB, backward releases it. Ranges:
//
//     step      debubble.step:S around everything
//     explicit  debubble.layer:block.K > debubble.phase:F, I and W  (default; with --backward-whole: B around both)
//     autograd  forward debubble.layer:block.K > "aten::addmm, seq = N, ..., sizes = [...]" and "aten::gelu, seq = N";
//               backward on a second thread, as PyTorch's emit_nvtx writes it; no phases
//
//     --steps N (10)   --microbatches N (2)   --layers N (3)   --style explicit|autograd (explicit)
//     --backward-whole          explicit style: one phase B instead of I and W
//     --hooks                   layer and phase ranges through debubble_push instead of NVTX, as our Python hooks do
//     --step-us N (0)           a step takes at least this long on the host
//     --threads N (1)           so many threads train at once, thread t with layers "tT.block.K"
//     --no-driver               never initialises the GPU
//     --init-in-range           initialises it inside an open range "setup" instead of before
//     --first-layer N (0)       its layers are block.N and on, k = N, N+1, ...: a stage of a pipeline
//     --embedding NS (0)        a layer "embedding" before them whose forward, I and W are a kernel of so many ns each
//     --head NS (0)             a layer "head" behind them, likewise
//     --outside NS (0)          a kernel in every step that is in no layer
//     --unbalanced              pops too many, and ranges that are never popped, in every step
//     --odd-ranges              wide texts, marks, process ranges, an NCCL domain, crossing domains, registered strings
//     --fork-at N               step N forks a child that pushes ranges, launches and exits normally
//     --fork-first              forks before anything; the child trains, the parent waits and returns its status
//     --kill-at N               step N ends in SIGKILL, after a second
//     --sigwait                 blocks SIGTERM once the GPU is used, sends it to itself and waits for it
//     --exit N (0)              exit status
//
// Prints "works COUNT total NANOSECONDS" of all GPU work it issued.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/recording/fake_driver.hpp"

namespace {

using debubble::testing::FakeDriver;
using debubble::testing::FakeNvtx;

struct Options {
  int steps = 10;
  int microbatches = 2;
  int layers = 3;
  bool autograd = false;
  bool backward_whole = false;
  bool hooks = false;
  int step_us = 0;
  int threads = 1;
  int first_layer = 0;
  int embedding = 0;
  int head = 0;
  int outside = 0;
  bool driver = true;
  bool init_in_range = false;
  bool unbalanced = false;
  bool odd_ranges = false;
  int fork_at = -1;
  bool fork_first = false;
  bool sigwait = false;
  int kill_at = -1;
  std::vector<std::string> load;  // libraries of a framework, loaded before CUDA begins
  int status = 0;
};

[[noreturn]] void usage(const std::string& word) {
  std::fprintf(stderr, "fake_training: what is %s?\n", word.c_str());
  std::exit(96);
}

bool read_flag(const std::string& word, Options& options) {
  if (word == "--backward-whole") return options.backward_whole = true;
  if (word == "--hooks") return options.hooks = true;
  if (word == "--no-driver") return !(options.driver = false);
  if (word == "--init-in-range") return options.init_in_range = true;
  if (word == "--unbalanced") return options.unbalanced = true;
  if (word == "--odd-ranges") return options.odd_ranges = true;
  if (word == "--sigwait") return options.sigwait = true;
  if (word == "--fork-first") return options.fork_first = true;
  return false;
}

bool read_value(const std::string& word, const std::string& value, Options& options) {
  const int number = std::atoi(value.c_str());
  if (word == "--steps") return options.steps = number, true;
  if (word == "--load") return options.load.push_back(value), true;
  if (word == "--microbatches") return options.microbatches = number, true;
  if (word == "--layers") return options.layers = number, true;
  if (word == "--step-us") return options.step_us = number, true;
  if (word == "--threads") return options.threads = number, true;
  if (word == "--first-layer") return options.first_layer = number, true;
  if (word == "--embedding") return options.embedding = number, true;
  if (word == "--head") return options.head = number, true;
  if (word == "--outside") return options.outside = number, true;
  if (word == "--fork-at") return options.fork_at = number, true;
  if (word == "--kill-at") return options.kill_at = number, true;
  if (word == "--exit") return options.status = number, true;
  if (word != "--style" || (value != "explicit" && value != "autograd")) return false;
  options.autograd = value == "autograd";
  return true;
}

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    if (read_flag(words[i], options)) continue;
    if (i + 1 >= count || !read_value(words[i], words[i + 1], options)) usage(words[i]);
    ++i;
  }
  return options;
}

// Ranges of our Python hooks; NVTX's where --hooks is not given.
class Ranges {
 public:
  Ranges(FakeNvtx& nvtx, bool hooks) : nvtx_(nvtx) {
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = hooks && path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
    if (library == nullptr) return;
    push_ = reinterpret_cast<int (*)(const char*)>(dlsym(library, "debubble_push"));
    pop_ = reinterpret_cast<int (*)()>(dlsym(library, "debubble_pop"));
  }
  void push(const std::string& text) {
    if (push_ != nullptr) return static_cast<void>(push_(text.c_str()));
    nvtx_.push(text);
  }
  void pop() {
    if (pop_ != nullptr) return static_cast<void>(pop_());
    nvtx_.pop();
  }

 private:
  FakeNvtx& nvtx_;
  int (*push_)(const char*) = nullptr;
  int (*pop_)() = nullptr;
};

class Training {
 public:
  Training(const Options& options, FakeDriver& driver, FakeNvtx& nvtx, int thread)
      : options_(options), driver_(driver), nvtx_(nvtx), ranges_(nvtx, options.hooks), thread_(thread) {}

  void run() {
    for (int step = 0; step < options_.steps; ++step) run_step(step);
  }

 private:
  std::string layer(int k) const {
    const std::string name = "block." + std::to_string(k);
    return options_.threads > 1 ? "t" + std::to_string(thread_) + "." + name : name;
  }
  std::int64_t memory_of(int k) const { return (k + 1) * (std::int64_t{1} << 20U); }

  void run_step(int step) {
    const auto begin = std::chrono::steady_clock::now();
    if (thread_ == 0) nvtx_.push("debubble.step:" + std::to_string(step));
    driver_.copy_to_device(1U << 20U, 2000);
    for (int m = 0; m < options_.microbatches; ++m) {
      const std::int64_t sequence = sequence_;
      around("embedding", options_.embedding, "F");
      for (int k = 0; k < options_.layers; ++k) forward(options_.first_layer + k);
      around("head", options_.head, "F");
      for (const char* const phase : {"I", "W"}) around("head", options_.head, phase);
      backward(sequence);
      for (const char* const phase : {"I", "W"}) around("embedding", options_.embedding, phase);
    }
    if (options_.outside > 0) driver_.kernel("outside", static_cast<unsigned>(options_.outside));
    trouble(step);
    driver_.kernel("adam", 5000);
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(options_.step_us)) {
    }
    if (thread_ == 0) nvtx_.pop();
  }

  void around(const std::string& name, int time, const std::string& phase) {
    if (time == 0) return;
    ranges_.push("debubble.layer:" + name);
    ranges_.push("debubble.phase:" + phase);
    driver_.kernel(name, static_cast<unsigned>(time));
    ranges_.pop();
    ranges_.pop();
  }

  void forward(int k) {
    ranges_.push("debubble.layer:" + layer(k));
    if (!options_.autograd) ranges_.push("debubble.phase:F");
    driver_.memory(0x1000'0000U * static_cast<unsigned>(k + 1), memory_of(k));
    const std::string seq = std::to_string(sequence_++);
    if (options_.autograd) nvtx_.push("aten::addmm, seq = " + seq + ", op_id = 1, sizes = [[32], [8, 16], [16, 32]]");
    driver_.kernel("gemm_f", 10'000U + 1000U * static_cast<unsigned>(k));
    if (options_.autograd) nvtx_.pop();
    if (options_.autograd) {
      nvtx_.push("aten::gelu, seq = " + std::to_string(sequence_++) + ", op_id = 2, sizes = [[8, 32]]");
    }
    driver_.kernel("gelu", 3000);
    nvtx_pop_if(options_.autograd);
    if (!options_.autograd) ranges_.pop();
    ranges_.pop();
  }

  void nvtx_pop_if(bool on) {
    if (on) nvtx_.pop();
  }

  void backward(std::int64_t sequence) {
    if (!options_.autograd) {
      for (int k = options_.layers - 1; k >= 0; --k) backward_explicit(options_.first_layer + k);
      return;
    }
    std::thread([&] {
      for (int k = options_.layers - 1; k >= 0; --k) backward_autograd(options_.first_layer + k, sequence + 2 * k);
    }).join();
  }

  void backward_explicit(int k) {
    ranges_.push("debubble.layer:" + layer(k));
    ranges_.push(options_.backward_whole ? "debubble.phase:B" : "debubble.phase:I");
    driver_.kernel("gemm_i", 11'000U + 1000U * static_cast<unsigned>(k));
    if (!options_.backward_whole) ranges_.pop();
    if (!options_.backward_whole) ranges_.push("debubble.phase:W");
    driver_.kernel("gemm_w", 12'000U + 1000U * static_cast<unsigned>(k));
    driver_.kernel("bias_w", 1000);
    driver_.memory(0x1000'0000U * static_cast<unsigned>(k + 1), -memory_of(k));
    ranges_.pop();
    ranges_.pop();
  }

  void backward_autograd(int k, std::int64_t sequence) {
    const std::string seq = ", seq = " + std::to_string(sequence);
    nvtx_.push("autograd::engine::evaluate_function: AddmmBackward0");
    nvtx_.push("AddmmBackward0" + seq + ", op_id = 3, sizes = [[8, 32]]");
    nvtx_.push("aten::mm, op_id = 4, sizes = [[8, 32], [32, 16]]");
    driver_.kernel("gemm_i", 11'000U + 1000U * static_cast<unsigned>(k));
    nvtx_.pop();
    nvtx_.push("aten::mm, op_id = 5, sizes = [[16, 8], [8, 32]]");
    driver_.kernel("gemm_w", 12'000U + 1000U * static_cast<unsigned>(k));
    nvtx_.pop();
    nvtx_.push("aten::sum, op_id = 6, sizes = [[8, 32], [], [], []]");
    driver_.kernel("bias_w", 1000);
    nvtx_.pop();
    nvtx_.pop();
    nvtx_.pop();
    driver_.memory(0x1000'0000U * static_cast<unsigned>(k + 1), -memory_of(k));
  }

  void trouble(int step) {
    if (options_.unbalanced) unbalanced_ranges(step);
    if (options_.odd_ranges) odd_ranges();
    if (step == options_.fork_at) fork_child();
    if (step != options_.kill_at) return;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    raise(SIGKILL);
  }

  // Inside of a layer that our hooks close all the same; then more pops than pushes on a thread of their own.
  void unbalanced_ranges(int step) {
    ranges_.push("debubble.layer:leaky");
    nvtx_.push("never popped " + std::to_string(step));
    ranges_.pop();
    std::thread([&] {
      nvtx_.pop();
      nvtx_.push("fine");
      nvtx_.pop();
      nvtx_.pop();
    }).join();
  }

  void odd_ranges() {
    nvtx_.push_wide();
    nvtx_.mark("a mark");
    nvtx_.end(nvtx_.start("across threads"));
    const void* const nccl = nvtx_.domain("NCCL");
    nvtx_.domain_push(nccl, "ncclAllReduce");
    const void* const a = nvtx_.domain("library a");
    const void* const b = nvtx_.domain("library b");
    nvtx_.domain_push(a, nvtx_.registered(a, "registered text"));
    nvtx_.domain_push(b, "crossing");
    driver_.kernel("inside crossing", 100);
    nvtx_.domain_pop(a);
    driver_.kernel("behind registered", 100);
    nvtx_.domain_pop(b);
    nvtx_.pop();
  }

  void fork_child() {
    const pid_t child = fork();
    if (child == 0) {
      nvtx_.push("in the child");
      driver_.kernel("of the child", 1);
      nvtx_.pop();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::exit(95);
  }

  const Options& options_;
  FakeDriver& driver_;
  FakeNvtx& nvtx_;
  Ranges ranges_;
  int thread_;
  std::int64_t sequence_ = 0;
};

// Only a thread that does not block the signal could take it: one that the recording has started.
void wait_for_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // a thread blocks all signals while it starts
  kill(getpid(), SIGTERM);
  int signal = 0;
  if (sigwait(&set, &signal) != 0 || signal != SIGTERM) std::exit(93);
}

void load_library(const std::string& library) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  std::fprintf(stderr, "fake_training: %s\n", dlerror());
  std::exit(92);
}

void train(const Options& options) {
  for (const std::string& library : options.load) load_library(library);
  FakeDriver driver;
  if (options.driver && !options.init_in_range) driver.init();
  FakeNvtx nvtx;
  if (options.init_in_range) {
    nvtx.push("setup");
    driver.init();
    driver.kernel("first", 700);
    nvtx.pop();
  }
  if (options.sigwait) wait_for_signal();
  std::vector<std::thread> others;
  for (int t = 1; t < options.threads; ++t) {
    others.emplace_back([&, t] { Training(options, driver, nvtx, t).run(); });
  }
  Training(options, driver, nvtx, 0).run();
  for (std::thread& other : others) other.join();
  std::printf("works %llu total %llu\n", static_cast<unsigned long long>(driver.works()),
              static_cast<unsigned long long>(driver.total()));
}

}  // namespace

int main(int count, char** words) {
  const Options options = read_options(count, words);
  if (options.fork_first) {
    FakeNvtx nvtx;
    nvtx.push("before the fork");
    nvtx.pop();
    const pid_t child = fork();
    int status = 0;
    if (child != 0) return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 94;
  }
  train(options);
  return options.status;
}
