#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/transformer/modelled_profile.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostBlocks = 10'000;
constexpr std::int64_t kMostModelRanks = 1 << 22;  // nobody has more

// The legal numbers of ranks next to `ranks`, which is not: "4 or 8". 1 always is; `most` bounds the search.
std::string nearest_legal(std::int64_t ranks, std::int64_t most, const std::function<bool(std::int64_t)>& legal) {
  std::int64_t below = std::min(ranks, most);
  while (below > 1 && !legal(below)) --below;
  std::int64_t above = ranks;
  while (above <= most && !legal(above)) ++above;
  return std::to_string(below) + (above > most ? "" : " or " + std::to_string(above));
}

// Key and value heads are split over the tensor ranks, or copied to so many of them that each has one.
bool splits_heads(const TransformerShape& shape, std::int64_t tensor) {
  return shape.heads % tensor == 0 && (shape.kv_heads % tensor == 0 || tensor % shape.kv_heads == 0);
}

class SetupCheck {
 public:
  explicit SetupCheck(const TrainingSetup& setup) : setup_(setup) {}

  void run() {
    check_sizes();
    check_tensor();
    check_context();
    check_experts();
    if (!found_.empty()) throw InputError(std::move(found_));
  }

 private:
  void complain(const char* code, const char* place, std::string message, std::string help) {
    found_.push_back({code, place, std::move(message), std::move(help)});
  }

  void check_sizes() {
    const TransformerShape& shape = setup_.shape;
    for (const std::int64_t size :
         {shape.layers, shape.hidden, shape.heads, shape.kv_heads, shape.head_size, shape.vocabulary}) {
      if (size > 0) continue;
      return complain("F001", "--model", "the model \"" + shape.name + "\" lacks a size",
                      "layers, hidden, heads, key/value heads, head size and vocabulary must all be at least 1");
    }
    if (shape.layers > kMostBlocks || shape.predicted_tokens > kMostBlocks) {
      complain("F001", "--model", "\"" + shape.name + "\" has more than " + std::to_string(kMostBlocks) + " blocks",
               "no model has so many: look at its layers and at the tokens it predicts further ahead");
    }
    if (setup_.sequence < 1) complain("F001", "--sequence", "a sample needs at least 1 token", "use --sequence 4096");
    if (setup_.microbatch_size < 1) {
      complain("F001", "--microbatch-size", "a microbatch needs at least 1 sample", "use --microbatch-size 1");
    }
    constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;
    if (setup_.sequence > 0 && setup_.microbatch_size > kMostTokens / setup_.sequence) {
      complain("C012", setup_.sequence > kMostTokens ? "--sequence" : "--microbatch-size",
               std::to_string(setup_.microbatch_size) + " samples of " + std::to_string(setup_.sequence) +
                   " tokens are more than 2^40 tokens in a microbatch",
               "use --sequence 4096 --microbatch-size 1");
    }
    if (shape.positions > 0 && setup_.sequence > shape.positions) {
      complain("F002", "--sequence",
               "\"" + shape.name + "\" has " + counted(shape.positions, "learned position") + "; got samples of " +
                   std::to_string(setup_.sequence) + " tokens",
               "use --sequence " + std::to_string(shape.positions) + " or less");
    }
  }

  void check_tensor() {
    const std::int64_t tensor = setup_.parallel.tensor;
    const TransformerShape& shape = setup_.shape;
    if (setup_.parallel.sequence && tensor > 1 && setup_.sequence % tensor != 0) {
      complain(
          "F003", "--sequence-parallel",
          std::to_string(setup_.sequence) + " tokens cannot be split evenly over " + counted(tensor, "tensor rank"),
          "use a sequence that is a multiple of --tp");
    }
    if (tensor < 2 || shape.kv_heads < 1 || splits_heads(shape, tensor)) return;
    const bool grouped = shape.kv_heads != shape.heads;
    complain("F003", "--tp",
             counted(shape.heads, "head") +
                 (grouped ? " with " + std::to_string(shape.kv_heads) + " of keys and values" : "") +
                 " cannot be split evenly over " + counted(tensor, "tensor rank"),
             "use --tp " + nearest_legal(tensor, shape.heads, [&](std::int64_t t) { return splits_heads(shape, t); }));
  }

  void check_context() {
    const std::int64_t context = setup_.parallel.context;
    if (context < 2 || setup_.sequence % context == 0) return;
    complain(
        "F003", "--cp",
        std::to_string(setup_.sequence) + " tokens cannot be split evenly over " + counted(context, "context rank"),
        "use --cp " + nearest_legal(context, std::min(setup_.sequence, kMostModelRanks),
                                    [&](std::int64_t ranks) { return setup_.sequence % ranks == 0; }));
  }

  void check_experts() {
    const std::int64_t expert = setup_.parallel.expert;
    const std::int64_t split = setup_.parallel.expert_tensor;
    const TransformerShape& shape = setup_.shape;
    if (shape.experts == 0 && (expert > 1 || split > 0)) {
      const char* const flag = expert > 1 ? "--ep" : "--etp";
      const std::string help = std::string("leave ") + flag + " out";
      return complain("F003", flag, "\"" + shape.name + "\" has no experts to split", help);
    }
    if (split > 0 && shape.expert_feed_forward % split != 0) {
      complain("F003", "--etp",
               "an expert of width " + std::to_string(shape.expert_feed_forward) + " cannot be split evenly over " +
                   counted(split, "rank"),
               "use --etp 1");
    }
    if (expert < 2 || shape.experts % expert == 0) return;
    const std::int64_t places = setup_.parallel.copies() * setup_.parallel.tensor / setup_.parallel.split_of_expert();
    const auto legal = [&](std::int64_t ranks) { return shape.experts % ranks == 0 && places % ranks == 0; };
    complain("F003", "--ep",
             counted(shape.experts, "expert") + " cannot be split evenly over " + counted(expert, "expert rank"),
             "use --ep " + nearest_legal(expert, shape.experts, legal));
  }

  const TrainingSetup& setup_;
  std::vector<Diagnostic> found_;
};

}  // namespace

void check_setup(const TrainingSetup& setup) { SetupCheck(setup).run(); }

}  // namespace debubble
