#include "formats/importers/recovery/rank_events.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

template <typename T>
void by_begin(std::vector<T>& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const T& a, const T& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
}

}  // namespace

LaunchedWork::Kind kernel_kind(std::string_view name) {
  if (is_send_recv_kernel(name)) return LaunchedWork::Kind::kSendRecv;
  return is_collective_kernel(name) ? LaunchedWork::Kind::kCollective : LaunchedWork::Kind::kCompute;
}

std::optional<std::int64_t> rank_in_file_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  constexpr std::string_view kWord = "rank";
  for (std::size_t at = name.rfind(kWord); at != std::string::npos;
       at = at == 0 ? std::string::npos : name.rfind(kWord, at - 1)) {
    std::size_t begin = at + kWord.size();
    if (begin < name.size() && std::string_view("_-.").find(name[begin]) != std::string_view::npos) ++begin;
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end == begin || end - begin > 6) continue;
    return whole_number(std::string_view(name).substr(begin, end - begin));
  }
  return std::nullopt;
}

std::string autograd_word(std::string_view name) {
  const std::size_t scope = name.rfind("::");
  if (scope != std::string_view::npos) name.remove_prefix(scope + 2);
  const std::size_t backward = name.rfind("Backward");
  if (backward != std::string_view::npos) name = name.substr(0, backward);
  std::string word;
  for (const char letter : name) {
    if (letter != '_') word += lower_case(letter);
  }
  return word;
}

void sort_events(RankEvents& events) {
  by_begin(events.ranges);
  by_begin(events.ops);
  by_begin(events.named);
  by_begin(events.steps);
  events.host.sort();
  std::sort(events.nodes.begin(), events.nodes.end());
  events.nodes.erase(std::unique(events.nodes.begin(), events.nodes.end()), events.nodes.end());
  std::stable_sort(events.work.begin(), events.work.end(),
                   [](const LaunchedWork& a, const LaunchedWork& b) { return a.launched < b.launched; });
  Nanoseconds until = -kLongestDuration;
  for (const MeantRange& range : events.ranges) {
    if (range.meaning.kind != RangeMeaning::Kind::kCollective || range.end <= until) continue;
    until = range.end;
    auto work = std::lower_bound(events.work.begin(), events.work.end(), range.begin,
                                 [](const LaunchedWork& item, Nanoseconds time) { return item.launched < time; });
    for (; work != events.work.end() && work->launched <= range.end; ++work) {
      if (work->kind == LaunchedWork::Kind::kSendRecv) work->kind = LaunchedWork::Kind::kCollective;
    }
  }
}

}  // namespace debubble
