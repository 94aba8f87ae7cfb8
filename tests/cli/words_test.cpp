// Every word that a report prints as a label can be explained: `debubble explain WORD`, `debubble list words`.
#include "sim/core/words.hpp"
#include "sim/analysis/path_parts.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

// As a reader would type it: small letters, blanks for hyphens and underscores, no unit.
std::string typed(const std::string& label) {
  static const std::set<std::string> units{"ns", "us", "ms", "s", "min", "B", "KiB", "MiB", "GiB", "TiB", "msgs"};
  const std::size_t last = label.rfind(' ');
  const bool unit = last != std::string::npos && units.contains(label.substr(last + 1));
  std::string text;
  for (const char c : unit ? label.substr(0, last) : label) {
    if (c == '/' && text.ends_with(' ')) text.pop_back();
    const bool blank = c == '_' || c == '-' || c == ' ';
    if (!blank || !text.ends_with('/')) text += blank ? ' ' : lower_case(c);
  }
  return text;
}

struct PlacedWord {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What stands at least two blanks apart.
std::vector<PlacedWord> fields_of(const std::string& line) {
  std::vector<PlacedWord> fields;
  for (std::size_t at = line.find_first_not_of(' '); at < line.size();) {
    const std::size_t end = std::min(line.find("  ", at), line.size());
    fields.push_back({line.substr(at, end - at), at, end});
    at = line.find_first_not_of(' ', end);
  }
  return fields;
}

bool has_digit(const std::string& line) { return std::any_of(line.begin(), line.end(), is_digit); }

// Short words apart from each other, and no number. The chart's legend begins with a sign: "F forward".
bool may_be_heading(const std::string& line) {
  constexpr std::size_t kLongest = 26;
  const std::vector<PlacedWord> fields = fields_of(line);
  if (fields.size() < 2 || has_digit(line)) return false;
  const std::string& first = fields.front().text;
  return (first.size() < 2 || first[1] != ' ') &&
         std::all_of(fields.begin(), fields.end(), [](const PlacedWord& one) { return one.text.size() <= kLongest; });
}

// "activ-" above "ations", "transfer" above "latency": one heading where they are above each other.
std::set<std::string> headings_of(const Words& lines) {
  std::vector<PlacedWord> words;
  for (const std::string& line : lines) {
    for (const PlacedWord& word : fields_of(line)) {
      const auto above = std::find_if(words.begin(), words.end(), [&](const PlacedWord& one) {
        return one.begin < word.end && word.begin < one.end;
      });
      if (above == words.end()) {
        words.push_back(word);
        continue;
      }
      const bool cut = above->text.ends_with('-');
      above->text = cut ? above->text.substr(0, above->text.size() - 1) + word.text : above->text + " " + word.text;
      above->begin = std::min(above->begin, word.begin);
      above->end = std::max(above->end, word.end);
    }
  }
  std::set<std::string> texts;
  for (const PlacedWord& word : words) texts.insert(word.text);
  return texts;
}

// What a share of the critical path is of: "transfers" of "transfers: latency".
std::string kind_of_share(const std::string& text) {
  return text.substr(0, std::min({text.find(": "), text.find(" ("), text.find(" on "), text.size()}));
}

bool is_marked_row(const std::string& line) {
  return line.starts_with("cp ") || line.starts_with("* ") || line.starts_with("~ ") || line.starts_with("! ");
}

// The labels at the margin, the headings of tables, and what the critical path consists of; not the assumptions, whose
// names are as many as there are jobs.
std::set<std::string> labels_of(const std::string& text) {
  std::set<std::string> labels;
  std::istringstream lines(text);
  Words group;
  for (std::string line; std::getline(lines, line) && !line.starts_with("assumed");) {
    const std::vector<PlacedWord> fields = fields_of(line);
    if (may_be_heading(line)) {
      group.push_back(line);
      continue;
    }
    if (std::any_of(group.begin(), group.end(), [](const auto& one) { return fields_of(one).size() > 2; })) {
      labels.merge(headings_of(group));
    } else {
      for (const std::string& one : group) {
        if (one[0] != ' ') labels.insert(fields_of(one).front().text);
      }
    }
    group.clear();
    if (fields.empty()) continue;
    const PlacedWord& first = fields.front();
    const bool at_margin = first.begin == 0 && fields.size() > 1;
    if (at_margin && !has_digit(first.text) && !is_marked_row(line)) labels.insert(first.text);
    const bool share = first.begin > 0 && fields.size() == 3 && fields[1].text.ends_with(" %");
    if (share) labels.insert(kind_of_share(fields[2].text));
  }
  return labels;
}

std::set<std::string> known_words(const Folder& folder) {
  std::set<std::string> known;
  const auto list = folder.json("list words");
  for (const auto& word : list["words"]) {
    known.insert(typed(word["name"].get<std::string>()));
    for (const auto& alias : word["aliases"]) known.insert(typed(alias.get<std::string>()));
  }
  return known;
}

TEST_CASE("labels are read from reports as a reader sees them") {
  const std::set<std::string> labels = labels_of(
      "1f1b on 4 devices: 4 stages\n"
      "d0 F0F1..B0\n"
      "step time      9.000 ms\n"
      "\n"
      "                peak  activ-\n"
      "device    busy  memory  ations\n"
      "d0       6.000    2.00    2.00\n"
      "  24.00 ms  72.7 %  compute on device 3 (stage 3)\n");
  CHECK(labels == std::set<std::string>{"step time", "device", "busy", "peak memory", "activations", "compute"});
}

TEST_CASE_IN_FOLDER("every label that simulate, compare, whatif and explain step print has an entry") {
  const std::set<std::string> known = known_words(folder);
  const Words model = "--model llama3-8b --hardware h100 --topology dgx-h100:2 -p 4";
  const auto with = [&](Words words, const Words& more) {
    words.insert(words.end(), model.begin(), model.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<Words> commands{{"simulate"},
                                    {"simulate", "--schedule", "zb-h1", "--comm", "0.1", "--times", "f=1,i=1.2,w=0.8"},
                                    {"simulate", "--schedule", "pipemare"},
                                    {"simulate", "--schedule", "spectrain"},
                                    {"simulate", "--schedule", "pipeoffload"},
                                    {"simulate", "--slow", "device=1:1.5", "--comm", "1"},
                                    with({"simulate"}, "--tp 2 --dp 2 --zero 1 -m 8"),
                                    with({"simulate"}, "-m 64 --microbatch-size 8"),
                                    {"compare", "--schedules", "all"},
                                    {"compare", "--schedules", "all", "--details"},
                                    with("compare --schedules all", "-m 8"),
                                    {"compare", "--schedules", "1f1b,interleaved", "--equal", "stages"},
                                    {"whatif", "--slow", "device=1:1.5", "--comm", "0.5"},
                                    {"whatif", "--jitter", "lognormal:0.05", "--seeds", "20"},
                                    {"whatif", "--sensitivity"},
                                    with("whatif --slow device=1:1.5", "-m 8"),
                                    {"explain", "step"},
                                    with("explain step", "--tp 2 --dp 2 -m 8")};
  for (const Words& command : commands) {
    std::string said;
    for (const std::string& word : command) said += word + " ";
    CAPTURE(said);
    const std::set<std::string> labels = labels_of(folder.run(command).out);
    CHECK_FALSE(labels.empty());
    for (const std::string& label : labels) {
      const bool note = label.size() <= 2 && label[0] >= 'a' && label[0] <= 'z';  // its letter
      CAPTURE(label);
      CHECK((note || known.contains(typed(label))));
    }
  }
}

TEST_CASE_IN_FOLDER("causes, kinds of memory, parts of the step and sources have an entry") {
  const std::set<std::string> known = known_words(folder);
  const auto check = [&](const std::string& word) {
    CAPTURE(word);
    CHECK(known.contains(typed(word)));
  };
  for (int k = 0; k < kIdleCauses; ++k) check(to_string(static_cast<IdleCause>(k)));
  for (int k = 0; k < kMemoryCategories; ++k) check(to_string(static_cast<MemoryCategory>(k)));
  for (std::size_t k = 0; k < kStepKinds; ++k) check(to_string(static_cast<StepTask::Kind>(k)));
  for (const Source one :
       {Source::kMeasured, Source::kPublished, Source::kModelled, Source::kDefault, Source::kGiven}) {
    check(to_string(one));
  }
}

}  // namespace
}  // namespace debubble::testing
