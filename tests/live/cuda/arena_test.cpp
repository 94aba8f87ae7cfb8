// Places in an arena, and the memory of rows.
#include "live/cuda/arena.hpp"

#include "live/cuda/stage_memory.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::live;
using debubble::testing::Dice;

TEST_CASE("an arena reuses what was given back and grows its last hole") {
  Arena arena;
  CHECK_EQ(arena.take(100), 0);  // rounded to 256
  CHECK_EQ(arena.take(256), 256);
  CHECK_EQ(arena.take(0), 0);
  arena.give_back(0, 100);
  CHECK_EQ(arena.take(300), 512);  // does not fit the hole at 0
  CHECK_EQ(arena.take(10), 0);
  arena.give_back(512, 300);
  CHECK_EQ(arena.take(1000), 512);  // the hole at the end grows
  CHECK_EQ(arena.live(), 256 + 256 + 1024);
  CHECK_EQ(arena.extent(), 512 + 1024);
  CHECK_EQ(arena.high_water(), 256 + 256 + 1024);
}

TEST_CASE("random places never overlap") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Dice dice(seed);
    Arena arena;
    std::map<Bytes, Bytes> taken;  // offset -> size
    Bytes live = 0;
    for (int step = 0; step < 200; ++step) {
      if (!taken.empty() && dice.from(0, 2) == 0) {
        const auto [offset, size] = *taken.begin();
        arena.give_back(offset, size);
        live -= size;
        taken.erase(taken.begin());
        continue;
      }
      const Bytes size = Arena::kAlignment * dice.from(1, 9);
      const Bytes offset = arena.take(size);
      const auto after = taken.lower_bound(offset);
      if (after != taken.end()) REQUIRE(offset + size <= after->first);
      if (after != taken.begin()) {
        const auto before = std::prev(after);
        REQUIRE(before->first + before->second <= offset);
      }
      taken[offset] = size;
      live += size;
      REQUIRE_EQ(arena.live(), live);
      REQUIRE(arena.extent() >= arena.high_water());
    }
  }
}

TEST_CASE("a row holds activations from F to B or I, and what W needs from I to W") {
  const StageFootprint stage{{256, 512, 1024}, 800, 1600};
  const auto op = [](OpKind kind, int piece) { return Op{kind, false, 0, piece}; };
  using enum OpKind;
  const std::vector<Op> split{op(kForward, 0),    op(kForward, 1),   op(kInputGrad, 0),
                              op(kWeightGrad, 0), op(kInputGrad, 1), op(kWeightGrad, 1)};
  const RowMemory held = plan_row_memory(split, {stage});
  CHECK_EQ(held.peak_activation, 800 + 1600);  // behind I 0: one piece held, one still whole
  CHECK_EQ(held.high_water, 2 * 768 + 1024);   // in I 0
  const std::vector<Op> whole{op(kForward, 0), op(kBackward, 0), op(kForward, 1), op(kBackward, 1)};
  const RowMemory freed = plan_row_memory(whole, {stage});
  CHECK_EQ(freed.peak_activation, 800);
  CHECK_EQ(freed.high_water, 256 + 512 + 1024);
  CHECK_EQ(freed.extent, freed.high_water);
  CHECK(freed.places.at({0, 0}) == freed.places.at({0, 1}));  // the second piece where the first was
}
