#include "studies/plan/rank_orders.hpp"

#include <algorithm>

#include "scenario/request/rank_lists.hpp"

namespace debubble {
namespace {

std::vector<Dimension> order_of(std::string word, const std::string& place) {
  if (word.empty()) return RankLayout{}.order;
  std::replace(word.begin(), word.end(), '-', ',');
  return parse_rank_order(word, place);
}

// What tells the places of the ranks: the dimensions that have more than one rank, as far as they fill machines; behind
// that, ranks are whole machines, and any order of them gives each group as many machines. All of a job that lies in
// one machine is alike.
std::vector<Dimension> class_of(const std::vector<Dimension>& order, const Parallelism& sizes, int machine) {
  std::vector<Dimension> split;
  for (const Dimension one : order) {
    if (group_size(sizes, one) > 1) split.push_back(one);
  }
  std::int64_t filled = 1;
  auto rest = split.begin();
  if (machine > 0 && sizes.ranks() > machine) {
    while (rest != split.end() && filled % machine != 0) filled *= group_size(sizes, *rest++);
  } else if (machine == 0) {
    rest = split.end();
  }
  std::sort(rest, split.end());
  return split;
}

Parallelism parallelism_of(const PlanChoice& choice) {
  Parallelism sizes;
  sizes.tensor = choice.tensor;
  sizes.context = choice.context;
  sizes.data = choice.data;
  sizes.pipeline = choice.pipeline;
  return sizes;
}

}  // namespace

std::string rank_order_word(const std::vector<Dimension>& order) {
  std::string word;
  for (const Dimension one : order) word += (word.empty() ? "" : "-") + std::string(to_string(one));
  return word == kUsualRankOrder ? "" : word;
}

std::vector<std::string> distinct_rank_orders(const PlanChoice& choice, const std::vector<std::string>& orders,
                                              int machine) {
  const Parallelism sizes = parallelism_of(choice);
  std::vector<std::vector<Dimension>> known;
  std::vector<std::string> words;
  for (const std::string& word : orders) {
    std::vector<Dimension> places = class_of(order_of(word, "--rank-order"), sizes, machine);
    if (std::find(known.begin(), known.end(), places) != known.end()) continue;
    known.push_back(std::move(places));
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> allowed_rank_orders(const std::vector<std::string>* named, const std::string& place) {
  if (named == nullptr) return {"", kPipelineInside};
  std::vector<std::string> words;
  for (const std::string& word : *named) words.push_back(rank_order_word(order_of(word, place)));
  return words;
}

}  // namespace debubble
