#include "formats/lint/trace_marks.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace debubble::trace_lint {
namespace {

constexpr Nanoseconds kOpenEnd = std::numeric_limits<Nanoseconds>::max();

std::string joined_key(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

}  // namespace

std::string name_in_quotes(std::string_view name) {
  constexpr std::size_t kMost = 60;
  if (name.size() <= kMost) return "\"" + std::string(name) + "\"";
  std::size_t end = kMost - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  return "\"" + std::string(name.substr(0, end)) + "...\"";
}

void FindingList::add(const char* rule, std::size_t event, std::string message) {
  keep(rule, lint_.file + "#" + path_ + std::to_string(event), std::move(message));
}

void FindingList::add_whole(const char* rule, std::string message) { keep(rule, lint_.file, std::move(message)); }

void FindingList::keep(const char* rule, std::string place, std::string message) {
  if (++lint_.by_rule[rule] > options_.most_per_rule) return;
  lint_.findings.push_back({rule, std::move(place), std::move(message)});
}

std::uint32_t TrackChecker::track(const char* kind, std::string_view first, std::string_view second) {
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  const auto [found, is_new] = numbers_.try_emplace(joined_key({kind, first, second}), next);
  if (is_new) is_async_.push_back(*kind == 'a');
  return found->second;
}

// In file order where times are the same, as the viewers sort them.
void TrackChecker::check() {
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) {
    return std::tie(a.track, a.at, a.event) < std::tie(b.track, b.at, b.event);
  });
  for (std::size_t from = 0; from < marks_.size();) {
    std::size_t to = from;
    while (to < marks_.size() && marks_[to].track == marks_[from].track) ++to;
    check_track(from, to);
    from = to;
  }
}

void TrackChecker::close_until(Nanoseconds at) {
  while (!open_.empty() && open_.back().end <= at) open_.pop_back();
}

void TrackChecker::open_slice(const Mark& mark) {
  wait_for_next_.clear();
  if (!open_.empty() && mark.end > open_.back().end) {
    const bool together = open_.back().at == mark.at;
    findings_.add("nesting", mark.event,
                  name_in_quotes(mark.name) + (together ? " begins with " : " begins within ") +
                      name_in_quotes(open_.back().name) +
                      (together ? " and is longer, but comes after it" : " of its track and ends after it"));
  }
  open_.push_back(mark);
}

void TrackChecker::end_slice(const Mark& mark, const char* rule) {
  std::size_t depth = open_.size();
  while (depth > 0 && open_[depth - 1].end != kOpenEnd) --depth;
  if (depth == 0) {
    findings_.add(rule, mark.event, "ends what has not begun");
    return;
  }
  if (depth < open_.size()) {
    findings_.add(
        "nesting", mark.event,
        name_in_quotes(open_[depth - 1].name) + " ends within " + name_in_quotes(open_.back().name) + " of its track");
  }
  const Mark& begun = open_[depth - 1];
  if (!mark.name.empty() && mark.name != begun.name) {
    findings_.add(rule, mark.event,
                  "ends " + name_in_quotes(mark.name) + ", but " + name_in_quotes(begun.name) + " began last");
  }
  open_.resize(depth - 1);
}

void TrackChecker::check_track(std::size_t from, std::size_t to) {
  open_.clear();
  wait_for_next_.clear();
  const char* rule = is_async_[marks_[from].track] ? "async" : "begin-end";
  bool has_slices = false;
  Nanoseconds last_begin = -1;  // a slice of no length is still there for an arrow of its own time
  for (std::size_t i = from; i < to; ++i) {
    Mark mark = marks_[i];
    close_until(mark.at);
    switch (mark.kind) {
      case Mark::Kind::kBegin:
        mark.end = kOpenEnd;
        [[fallthrough]];
      case Mark::Kind::kComplete:
        has_slices = true;
        last_begin = mark.at;
        open_slice(mark);
        break;
      case Mark::Kind::kEnd:
        end_slice(mark, rule);
        break;
      case Mark::Kind::kArrow:
        if (open_.empty() && mark.at != last_begin)
          findings_.add("arrow", mark.event, "no slice of its thread is open here to bind to");
        break;
      case Mark::Kind::kArrowToNext:
        wait_for_next_.push_back(mark.event);
        break;
    }
  }
  for (const std::size_t event : wait_for_next_) {
    findings_.add("arrow", event,
                  "no slice of its thread follows to bind to; \"bp\": \"e\" binds to the one around it");
  }
  for (const Mark& mark : open_) {
    if (mark.end == kOpenEnd) findings_.add(rule, mark.event, name_in_quotes(mark.name) + " begins and never ends");
  }
  tracks_seen_ += has_slices ? 1 : 0;
}

void ArrowChecker::add(char phase, std::string_view id, std::string_view category, std::string_view name,
                       Nanoseconds at, std::size_t event) {
  if (phase == 't') return;
  const auto [found, is_new] = arrows_.try_emplace(joined_key({id, category, name}));
  Arrow& arrow = found->second;
  if (is_new) arrow.event = event;
  if (phase == 's') {
    if (arrow.begins++ == 0) arrow.begin = at;
    if (arrow.begins == 2) findings_.add("arrow", event, "a second beginning of arrow " + name_in_quotes(id));
  } else if (arrow.ends++ == 0) {
    arrow.end = at;
  }
}

void ArrowChecker::check() {
  std::vector<std::pair<std::size_t, std::string>> found;  // in file order: a hash map has none
  for (const auto& [key, arrow] : arrows_) {
    const std::string id = name_in_quotes(std::string_view(key).substr(0, key.find('\0')));
    if (arrow.begins == 0) {
      found.emplace_back(arrow.event, "arrow " + id + " ends, but none of its id, name and category begins");
    } else if (arrow.ends == 0) {
      found.emplace_back(arrow.event, "arrow " + id + " begins, but none of its id, name and category ends");
    } else if (arrow.end < arrow.begin) {
      found.emplace_back(arrow.event, "arrow " + id + " ends before it begins");
    }
  }
  std::sort(found.begin(), found.end());
  for (auto& [event, message] : found) findings_.add("arrow", event, std::move(message));
}

}  // namespace debubble::trace_lint
