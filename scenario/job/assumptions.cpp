#include "scenario/job/assumptions.hpp"

#include <iterator>

#include "formats/text/shell.hpp"

namespace debubble {

void assume(std::vector<Assumption>& assumptions, std::string_view key, const std::string& amount, Source source) {
  assumptions.push_back({.key = std::string(key), .amount = printable(amount), .source = source});
}

Source given_or_default(bool given) { return given ? Source::kGiven : Source::kDefault; }

void append(std::vector<Assumption>& all, std::vector<Assumption> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace debubble
