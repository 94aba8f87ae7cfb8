// --layers none: one synthetic layer in every step.
#include "profiler/importers/whole_model.hpp"

#include <regex>

#include "profiler/importers/layer_guess.hpp"
#include "profiler/records/record_text.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

RangePush push(std::uint64_t range, std::uint32_t thread, Nanoseconds time, std::string_view name,
               std::int64_t sequence = -1) {
  return {range, thread, time, name, sequence, 0, ""};
}

TEST_CASE("the layer opens inside of every step, and work of the step itself moves into it") {
  std::string out;
  RecordText text(out);
  WholeModel whole("^Step#", text);
  whole.on(push(1, 7, 10, "Step#1"));
  whole.on(push(2, 7, 11, "aten::mm", 3));
  whole.on(LinkRecord{5, 2});
  whole.on(LinkRecord{6, 1});
  whole.on(RangePop{7, 12});
  whole.on(RangePop{7, 13});
  whole.end_of_stream();
  CHECK(out == R"(push range=2 thread=7 time=10 name="Step#1"
push range=3 thread=7 time=10 name="debubble.layer:model"
push range=4 thread=7 time=11 name="aten::mm" sequence=3
link correlation=5 range=4
link correlation=6 range=3
pop thread=7 time=12
pop thread=7 time=13
pop thread=7 time=13
)");
}

TEST_CASE("without steps it opens once on each thread but autograd's, and closes at the end") {
  std::string out;
  RecordText text(out);
  WholeModel whole("", text);
  whole.on(push(1, 7, 10, "aten::mm"));
  whole.on(RangePop{7, 12});
  whole.on(push(2, 8, 20, "autograd::engine::evaluate_function: MmBackward0"));
  whole.on(RangePop{8, 22});
  whole.on(push(3, 7, 30, "aten::add"));
  whole.end_of_stream();
  CHECK(out == R"(push range=1 thread=7 time=10 name="debubble.layer:model"
push range=2 thread=7 time=10 name="aten::mm"
pop thread=7 time=12
push range=4 thread=8 time=20 name="autograd::engine::evaluate_function: MmBackward0"
pop thread=8 time=22
push range=6 thread=7 time=30 name="aten::add"
pop thread=7 time=30
pop thread=7 time=30
)");
}

TEST_CASE("a range that matches is found") {
  RangeFinder finder("^debubble\\.step:\\d+$");
  finder.on(push(1, 7, 10, "debubble.step:x"));
  CHECK_FALSE(finder.found());
  finder.on(push(1, 7, 10, "debubble.step:4"));
  CHECK(finder.found());
}

// Which ranges are taken for layers when nobody says.

constexpr std::uint32_t kRoot = 0xFFFFFFFF;

TEST_CASE("the outermost repeated class is chosen, and what stands beside it") {
  const std::vector<GuessRange> ranges{
      {"nn.Module: Bert_0", "nn.Module: ", kRoot, 100}, {"nn.Module: Embeddings_0", "nn.Module: ", 0, 5},
      {"nn.Module: Embedding_0", "nn.Module: ", 1, 3},  {"nn.Module: Layer_0", "nn.Module: ", 0, 45},
      {"nn.Module: Linear_0", "nn.Module: ", 3, 20},    {"nn.Module: Linear_1", "nn.Module: ", 3, 20},
      {"nn.Module: Layer_1", "nn.Module: ", 0, 45},     {"nn.Module: Linear_2", "nn.Module: ", 6, 40},
      {"nn.Module: Pooler_0", "nn.Module: ", 0, 2},     {"nn.Module: Dropout_9", "nn.Module: ", 0, 0}};
  const std::optional<LayerGuess> guess = guess_layers(ranges);
  REQUIRE(guess);
  CHECK(guess->layers == "^nn\\.Module: (Layer_\\d+|Embeddings_0|Pooler_0)$");
  CHECK(guess->note ==
        "layers chosen by themselves: 2 ranges like \"nn.Module: Layer_0\", the outermost numbered ones that hold most "
        "forward time, plus Embeddings_0, Pooler_0; --layers REGEX chooses others");
}

TEST_CASE("several instances go before two, as in an encoder and a decoder") {
  std::vector<GuessRange> ranges{{"Stack_0", "", kRoot, 50}, {"Stack_1", "", kRoot, 50}};
  for (int k = 0; k < 6; ++k) {
    static const std::vector<std::string> names{"Block_0", "Block_1", "Block_2", "Block_3", "Block_4", "Block_5"};
    ranges.push_back({names[static_cast<std::size_t>(k)], "", k < 3 ? 0U : 1U, 16});
  }
  REQUIRE(guess_layers(ranges));
  CHECK(guess_layers(ranges)->layers == "^(Block_\\d+)$");
}

TEST_CASE("characters of a name mean themselves in the rule") {
  const std::vector<GuessRange> ranges{{"## layer 3 (a+b) ##", "", kRoot, 5}, {"## layer 12 (a+b) ##", "", kRoot, 5}};
  const std::optional<LayerGuess> guess = guess_layers(ranges);
  REQUIRE(guess);
  const std::regex rule(guess->layers);
  CHECK(std::regex_match("## layer 3 (a+b) ##", rule));
  CHECK_FALSE(std::regex_match("## layer 3 (aab) ##", rule));
}

TEST_CASE("nothing repeats, nothing is guessed") {
  CHECK_FALSE(guess_layers({}));
  CHECK_FALSE(guess_layers({{"forward", "", kRoot, 9}, {"loss_1", "", kRoot, 9}, {"loss_1", "", kRoot, 9}}));
  CHECK_FALSE(guess_layers({{"layer_1", "", kRoot, 0}, {"layer_2", "", kRoot, 0}}));
}

}  // namespace
}  // namespace debubble
