#include "schedules/synchronous/slices.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/split.hpp"

namespace debubble {

namespace {

constexpr int kMostSliceTokens = 1'000'000;  // beyond it the costs of a sequence may leave 64 bits
constexpr std::size_t kPlaces = 6;

// "12.5" in millionths; nothing for text of another form, and for what needs more than six places.
std::optional<std::int64_t> parse_millionths(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string digits(point == std::string_view::npos ? "" : text.substr(point + 1));
  constexpr std::size_t kMostDigits = 12;  // so that the millionths stay within 64 bits
  if (whole.empty() || whole.size() > kMostDigits || digits.size() > kPlaces) return std::nullopt;
  if (point != std::string_view::npos && digits.empty()) return std::nullopt;
  digits.resize(kPlaces, '0');
  digits.insert(0, whole);
  return count_of(digits, std::numeric_limits<std::int64_t>::max());
}

}  // namespace

std::int64_t slice_cost(const SliceCost& cost, std::int64_t length, std::int64_t context) {
  return 2 * cost.overhead + length * kTokenCost + cost.attention * length * (2 * context + length + 1);
}

std::vector<std::int64_t> slice_costs(const SliceCost& cost, const std::vector<int>& lengths) {
  std::vector<std::int64_t> costs;
  std::int64_t context = 0;
  for (const int length : lengths) {
    costs.push_back(slice_cost(cost, length, context));
    context += length;
  }
  return costs;
}

std::vector<int> even_lengths(int tokens, int slices) {
  std::vector<int> lengths(static_cast<std::size_t>(slices), tokens / slices);
  for (int q = 0; q < tokens % slices; ++q) ++at(lengths, q);
  return lengths;
}

std::vector<int> balanced_lengths(int tokens, int slices, const SliceCost& cost) {
  const std::int64_t fair = slice_cost(cost, tokens, 0) / slices;
  std::vector<int> lengths(static_cast<std::size_t>(slices), 0);
  int end = tokens;
  for (std::size_t q = lengths.size(); q-- > 1;) {
    int fits = 0;
    for (int low = 0, high = end; low <= high;) {  // costs grow with the length: bisection
      const int length = low + (high - low) / 2;
      const bool within = slice_cost(cost, length, end - length) <= fair;
      if (within) fits = length;
      (within ? low : high) = within ? length + 1 : length - 1;
    }
    lengths[q] = fits;
    end -= fits;
  }
  lengths[0] = end;
  return lengths;
}

std::vector<std::int64_t> as_shares(std::vector<std::int64_t> costs) {
  std::int64_t divisor = 0;
  for (const std::int64_t cost : costs) divisor = std::gcd(divisor, cost);
  std::int64_t sum = 0;
  for (std::int64_t& cost : costs) sum += cost /= std::max<std::int64_t>(divisor, 1);
  // Half of the limit is left for rounding every share up.
  const std::int64_t scale = sum / (kMostShares / 2) + 1;
  for (std::int64_t& cost : costs) cost = std::max<std::int64_t>(cost / scale, 1);
  const bool alike = std::all_of(costs.begin(), costs.end(), [&](std::int64_t cost) { return cost == costs.front(); });
  return alike ? std::vector<std::int64_t>{} : costs;
}

std::int64_t decimal_param(const ScheduleRequest& request, const std::string& name, std::int64_t fallback,
                           std::int64_t most) {
  const auto found = request.params.find(name);
  if (found == request.params.end()) return fallback;
  const std::optional<std::int64_t> value = parse_millionths(found->second);
  if (!value || *value > most) {
    fail("S006", "--param " + name,
         "\"" + found->second + "\" is not a number from 0 to " + decimal_text(most) + " of at most six places",
         "write --param " + name + "=" + decimal_text(fallback));
  }
  return *value;
}

std::vector<std::int64_t> decimal_list_param(const ScheduleRequest& request, const std::string& name,
                                             std::int64_t most) {
  std::vector<std::int64_t> values;
  const std::string& text = request.params.at(name);
  for (const std::string& item : split(text)) {
    const std::optional<std::int64_t> value = parse_millionths(item);
    if (!value || *value < 1 || *value > most) {
      fail("S006", "--param " + name,
           "\"" + item + "\" in \"" + text + "\" is not a number above 0, up to " + decimal_text(most) +
               ", of at most six places",
           "write the slices' relative costs, first tokens first: --param " + name + "=0.5,1.5,2.5,3.5");
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<int> lengths_param(const ScheduleRequest& request, const std::string& name) {
  std::vector<int> lengths;
  const std::string& text = request.params.at(name);
  std::int64_t sum = 0;
  for (const std::string& item : split(text)) {
    const int length = read_whole<int>(item).value_or(0);
    if (length < 1) {
      fail(
          "S061", "--param " + name, "\"" + item + "\" in \"" + text + "\" is not a slice's length",
          "write how many tokens (or blocks of tokens) each slice has, first tokens first: --param " + name + "=7,5,4");
    }
    sum += length;
    lengths.push_back(length);
  }
  if (sum > kMostSliceTokens) {
    fail("S061", "--param " + name, "the slices have more than a million tokens together",
         "count in blocks of tokens, e.g. of 64: only their relation matters");
  }
  return lengths;
}

std::string decimal_text(std::int64_t millionths) {
  std::string places = std::to_string(kMillionth + millionths % kMillionth).substr(1);
  places.erase(places.find_last_not_of('0') + 1);
  return std::to_string(millionths / kMillionth) + (places.empty() ? "" : "." + places);
}

std::string joined(const std::vector<int>& lengths) {
  std::string text;
  for (const int length : lengths) text += (text.empty() ? "" : ",") + std::to_string(length);
  return text;
}

int slice_count_param(const ScheduleRequest& request) {
  const int slices = int_param(request, "slices", kDefaultSlices);
  if (slices < 1 || slices > kMostSliceTokens) {
    fail("S073", "--param slices", "a sequence is cut into 1 to a million slices; got " + std::to_string(slices),
         "nearest legal value: --param slices=" + std::to_string(slices < 1 ? 1 : kMostSliceTokens));
  }
  return slices;
}

int token_count_param(const ScheduleRequest& request, int slices) {
  const int tokens = int_param(request, "tokens", slices);
  if (tokens < slices || tokens > kMostSliceTokens) {
    fail("S073", "--param tokens",
         std::to_string(tokens) + " tokens do not make " + std::to_string(slices) + " slices of at most a million",
         "nearest legal value: --param tokens=" + std::to_string(tokens < slices ? slices : kMostSliceTokens));
  }
  return tokens;
}

void cut_into_slices(Schedule& schedule, int slices, std::vector<std::int64_t> shares) {
  if (static_cast<double>(schedule.stages) * schedule.microbatches * slices > kMostCells) {
    fail("S063", "--param slices", "stages x microbatches x slices are beyond 20 million",
         "simulate fewer slices or microbatches: the steady state repeats");
  }
  schedule.pieces = slices;
  schedule.sliced = slices > 1;
  schedule.piece_shares = std::move(shares);
  schedule.replica_of.assign(static_cast<std::size_t>(schedule.total_pieces()), 0);
}

void note_equal_slices(Schedule& schedule) {
  schedule.notes.emplace_back(
      "slices of equal cost; what cutting into slices costs (kernels, attention) is not charged");
}

}  // namespace debubble
