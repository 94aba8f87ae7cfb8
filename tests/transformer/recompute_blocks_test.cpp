// --recompute-blocks: some blocks of a stage make their activations again, or several from one input.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using BlocksJson = nlohmann::json;

// 24 blocks in 4 stages of 6, on which all blocks are alike.
BlocksJson blocks_run(const Folder& folder, std::vector<std::string> more) {
  std::vector<std::string> flags{"simulate", "--model",  "gpt-2.7b", "--model-size", "layers=24", "-p",
                                 "4",        "-m",       "8",        "--partition",  "even",      "--hardware",
                                 "a100-80",  "--format", "json"};
  flags.insert(flags.end(), more.begin(), more.end());
  return BlocksJson::parse(folder.data(flags));
}

BlocksJson blocks_run(const Folder& folder, const std::string& which) {
  return blocks_run(folder, std::vector<std::string>{"--recompute", "full", "--recompute-blocks", which});
}

void check_same(const BlocksJson& one, const BlocksJson& other) {
  CHECK(one["makespan_ns"] == other["makespan_ns"]);
  CHECK(one["devices"] == other["devices"]);
}

std::int64_t busy(const BlocksJson& run, std::size_t device) { return run["devices"][device]["busy_ns"]; }
std::int64_t held(const BlocksJson& run, std::size_t device) { return run["devices"][device]["peak_activation_bytes"]; }

TEST_CASE("no block is as without recomputation, all blocks are as with it") {
  const Folder folder;
  check_same(blocks_run(folder, "first:0"), blocks_run(folder, std::vector<std::string>{}));
  const BlocksJson full = blocks_run(folder, std::vector<std::string>{"--recompute", "full"});
  for (const char* all : {"first:6", "first:99", "every:1", "chunks:1", "0-23"})
    check_same(blocks_run(folder, all), full);
}

TEST_CASE("N of a stage's L blocks add N/L of what all add, in time, and memory lies between") {
  const Folder folder;
  const BlocksJson none = blocks_run(folder, std::vector<std::string>{});
  const BlocksJson full = blocks_run(folder, std::vector<std::string>{"--recompute", "full"});
  for (int count = 1; count < 6; ++count) {
    const BlocksJson some = blocks_run(folder, "first:" + std::to_string(count));
    for (std::size_t d = 0; d < 4; ++d) {
      CHECK(6 * (busy(some, d) - busy(none, d)) == count * (busy(full, d) - busy(none, d)));
    }
    CHECK(held(some, 0) < held(none, 0));
    CHECK(held(some, 0) > held(full, 0));
  }
  const BlocksJson half = blocks_run(folder, "every:2");
  for (std::size_t d = 0; d < 4; ++d) CHECK(2 * (busy(half, d) - busy(none, d)) == busy(full, d) - busy(none, d));
}

TEST_CASE("blocks by number are those of the model, whatever the stage") {
  const Folder folder;
  check_same(blocks_run(folder, "6-11"),
             blocks_run(folder, std::vector<std::string>{"--recompute", "full", "--recompute-stages", "1"}));
  check_same(blocks_run(folder, "0,6,12,18"), blocks_run(folder, "first:1"));
}

TEST_CASE("one input for several blocks takes as long as full, and N times fewer inputs are kept") {
  const Folder folder;
  const BlocksJson full = blocks_run(folder, std::vector<std::string>{"--recompute", "full"});
  const BlocksJson chunks = blocks_run(folder, "chunks:3");
  CHECK(chunks["makespan_ns"] == full["makespan_ns"]);
  // Of a device without embedding and head.
  CHECK(3 * held(chunks, 1) == held(full, 1));
  // What a chunk makes again is there at once.
  const auto workspace = [](const BlocksJson& run) {
    return run["devices"][1]["peak_by_category_bytes"]["workspace"].get<std::int64_t>();
  };
  CHECK(workspace(chunks) > workspace(full));
}

TEST_CASE("interleaved stages count apart, and the memory cut knows what each range of blocks repeats") {
  const Folder folder;
  const std::vector<std::string> interleaved{"--schedule", "interleaved", "-v", "2", "--recompute", "full"};
  const auto with = [&](const std::string& which) {
    std::vector<std::string> flags = interleaved;
    flags.insert(flags.end(), {"--recompute-blocks", which});
    return blocks_run(folder, flags);
  };
  CHECK(with("first:1")["makespan_ns"] == with("0,3,6,9,12,15,18,21")["makespan_ns"]);
  CHECK(with("first:3")["makespan_ns"] == blocks_run(folder, interleaved)["makespan_ns"]);
  const auto cut = [&](const std::string& which) {
    const std::vector<std::string> flags{"simulate", "--model",     "gpt-2.7b", "--model-size", "layers=24", "-p",
                                         "4",        "-m",          "8",        "--partition",  "memory",    "--memory",
                                         "80GiB",    "--recompute", "full",     "--format",     "json"};
    std::vector<std::string> all = flags;
    if (!which.empty()) all.insert(all.end(), {"--recompute-blocks", which});
    return BlocksJson::parse(folder.data(all))["makespan_ns"].get<std::int64_t>();
  };
  CHECK(cut("chunks:1") == cut(""));
  CHECK(cut("first:1") < cut(""));
}

// Two products with weights stay for each that runs again; of two blocks with the same products as many bytes.
TEST_CASE("torchtitan's selection keeps the outputs that it counts, and all of them within a whole budget") {
  const Folder folder;
  const auto with = [&](const std::string& modules) {
    return blocks_run(folder, {"--recompute", "selective", "--recompute-modules", modules});
  };
  const BlocksJson none = blocks_run(folder, std::vector<std::string>{});
  const BlocksJson full = blocks_run(folder, std::vector<std::string>{"--recompute", "full"});
  const BlocksJson op = with("op");
  CHECK(busy(none, 1) < busy(op, 1));
  CHECK(busy(op, 1) < busy(full, 1));
  // Device 1 holds 3 microbatches of 6 blocks. Of 2048 tokens, 2560 wide: the input, queries, values, attention with a
  // 32-bit sum for each of 32 heads, and the first product of the MLP, 4 times as wide; keys, the projection and the
  // last product are the second, fourth and sixth.
  constexpr std::int64_t kTokens = 2048;
  constexpr std::int64_t kKept = kTokens * (2LL * 2560 * (1 + 1 + 1 + 1 + 4) + 4LL * 32);
  CHECK(held(op, 1) == 3 * 6 * kKept);
  // No budget is full recomputation; a whole one repeats passes alone.
  CHECK(with("budget=0")["makespan_ns"] == full["makespan_ns"]);
  CHECK(held(with("budget=0"), 1) == held(full, 1));
  std::int64_t before = busy(full, 1);
  for (const char* budget : {"budget=0.25", "budget=0.5", "budget=0.75", "budget=1"}) {
    CHECK(busy(with(budget), 1) <= before);
    before = busy(with(budget), 1);
  }
  CHECK(before > busy(none, 1));
  CHECK(before < busy(op, 1));
}

}  // namespace
}  // namespace debubble::testing
