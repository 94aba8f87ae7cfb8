// Which ranges are taken for layers when nobody says.
#include "profiler/importers/layer_guess.hpp"
#include "tests/support/test.hpp"

#include <regex>

namespace debubble {
namespace {

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
