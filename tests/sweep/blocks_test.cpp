// Blocks come out in order, whoever does them, and a worker that is lost costs its open blocks only.
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "studies/sweep/blocks.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using namespace std::chrono_literals;

SweepBlock block_of(const BlockRange& range) {
  SweepBlock block;
  for (std::int64_t row = range.first; row < range.end; ++row) block.lines += std::to_string(row) + "\n";
  block.tallies[{0, ""}].rows = range.end - range.first;
  return block;
}

std::string lines_of(std::int64_t first, std::int64_t end) { return block_of({0, first, end}).lines; }

std::string read_all(BlockBoard& board) {
  std::string lines;
  while (!board.finished()) {
    if (const auto block = board.next(50ms)) lines += block->lines;
  }
  return lines;
}

TEST_CASE("all rows come once and in order, from any number of workers") {
  for (const int workers : {1, 2, 7}) {
    for (const std::int64_t size : {1, 3, 64}) {
      CAPTURE(workers);
      CAPTURE(size);
      BlockBoard board(5, 213, size, 8);
      std::vector<std::jthread> threads;
      for (int k = 0; k < workers; ++k) {
        threads.emplace_back([&board, k] {
          std::minstd_rand random(static_cast<unsigned>(k));
          while (const auto range = board.take()) {
            if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
            board.put(*range, block_of(*range));
          }
        });
      }
      CHECK(read_all(board) == lines_of(5, 213));
    }
  }
}

TEST_CASE("a worker that is far ahead waits for the reader") {
  BlockBoard board(0, 100, 1, 4);
  std::atomic<int> done = 0;
  std::jthread worker([&] {
    while (const auto range = board.take()) {
      board.put(*range, block_of(*range));
      ++done;
    }
  });
  std::this_thread::sleep_for(30ms);
  CHECK(done <= 4);
  CHECK(read_all(board) == lines_of(0, 100));
}

TEST_CASE("what a lost worker had is done by another, and its late answers change nothing") {
  BlockBoard board(0, 10, 2, 10);
  const auto lost = board.take_now();
  const auto late = board.take_now();
  REQUIRE(lost);
  REQUIRE(late);
  board.give_back(*lost);
  board.give_back(*late);
  board.put(*late, block_of(*late));  // after all
  while (const auto range = board.take_now()) board.put(*range, block_of(*range));
  board.put(*late, block_of(*late));
  CHECK(read_all(board) == lines_of(0, 10));
  board.give_back(*lost);
  CHECK_FALSE(board.take_now());
}

TEST_CASE("what ends the work comes out at the reader's") {
  BlockBoard board(0, 10, 1, 4);
  board.fail(std::make_exception_ptr(std::runtime_error("no more")));
  CHECK_THROWS_WITH((void)board.next(1ms), "no more");
  CHECK_FALSE(board.take());
}

TEST_CASE("nothing to do is done at once") {
  BlockBoard board(7, 7, 4, 4);
  CHECK(board.finished());
  CHECK_FALSE(board.take());
}

}  // namespace
}  // namespace debubble::testing
