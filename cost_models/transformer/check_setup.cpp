#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/transformer/modelled_profile.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostBlocks = 10'000;

std::string count(std::int64_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

// Divisors of `whole` beside `ranks`: the nearest legal numbers of ranks.
std::string nearest_divisors(std::int64_t whole, std::int64_t ranks) {
  std::int64_t below = std::min(ranks, whole);
  while (below > 1 && whole % below != 0) --below;
  std::int64_t above = ranks;
  while (above < whole && whole % above != 0) ++above;
  if (above > whole || above == below || whole % above != 0) return std::to_string(below);
  return std::to_string(below) + " or " + std::to_string(above);
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
    if (shape.positions > 0 && setup_.sequence > shape.positions) {
      complain("F002", "--sequence",
               "\"" + shape.name + "\" has " + count(shape.positions, "learned position", "learned positions") +
                   "; got samples of " + std::to_string(setup_.sequence) + " tokens",
               "use --sequence " + std::to_string(shape.positions) + " or less");
    }
  }

  void check_tensor() {
    const std::int64_t tensor = setup_.parallel.tensor;
    const TransformerShape& shape = setup_.shape;
    if (setup_.parallel.sequence && tensor > 1 && setup_.sequence % tensor != 0) {
      complain("F003", "--sequence-parallel",
               std::to_string(setup_.sequence) + " tokens cannot be split evenly over " +
                   count(tensor, "tensor rank", "tensor ranks"),
               "use a sequence that is a multiple of --tp");
    }
    if (tensor < 2 || shape.heads % tensor == 0) return;
    complain("F003", "--tp",
             count(shape.heads, "head", "heads") + " cannot be split evenly over " +
                 count(tensor, "tensor rank", "tensor ranks"),
             "use --tp " + nearest_divisors(shape.heads, tensor));
  }

  void check_context() {
    const std::int64_t context = setup_.parallel.context;
    if (context < 2 || setup_.sequence % context == 0) return;
    complain("F004", "--cp",
             std::to_string(setup_.sequence) + " tokens cannot be split evenly over " +
                 count(context, "context rank", "context ranks"),
             "use --cp " + nearest_divisors(setup_.sequence, context));
  }

  void check_experts() {
    const std::int64_t expert = setup_.parallel.expert;
    const TransformerShape& shape = setup_.shape;
    if (expert < 2) return;
    if (shape.experts == 0) {
      return complain("F005", "--ep", "\"" + shape.name + "\" has no experts to split", "leave --ep out");
    }
    if (shape.experts % expert != 0) {
      complain("F005", "--ep",
               count(shape.experts, "expert", "experts") + " cannot be split evenly over " +
                   count(expert, "expert rank", "expert ranks"),
               "use --ep " + nearest_divisors(shape.experts, expert));
    }
  }

  const TrainingSetup& setup_;
  std::vector<Diagnostic> found_;
};

}  // namespace

void check_setup(const TrainingSetup& setup) { SetupCheck(setup).run(); }

}  // namespace debubble
