// What the tests of tools/ share: the text of an InputError, and a run made by hand.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/error.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::test {

// What a person reads when `action` refuses its input; "" when it does not.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// The longest line, in characters.
inline int widest_line(std::string_view text) {
  int widest = 0;
  int now = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;
    now = c == '\n' ? 0 : now + 1;
    widest = std::max(widest, now);
  }
  return widest;
}

inline Span span(std::int32_t device, Nanoseconds begin_ms, Nanoseconds end_ms, Op op) {
  Span result;
  result.op = op;
  result.device = device;
  result.ready = result.begin = begin_ms * kNanosecondsPerMillisecond;
  result.end = end_ms * kNanosecondsPerMillisecond;
  return result;
}

// 1F1B, 2 devices, 2 microbatches, F = 1 ms, B = 2 ms:   d0 F0 F1 .. B0 B0 .. B1 B1
//                                                       d1 .. F0 B0 B0 F1 B1 B1 ..   (9 ms, 6 ms busy each)
inline Timeline small_timeline() {
  Timeline timeline;
  timeline.devices = 2;
  timeline.makespan = 9 * kNanosecondsPerMillisecond;
  timeline.spans = {span(0, 0, 1, {OpKind::kForward, false, 0, 0}),  span(0, 1, 2, {OpKind::kForward, false, 0, 1}),
                    span(0, 4, 6, {OpKind::kBackward, false, 0, 0}), span(0, 7, 9, {OpKind::kBackward, false, 0, 1}),
                    span(1, 1, 2, {OpKind::kForward, false, 1, 0}),  span(1, 2, 4, {OpKind::kBackward, false, 1, 0}),
                    span(1, 4, 5, {OpKind::kForward, false, 1, 1}),  span(1, 5, 7, {OpKind::kBackward, false, 1, 1})};
  timeline.device_begin = {0, 4, 8};
  return timeline;
}

inline DeviceReport small_device(int device, Nanoseconds fill_ms, Nanoseconds drain_ms, Bytes activations) {
  DeviceReport report;
  report.device = device;
  report.busy = 6 * kNanosecondsPerMillisecond;
  report.idle = 3 * kNanosecondsPerMillisecond;
  report.bubble_ratio = 3.0 / 9.0;
  report.idle_by_cause[static_cast<std::size_t>(IdleCause::kFill)] = fill_ms * kNanosecondsPerMillisecond;
  report.idle_by_cause[static_cast<std::size_t>(IdleCause::kDrain)] = drain_ms * kNanosecondsPerMillisecond;
  report.peak_memory = activations;
  report.peak_memory_at = kNanosecondsPerMillisecond;
  report.peak_memory_op = {PeakOp::Kind::kOp, {OpKind::kForward, false, device, 1 - device}, {}};
  report.peak_by_category[static_cast<std::size_t>(MemoryCategory::kActivations)] = activations;
  report.peak_activation = activations;
  report.peak_activation_shares = static_cast<double>(activations) / static_cast<double>(kMebibyte);
  return report;
}

// The report of small_timeline().
inline Report small_report() {
  Report report;
  report.schedule = {"1f1b", 2, 2, 2, 1, 1, {}};
  report.assumptions = {{"forward", "1 ms per device share", Source::kDefault}, {"devices", "2", Source::kGiven}};
  report.makespan = report.span = 9 * kNanosecondsPerMillisecond;
  report.steady_period = 6 * kNanosecondsPerMillisecond;
  report.ideal = 6 * kNanosecondsPerMillisecond;
  report.bubble_ratio = report.span_bubble_ratio = 3.0 / 9.0;
  report.bubble_over_ideal = 0.5;
  report.p2p_messages = 4;
  report.critical_path.compute = report.makespan;
  report.critical_path.hops = 2;
  report.devices = {small_device(0, 2, 1, 2 * kMebibyte), small_device(1, 1, 2, kMebibyte)};
  return report;
}

}  // namespace debubble::test
