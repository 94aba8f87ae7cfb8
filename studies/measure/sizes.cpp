#include "studies/measure/sizes.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "formats/text/choice.hpp"
#include "scenario/request/checks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

std::optional<std::int64_t> measured_size(const std::string& text) {
  return read_whole_within(text, 1, std::numeric_limits<std::int32_t>::max());
}

// One number of the sizes and the flag it comes from.
struct SizeDimension {
  const char* key;   // in --sweep
  const char* flag;  // for one value
  std::vector<std::int64_t> values;
  bool swept = false;
};

class MeasuredSizeReader {
 public:
  explicit MeasuredSizeReader(const SizeFlags& flags) {
    const WorkloadSize usual;
    take(microbatch_, flags.microbatch, usual.microbatch);
    take(sequence_, flags.sequence, usual.sequence);
    take(tensor_parallel_, flags.tensor_parallel, usual.tensor_parallel);
    checks_.run([&] { type_ = kTypes.at(choice_of(flags.type, kMatmulTypes, "--dtype")); });
    for (const std::string& sweep : flags.sweeps) read_sweep(sweep, flags);
    checks_.finish();
  }

  [[nodiscard]] std::vector<WorkloadSize> sizes() const {
    std::vector<WorkloadSize> all;
    for (const std::int64_t sequence : sequence_.values) {
      for (const std::int64_t microbatch : microbatch_.values) {
        all.push_back({microbatch, sequence, tensor_parallel_.values.front(), type_});
      }
    }
    return all;
  }

 private:
  static constexpr std::array kTypes{DataType::kBf16, DataType::kFp16, DataType::kFp32};

  void complain(const char* code, std::string place, std::string message, std::string help) {
    checks_.add({code, std::move(place), std::move(message), std::move(help)});
  }

  void take(SizeDimension& dimension, const std::optional<int>& given, std::int64_t usual) {
    if (given && *given < 1) {
      complain("C012", dimension.flag, "at least 1 is needed; got " + std::to_string(*given),
               "leave it out for the default");
    }
    dimension.values = {given.value_or(static_cast<int>(usual))};
  }

  void read_sweep(const std::string& text, const SizeFlags& flags) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    SizeDimension* dimension = key == "microbatch" ? &microbatch_ : key == "seq" ? &sequence_ : nullptr;
    if (equals == std::string::npos || dimension == nullptr) {
      const std::array<std::string, 2> keys{"microbatch", "seq"};
      const std::string guess = closest_name(key, keys);
      complain("C006", "--sweep", "\"" + text + "\" is not microbatch=LIST or seq=LIST",
               guess.empty() || equals == std::string::npos ? "write it like --sweep microbatch=1,2,4"
                                                            : "did you mean " + guess + "?");
      return;
    }
    const bool given = dimension == &microbatch_ ? flags.microbatch.has_value() : flags.sequence.has_value();
    if (dimension->swept || given) {
      complain("C007", "--sweep", key + " is given twice", "give all its values in one --sweep " + key + "=LIST");
      return;
    }
    dimension->swept = true;
    read_list(text.substr(equals + 1), *dimension);
  }

  void read_list(const std::string& list, SizeDimension& dimension) {
    dimension.values.clear();
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string item = list.substr(begin, end - begin);
      begin = end + 1;
      const std::optional<std::int64_t> value = measured_size(item);
      if (!value) {
        complain("C006", "--sweep", "\"" + item + "\" is not a whole number from 1 to 2147483647",
                 std::string("write it like --sweep ") + dimension.key + "=1,2,4");
      } else if (std::find(dimension.values.begin(), dimension.values.end(), *value) != dimension.values.end()) {
        complain("C007", "--sweep", std::string(dimension.key) + " " + item + " is in the list twice",
                 "keep one of the two");
      } else {
        dimension.values.push_back(*value);
      }
    }
  }

  SizeDimension microbatch_{"microbatch", "--microbatch-size", {}, false};
  SizeDimension sequence_{"seq", "--sequence", {}, false};
  SizeDimension tensor_parallel_{"tp", "--tp", {}, false};
  DataType type_ = DataType::kBf16;
  Checks checks_;
};

}  // namespace

std::vector<WorkloadSize> workload_sizes(const SizeFlags& flags) { return MeasuredSizeReader(flags).sizes(); }

std::string size_name(const std::string& model, const WorkloadSize& size) {
  std::string name;
  for (const char c : model) name += c == '/' || c == ' ' ? '-' : c;
  name += "-b" + std::to_string(size.microbatch) + "-s" + std::to_string(size.sequence);
  if (size.tensor_parallel > 1) name += "-tp" + std::to_string(size.tensor_parallel);
  return name + "-" + to_string(size.type);
}

}  // namespace debubble
