#include "live/fault.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "live/live.hpp"
#include "live/plan.hpp"
#include "sim/core/at.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/suggest.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble::live {

namespace {

struct KindName {
  const char* name;
  Fault::Kind kind;
};
constexpr std::array<KindName, 5> kKinds{{{"slow", Fault::Kind::kSlow},
                                          {"drop", Fault::Kind::kDrop},
                                          {"corrupt", Fault::Kind::kCorrupt},
                                          {"swap", Fault::Kind::kSwap},
                                          {"kill", Fault::Kind::kKill}}};

[[noreturn]] void refuse(const char* code, const std::string& text, const std::string& why, const std::string& help) {
  throw InputError(Diagnostic{code, "--fault " + text, why, help});
}

[[noreturn]] void refuse_form(const std::string& text, const std::string& why) {
  refuse("C006", text, why, "write slow=DEVICE:FACTOR, or drop=, corrupt=, swap= or kill= and an op, as in drop=1F3");
}

bool read_number(std::string_view text, int& number) {
  const auto value = read_whole<int>(text);
  number = value.value_or(number);
  return value.has_value();
}

bool read_number(std::string_view text, double& number) {
  const auto value = number_of(text);
  number = value.value_or(number);
  return value.has_value();
}

Fault::Kind kind_of(const std::string& text, const std::string& name) {
  for (const KindName& each : kKinds) {
    if (name == each.name) return each.kind;
  }
  std::vector<std::string> names;
  for (const KindName& each : kKinds) names.emplace_back(each.name);
  const std::string guess = closest_name(name, names);
  refuse_form(text, "\"" + name + "\" is not a fault" + (guess.empty() ? "" : "; did you mean \"" + guess + "\"?"));
}

void read_slow(const std::string& text, std::string_view value, const Schedule& schedule, Fault& fault) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos || !read_number(value.substr(0, colon), fault.device) ||
      !read_number(value.substr(colon + 1), fault.factor)) {
    refuse_form(text, "\"" + std::string(value) + "\" is not DEVICE:FACTOR");
  }
  if (fault.device < 0 || fault.device >= schedule.devices) {
    refuse("E002", text, "there is no device " + std::to_string(fault.device),
           "device numbers run from 0 to " + std::to_string(schedule.devices - 1));
  }
  if (!std::isfinite(fault.factor) || fault.factor <= 0 || fault.factor > 1000) {
    refuse("C012", text, "the factor must be above 0 and at most 1000", "1.3 makes every op take 1.3 times as long");
  }
}

bool read_op(std::string_view text, Op& op) {
  const std::size_t at = text.find_first_of("FBIW");
  if (at == std::string_view::npos) return false;
  op.kind = static_cast<OpKind>(std::string_view("FBIW").find(text[at]));
  return read_number(text.substr(0, at), op.stage) && read_number(text.substr(at + 1), op.microbatch);
}

void check_travels(const std::string& text, const Fault& fault, const Schedule& schedule) {
  Tensor tensor;
  if (output_of(schedule, fault.op, tensor) && maker(schedule, tensor) != user(schedule, tensor)) return;
  refuse("E002", text, "the output of " + debubble::to_string(fault.op) + " does not travel to another device",
         "name an F whose next stage, or a B or I whose stage before, is on another device");
}

}  // namespace

std::size_t place_to_swap(const Fault& fault, const Schedule& schedule) {
  const auto& row = schedule.rows[to_index(fault.device)];
  const auto place = std::find_if(row.begin(), row.end(), [&](const Op& op) {
    return op.kind == fault.op.kind && op.stage == fault.op.stage && op.microbatch == fault.op.microbatch;
  });
  const bool last = place == row.end() || place + 1 == row.end();
  const bool paired = place == row.end() || place->paired_with_next || (!last && (place + 1)->paired_with_next) ||
                      (place != row.begin() && (place - 1)->paired_with_next);
  if (!last && !paired) return static_cast<std::size_t>(place - row.begin());
  const std::string name = debubble::to_string(fault.op);
  refuse("E002", "swap=" + name,
         name + (paired ? " or the op after it is in an overlapped pair" : " is the last of its row"),
         "name an op that has a single op after it, also after the swaps before this one");
}

Fault parse_fault(const std::string& text, const Schedule& schedule) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse_form(text, "there is no \"=\" in it");
  Fault fault;
  fault.kind = kind_of(text, text.substr(0, equals));
  const std::string_view value = std::string_view(text).substr(equals + 1);
  if (fault.kind == Fault::Kind::kSlow) {
    read_slow(text, value, schedule, fault);
    return fault;
  }
  if (!read_op(value, fault.op)) refuse_form(text, "\"" + std::string(value) + "\" is not an op");
  const OpIndex ops(schedule);
  const std::int32_t id = ops.find(fault.op.kind, fault.op.stage, fault.op.microbatch);
  if (id < 0) {
    refuse("E002", text, "the schedule has no op " + debubble::to_string(fault.op),
           "`debubble export` writes the schedule's ops as a table");
  }
  fault.device = ops.device(id);
  fault.op = ops.op(id);
  if (fault.kind == Fault::Kind::kDrop || fault.kind == Fault::Kind::kCorrupt) check_travels(text, fault, schedule);
  if (fault.kind == Fault::Kind::kSwap) (void)place_to_swap(fault, schedule);
  return fault;
}

}  // namespace debubble::live
