#include "tools/output/fail_if.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "tools/output/metrics.hpp"
#include "tools/output/stderr_line.hpp"

namespace debubble {
namespace {

std::string why_unknown(const Metric& metric) {
  if (metric.name == "steady_period") return "iterations that begin together do not show it: take it from `simulate`";
  return "throughput needs a profile that states the microbatch size: --profile FILE";
}

}  // namespace

bool FailIf::holds(const Node& node, const Report& report) const {
  const Metric& metric = metric_catalog()[node.metric];
  const auto decide = [&](auto found, auto limit) {
    switch (node.compare) {
      case Compare::kLess:
        return found < limit;
      case Compare::kLessEqual:
        return found <= limit;
      case Compare::kGreater:
        return found > limit;
      case Compare::kGreaterEqual:
        return found >= limit;
      case Compare::kEqual:
        return !(found < limit) && !(found > limit);
      case Compare::kNotEqual:
        return found < limit || found > limit;
    }
    return false;
  };
  if (metric.integer != nullptr) return decide(metric.integer(report), node.integer);
  return decide(metric.real(report).value_or(0), node.real);
}

void FailIf::collect(std::size_t index, const std::vector<bool>& truth, const Report& report, Verdict& verdict) const {
  if (!truth[index]) return;
  const Node& node = nodes_[index];
  if (node.kind != Node::Kind::kComparison) {
    collect(node.left, truth, report, verdict);
    collect(node.right, truth, report, verdict);
    return;
  }
  verdict.because.push_back(
      fmt::format("{}: it is {}", node.text, format_metric(metric_catalog()[node.metric], report)));
}

Flag fail_if_row(std::string& target, std::string_view help) {
  return FlagGroup("Output")("--fail-if", "EXPR", help, &target);
}

bool judge(const FailIf& fail_if, const Report& report) {
  const FailIf::Verdict verdict = fail_if.evaluate(report);
  for (const std::string& reason : verdict.because) stderr_line("debubble: --fail-if: " + reason);
  return verdict.fired;
}

FailIf::Verdict FailIf::evaluate(const Report& report) const {
  std::vector<bool> truth(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.kind == Node::Kind::kAnd) truth[i] = truth[node.left] && truth[node.right];
    if (node.kind == Node::Kind::kOr) truth[i] = truth[node.left] || truth[node.right];
    if (node.kind != Node::Kind::kComparison) continue;
    const Metric& metric = metric_catalog()[node.metric];
    if (!is_known(metric, report)) {
      throw InputError(
          Diagnostic{"C036", place_, fmt::format("{} is not known in this run", metric.key), why_unknown(metric)});
    }
    truth[i] = holds(node, report);
  }
  Verdict verdict;
  verdict.fired = truth.back();
  collect(nodes_.size() - 1, truth, report, verdict);
  return verdict;
}

}  // namespace debubble
