// What transform files need to read their request, to refuse it well and to sign their result.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedules/transforms/contract.hpp"

namespace debubble {

// The request as the transform called `name` reads it. Every reader throws InputError for text of another form.
class TransformParams {
 public:
  TransformParams(const TransformRequest& request, std::string_view name) : request_(&request), name_(name) {}

  [[nodiscard]] bool given(std::string_view key) const { return request_->params.contains(std::string(key)); }
  // As text, or "" when it was not given.
  [[nodiscard]] std::string text(std::string_view key) const;
  // A whole number of at least `least`.
  [[nodiscard]] int whole(std::string_view key, int fallback, int least) const;
  // One of `choices` ("a|b|c"); the first of them when it was not given.
  [[nodiscard]] std::string choice(std::string_view key, std::string_view choices) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback) const;  // "true" or "false"
  // A number from 0 to 1.
  [[nodiscard]] double share(std::string_view key, double fallback) const;
  // "all", or numbers and ranges joined by +: "0+2-4"; one entry per number below `count`.
  [[nodiscard]] std::vector<bool> selection(std::string_view key, int count) const;

  // Throws InputError about this parameter, or about the transform as a whole where `key` is empty.
  [[noreturn]] void refuse(std::string code, std::string_view key, std::string message, std::string help) const;

 private:
  const TransformRequest* request_;
  std::string name_;
};

// The schedule's name and params say what was done to it: "1f1b + recompute", and "recompute.mode" "full". A transform
// applied a second time signs as "recompute#2".
void sign(Schedule& schedule, const std::string& transform,
          const std::vector<std::pair<std::string, std::string>>& params);

}  // namespace debubble
