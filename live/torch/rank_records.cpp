#include "live/torch/rank_records.hpp"

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::live {

namespace {

constexpr std::string_view kTorchRankFormat = "debubble.torch-rank/1";

// The words of one line, read one after another.
class RecordLine {
 public:
  RecordLine(std::string_view text, std::string place) : rest_(text), place_(std::move(place)) {}

  [[nodiscard]] std::string_view word() {
    const std::size_t blank = rest_.find(' ');
    const std::string_view found = rest_.substr(0, blank);
    rest_ = blank == std::string_view::npos ? std::string_view() : rest_.substr(blank + 1);
    if (found.empty()) refuse("a word is missing");
    return found;
  }
  [[nodiscard]] std::string rest() {
    if (rest_.empty()) refuse("a text is missing");
    return std::string(std::exchange(rest_, std::string_view()));
  }

  template <typename Number>
  [[nodiscard]] Number number(Number least = 0) {
    return parsed<Number>(word(), least);
  }
  [[nodiscard]] bool flag() { return number<int>() != 0; }

  // "a0.3", "g1.2"
  [[nodiscard]] Tensor tensor() {
    const std::string_view text = word();
    const std::size_t dot = text.find('.');
    if ((text[0] != 'a' && text[0] != 'g') || dot == std::string_view::npos) refuse("no tensor: " + std::string(text));
    return {text[0] == 'g', parsed<std::int32_t>(text.substr(1, dot - 1), 0),
            parsed<std::int32_t>(text.substr(dot + 1), 0)};
  }

  void finish() const {
    if (!rest_.empty()) refuse("it goes on with \"" + std::string(rest_) + "\"");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail("G002", place_, "not what debubble_torch writes: " + why,
         "debubble and its debubble_torch must be of one version: check PYTHONPATH for another copy");
  }

 private:
  template <typename Number>
  [[nodiscard]] Number parsed(std::string_view text, Number least) const {
    std::optional<Number> value;
    if constexpr (std::is_floating_point_v<Number>) {
      // A gradient may be none.
      value = text == "nan" ? std::numeric_limits<Number>::quiet_NaN() : number_of(text);
      if (text == "inf") value = std::numeric_limits<Number>::infinity();
      if (text == "-inf") value = -std::numeric_limits<Number>::infinity();
    } else {
      value = read_whole<Number>(text);
    }
    if (!value || *value < least) refuse("\"" + std::string(text) + "\" is not a number that can stand here");
    return *value;
  }

  std::string_view rest_;
  std::string place_;
};

TorchCost read_cost(RecordLine& line) {
  TorchCost cost;
  cost.replica = line.number<std::int32_t>();
  cost.stage = line.number<std::int32_t>();
  for (Nanoseconds* each : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad}) {
    *each = line.number<Nanoseconds>();
  }
  for (Bytes* each : {&cost.activation, &cost.held, &cost.input, &cost.output, &cost.weights})
    *each = line.number<Bytes>();
  cost.whole = line.flag();
  return cost;
}

TorchProof read_proof(RecordLine& line) {
  TorchProof proof;
  for (std::int64_t* each : {&proof.parameters, &proof.numbers, &proof.same_bits}) *each = line.number<std::int64_t>();
  for (double* each : {&proof.max_absolute, &proof.max_relative, &proof.tolerance}) *each = line.number<double>();
  for (std::int64_t* each : {&proof.losses_same, &proof.losses}) *each = line.number<std::int64_t>();
  return proof;
}

std::string read_wrong(RecordLine& line) {
  const std::string stage = std::to_string(line.number<std::int32_t>());
  const std::string absolute(line.word());
  const std::string relative(line.word());
  return "stage " + stage + ", " + line.rest() + ": off by " + absolute + ", " + relative +
         " times its largest gradient";
}

TorchIteration::Travel read_travel(RecordLine& line, bool received) {
  TorchIteration::Travel travel;
  travel.tensor = line.tensor();
  travel.peer = line.number<std::int32_t>();
  travel.time = line.number<Nanoseconds>();
  if (received) travel.bytes = line.number<Bytes>();
  travel.checksum = line.number<std::uint64_t>();
  return travel;
}

TorchIteration& last_iteration(TorchRank& rank, const RecordLine& line) {
  if (rank.iterations.empty()) line.refuse("no iteration has begun");
  return rank.iterations.back();
}

void read_iteration(RecordLine& line, TorchRank& rank) {
  if (line.number<std::size_t>() != rank.iterations.size()) line.refuse("iterations are out of order");
  TorchIteration& iteration = rank.iterations.emplace_back();
  iteration.as_proven = line.flag();
  iteration.sum_time = line.number<Nanoseconds>();
}

void read_record(std::string_view key, RecordLine& line, TorchRank& rank) {
  if (key == "rank") {
    static_cast<void>(line.number<std::int32_t>());
  } else if (key == "fact") {
    const std::string name(line.word());
    rank.facts[name] = line.rest();
  } else if (key == "cost") {
    rank.costs.push_back(read_cost(line));
  } else if (key == "link") {
    rank.latency = line.number<Nanoseconds>();
    rank.bandwidth = line.number<std::int64_t>();
  } else if (key == "proof") {
    rank.proof = read_proof(line);
  } else if (key == "wrong") {
    rank.wrong.push_back(read_wrong(line));
  } else if (key == "iteration") {
    read_iteration(line, rank);
  } else if (key == "op") {
    const auto position = line.number<std::int32_t>();
    const auto begin = line.number<Nanoseconds>();
    last_iteration(rank, line).cells.push_back({position, begin, line.number<Nanoseconds>()});
  } else if (key == "sent" || key == "got") {
    TorchIteration& iteration = last_iteration(rank, line);
    (key == "sent" ? iteration.sent : iteration.got).push_back(read_travel(line, key == "got"));
  } else {
    line.refuse("\"" + std::string(key) + "\" is not a fact");
  }
}

}  // namespace

TorchRank read_torch_rank(std::string_view text, const std::string& name) {
  TorchRank rank;
  int number = 0;
  bool ended = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    RecordLine line(text.substr(0, end), name + ":" + std::to_string(++number));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (ended) line.refuse("it goes on after its end");
    const std::string_view key = line.word();
    if (number == 1) {
      if (key != kTorchRankFormat) line.refuse("another format");
    } else if (key == "end") {
      ended = true;
    } else {
      read_record(key, line, rank);
    }
    line.finish();
  }
  if (!ended) RecordLine("", name).refuse("it has no end");
  return rank;
}

}  // namespace debubble::live
