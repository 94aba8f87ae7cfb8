#include "tests/live/mpi/thread_world.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace debubble::testing {

class ThreadWorld::Rank final : public live::MessagePassing {
 public:
  Rank(ThreadWorld& world, int rank) : world_(world), rank_(rank) { edges_.emplace_back(-1, -1); }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_.ranks_.size()); }
  int rank_on_host() const override { return 0; }
  int ranks_on_host() const override { return 1; }
  const char* host() const override { return host_.c_str(); }
  const char* library() const override { return "threads"; }

  int open_edge(int from, int to) override {
    edges_.emplace_back(from, to);
    return static_cast<int>(edges_.size()) - 1;
  }

  Request send(int edge, int to, const std::byte* data, std::size_t bytes) override {
    const std::pair<int, int> ends = edges_.at(static_cast<std::size_t>(edge));
    Letter letter{rank_, {data, data + bytes}, std::make_shared<std::atomic<bool>>(!world_.hold_)};
    sends_[++next_] = letter.taken;
    const std::lock_guard lock(world_.mutex_);
    world_.boxes_[{edge == kAllRanks ? to : ends.second, ends}].push_back(std::move(letter));
    return next_;
  }

  std::int64_t arrived(int edge, int& from) override {
    const std::lock_guard lock(world_.mutex_);
    box_ = &world_.boxes_[{rank_, edges_.at(static_cast<std::size_t>(edge))}];
    if (box_->empty()) return -1;
    from = box_->front().from;
    return static_cast<std::int64_t>(box_->front().bytes.size());
  }

  Request receive(std::byte* data, std::size_t bytes) override {
    const std::lock_guard lock(world_.mutex_);
    const Letter letter = std::move(box_->front());
    box_->pop_front();
    std::copy_n(letter.bytes.begin(), bytes, data);
    *letter.taken = true;
    return kDoneAtOnce;
  }

  bool done(Request request) override {
    if (request == kDoneAtOnce) return true;
    if (request < 0) {
      const std::lock_guard lock(world_.mutex_);
      return std::all_of(world_.barriers_.begin(), world_.barriers_.end(), [&](int n) { return n >= -request; });
    }
    return *sends_.at(request);
  }

  Request start_barrier() override {
    const std::lock_guard lock(world_.mutex_);
    return -++world_.barriers_[static_cast<std::size_t>(rank_)];
  }

  void finish() override {}
  void abort() override {}

 private:
  static constexpr Request kDoneAtOnce = 0;

  ThreadWorld& world_;
  int rank_;
  std::string host_ = "host" + std::to_string(rank_);
  std::vector<std::pair<int, int>> edges_;
  std::map<Request, std::shared_ptr<std::atomic<bool>>> sends_;
  std::deque<Letter>* box_ = nullptr;
  Request next_ = 0;
};

ThreadWorld::ThreadWorld(int ranks, bool hold) : hold_(hold), barriers_(static_cast<std::size_t>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<Rank>(*this, rank));
}

ThreadWorld::~ThreadWorld() = default;

void ThreadWorld::run(const std::function<void(live::MessagePassing&)>& work) {
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Rank>& rank : ranks_) threads.emplace_back([&work, &rank] { work(*rank); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace debubble::testing
