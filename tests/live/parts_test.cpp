// The parts that all executors share: plans, checksum chains, the ledger; and the cpu backend's matrix products.
#include "live/checksum.hpp"
#include "live/cpu/matrix.hpp"
#include "live/ledger.hpp"
#include "live/plan.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// "<0F0" receives it, "0F0>" sends it, "{...}" an exchange, "[...]" a cell.
std::string text_of(const std::vector<live::Action>& actions, const std::vector<Op>& row) {
  std::string text;
  for (const live::Action& action : actions) {
    const bool cell = action.kind == live::Action::Kind::kCompute;
    text += cell ? "[" : "{";
    for (const live::Hop& hop : action.receives) text += "<" + to_string(hop.tensor).substr(4, 3) + " ";
    if (cell) text += to_string(row[static_cast<std::size_t>(action.position)]);
    for (const live::Hop& hop : action.sends) text += " >" + to_string(hop.tensor).substr(4, 3);
    text += cell ? "]" : "}";
  }
  return text;
}

std::string plan_of(P2p p2p, std::size_t device) {
  const Schedule schedule = build("1f1b", 2, 2);
  return text_of(live::make_plan(schedule, p2p).devices[device], schedule.rows[device]);
}

}  // namespace

TEST_CASE("overlapped: a cell waits for its inputs and starts its sends") {
  CHECK_EQ(plan_of(P2p::kOverlapped, 0), "[0F0 >act][0F1 >act][<gra 0B0][<gra 0B1]");
  CHECK_EQ(plan_of(P2p::kOverlapped, 1), "[<act 1F0][1B0 >gra][<act 1F1][1B1 >gra]");
}

TEST_CASE("blocking: the receiver takes part where the sender's order says") {
  CHECK_EQ(plan_of(P2p::kBlocking, 0), "[0F0]{ >act}[0F1]{ >act}{<gra }[0B0]{<gra }[0B1]");
  CHECK_EQ(plan_of(P2p::kBlocking, 1), "{<act }[1F0]{<act }[1B0]{ >gra}[1F1][1B1]{ >gra}");
}

TEST_CASE("coupled: what one cell sends and the next receives is one exchange") {
  CHECK_EQ(plan_of(P2p::kCoupled, 0), "[0F0]{ >act}[0F1]{<gra  >act}[0B0]{<gra }[0B1]");
  CHECK_EQ(plan_of(P2p::kCoupled, 1), "{<act }[1F0][1B0]{<act  >gra}[1F1][1B1]{ >gra}");
}

TEST_CASE("a tensor says its name as people know it") {
  CHECK_EQ(to_string(live::Tensor{false, 1, 3}), "the activation 1F3");
  CHECK_EQ(to_string(live::Tensor{true, 1, 3}), "the gradient 2B3");
}

TEST_CASE("a chain names the whole history: every stage, microbatch and iteration counts") {
  const Schedule schedule = build("1f1b", 4, 4);
  std::vector<std::uint64_t> chains;
  for (const bool gradient : {false, true}) {
    for (std::int32_t stage = 0; stage < 3; ++stage) {
      for (std::int32_t piece = 0; piece < 4; ++piece) {
        for (const std::int32_t iteration : {0, 1}) {
          chains.push_back(live::expected_chain(schedule, {gradient, stage, piece}, iteration));
        }
      }
    }
  }
  std::vector<std::uint64_t> unique = chains;
  std::sort(unique.begin(), unique.end());
  CHECK(std::adjacent_find(unique.begin(), unique.end()) == unique.end());
  const std::uint64_t first = live::forward_chain(live::pipeline_end_chain(), 0, 2, 0);
  CHECK_EQ(live::expected_chain(schedule, {false, 1, 2}, 0), live::forward_chain(first, 1, 2, 0));
}

TEST_CASE("a checksum sees every bit and the length") {
  std::vector<std::byte> bytes(37, std::byte{5});
  const std::uint64_t before = live::checksum_of(bytes);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[k] ^= static_cast<std::byte>(1 << bit);
      CHECK_NE(live::checksum_of(bytes), before);
      bytes[k] ^= static_cast<std::byte>(1 << bit);
    }
  }
  CHECK_EQ(live::checksum_of(bytes), before);
  bytes.push_back(std::byte{0});
  CHECK_NE(live::checksum_of(bytes), before);
}

TEST_CASE("what arrives at a cell's begin counts before it, what arrives at its end counts after it") {
  const auto peak = [](Nanoseconds arrival) {
    live::Ledger ledger;
    ledger.start(100);
    ledger.cell_begins(10);
    ledger.change_activation(30);
    ledger.arrived(arrival, 7);
    ledger.cell_ends(20);
    ledger.change_activation(-30);
    ledger.cell_begins(20);
    ledger.change_other(1);
    ledger.cell_ends(30);
    ledger.change_other(-8);
    CHECK_EQ(ledger.peaks().activation, 30);
    return ledger.peaks().memory;
  };
  CHECK_EQ(peak(10), 137);
  CHECK_EQ(peak(19), 137);
  CHECK_EQ(peak(20), 130);
}

TEST_CASE("matrix products are right, transposed or not, added or not, in every implementation") {
  using Form = live::MatmulLibrary::Form;
  const int m = 5, n = 70, k = 67;
  std::vector<float> a(static_cast<std::size_t>(m * k));
  std::vector<float> b(static_cast<std::size_t>(k * n));
  for (std::size_t x = 0; x < a.size(); ++x) a[x] = static_cast<float>(x % 7) - 3;
  for (std::size_t x = 0; x < b.size(); ++x) b[x] = static_cast<float>(x % 5) - 2;
  for (const bool own : {true, false}) {
    const live::MatmulLibrary matmul = own ? live::MatmulLibrary::own() : live::MatmulLibrary::best();
    for (const bool turn_a : {false, true}) {
      for (const bool turn_b : {false, true}) {
        for (const bool add : {false, true}) {
          CAPTURE(matmul.name());
          std::vector<float> c(static_cast<std::size_t>(m * n), 2.0F);
          matmul.multiply(turn_a ? Form::kTransposed : Form::kPlain, turn_b ? Form::kTransposed : Form::kPlain, m, n, k,
                          a.data(), b.data(), add, c.data());
          for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
              float expected = add ? 2.0F : 0.0F;
              for (int x = 0; x < k; ++x) {
                expected += a[static_cast<std::size_t>(turn_a ? x * m + i : i * k + x)] *
                            b[static_cast<std::size_t>(turn_b ? j * k + x : x * n + j)];
              }
              REQUIRE_EQ(c[static_cast<std::size_t>(i * n + j)], expected);  // small integers: exact in floats
            }
          }
        }
      }
    }
  }
}
