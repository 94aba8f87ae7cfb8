#include "schedules/exchange/compute_table_cells.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr const char* kGrammar =
    "a cell is <stage><F|B|I|W><microbatch>, like 3F12, or (3F12;4B7)OVERLAP_F_B, or empty";
constexpr const char* kCommsGrammar =
    "in addition to F, B, I and W a compute_comms table has SEND_F, RECV_F, SEND_B, RECV_B, WAIT_SEND_F and "
    "WAIT_SEND_B with a microbatch, and UNSHARD, RESHARD, REDUCE_GRAD and WAIT_REDUCE_GRAD without one";

// In the order of ActionKind.
constexpr std::array<std::string_view, kActionKinds> kWords{
    "F",      "B",      "I",           "W",           "R",       "S",       "T",           "SEND_F",          "RECV_F",
    "SEND_B", "RECV_B", "WAIT_SEND_F", "WAIT_SEND_B", "UNSHARD", "RESHARD", "REDUCE_GRAD", "WAIT_REDUCE_GRAD"};

bool is_capital(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed_cell(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

template <typename Predicate>
std::string_view take_while(std::string_view& text, Predicate belongs) {
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  const std::string_view head = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(head.size());
  return head;
}

// One below the largest number, so that the count (the number + 1) fits as well.
std::optional<std::int32_t> cell_number(std::string_view digits) {
  const auto value = take_whole<std::int32_t>(digits);
  return value == std::numeric_limits<std::int32_t>::max() ? std::nullopt : value;
}

std::optional<ActionKind> action_kind(std::string_view word) {
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<ActionKind>(found - kWords.begin());
}

bool allowed(ActionKind kind, CellWords words) {
  if (kind <= ActionKind::kWeightGrad) return true;
  return words == (is_compute(kind) ? CellWords::kNative : CellWords::kComms);
}

CellFault fault_of_word(std::string_view text, std::string_view stage, std::string_view word, CellWords words) {
  const std::optional<ActionKind> kind = action_kind(word);
  if (kind && !is_compute(*kind)) {
    return {"T024", quoted_text(text) + " is a communication action; this is a compute_comms table",
            "give the compute_only table, which has F, B, I and W alone: transfers follow from it"};
  }
  if (word == "BW") {
    return {"T024",
            quoted_text(text) + " is of the older grammar; PyTorch's parser now reads it as " +
                quoted_text(std::string(stage) + "B") + ", without a microbatch",
            "older tables write B for the input gradient and BW for the whole backward: rename B to I, then BW to B"};
  }
  return {"T024", quoted_text(text) + " is not an action", words == CellWords::kComms ? kCommsGrammar : kGrammar};
}

// One action, in full; fills `action` or says what is wrong.
CellFault read_action(std::string_view text, CellWords words, Action& action) {
  std::string_view rest = text;
  const std::string_view stage = take_while(rest, is_digit);
  const std::string_view word = take_while(rest, is_capital);
  const std::string_view microbatch = take_while(rest, is_digit);
  const std::optional<ActionKind> kind = action_kind(word);
  if (stage.empty() || word.empty()) return {"T024", quoted_text(text) + " is not an action", kGrammar};
  if (!kind || !allowed(*kind, words)) return fault_of_word(text, stage, word, words);
  const bool counts = has_microbatch(*kind);
  if (counts && microbatch.empty() && rest.empty()) {
    return {"T024", quoted_text(text) + " names no microbatch",
            "write the microbatch's number after the letter, like 3F12"};
  }
  if (!counts && !microbatch.empty()) {
    return {"T024", quoted_text(text) + " is not an action: " + std::string(word) + " takes no microbatch",
            kCommsGrammar};
  }
  if (!rest.empty()) {
    const std::string_view prefix = text.substr(0, text.size() - rest.size());
    return {"T024", quoted_text(text) + " is not an action: " + quoted_text(rest) + " follows " + quoted_text(prefix),
            "PyTorch's parser ignores what follows an action; here a cell must match in full"};
  }
  const std::optional<std::int32_t> s = cell_number(stage);
  const std::optional<std::int32_t> i = counts ? cell_number(microbatch) : std::optional<std::int32_t>(-1);
  if (!s || !i) {
    return {"T002", quoted_text(text) + " has a " + (s ? "microbatch" : "stage") + " number that is too large",
            "the largest is 2147483646"};
  }
  action = Action{*kind, *s, *i};
  return {};
}

CellFault pair_fault(std::string_view text, const std::string& what) {
  return {"T024", quoted_text(text) + " is not an overlapped pair: " + what, "write it as (3F12;4B7)OVERLAP_F_B"};
}

// "(a;b)OVERLAP_F_B"
ReadActionCell read_pair(std::string_view text, CellWords words) {
  ReadActionCell cell;
  const std::size_t close = text.find(')');
  const std::string_view inside = text.substr(1, close == std::string_view::npos ? close : close - 1);
  const auto fail = [&](const std::string& what) {
    cell.fault = pair_fault(text, what);
    return cell;
  };
  if (inside.find('(') != std::string_view::npos) return fail("pairs do not nest");
  if (close == std::string_view::npos) return fail("the closing \")\" is missing");
  if (const std::string_view suffix = trimmed_cell(text.substr(close + 1)); suffix != "OVERLAP_F_B") {
    return fail(suffix.empty() ? "\"OVERLAP_F_B\" is missing after \")\""
                               : quoted_text(suffix) + " where \"OVERLAP_F_B\" is expected");
  }
  if (trimmed_cell(inside).empty()) return fail("it has no members");
  const auto members = std::count(inside.begin(), inside.end(), ';') + 1;
  if (members != 2) return fail("it has " + std::to_string(members) + (members == 1 ? " member" : " members"));
  const std::size_t middle = inside.find(';');
  // Only compute overlaps: transfers of a pair are in cells of their own.
  const CellWords inner = words == CellWords::kNative ? words : CellWords::kCompute;
  cell.fault = read_action(trimmed_cell(inside.substr(0, middle)), inner, cell.cell.actions[0]);
  if (cell.fault.code.empty())
    cell.fault = read_action(trimmed_cell(inside.substr(middle + 1)), inner, cell.cell.actions[1]);
  cell.cell.count = 2;
  return cell;
}

// Bytes that no table may hold, whatever the grammar says about the rest.
CellFault stray_byte(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return {"G024", "a NUL byte", "save the table as plain ASCII or UTF-8 text"};
  }
  if (text.find('\r') != std::string_view::npos) {
    return {"G024", "a carriage return that no line feed follows", "end lines with LF or CRLF"};
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    return {"G024", "a byte order mark", "save the table as UTF-8 without one"};
  }
  if (text.find('"') != std::string_view::npos) {
    return {"T024", quoted_text(text) + " has a quotation mark", "cells are not quoted in this format"};
  }
  return {};
}

}  // namespace

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kMost = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return result + (text.size() > kMost ? "...\"" : "\"");
}

std::string to_string(const Action& action) {
  std::string text = std::to_string(action.stage);
  text += at(kWords, action.kind);
  return action.microbatch < 0 ? text : text + std::to_string(action.microbatch);
}

Op op_of(const Action& action) {
  return {static_cast<OpKind>(static_cast<int>(action.kind)), false, action.stage, action.microbatch};
}

std::string to_string(const ActionCell& cell) {
  if (cell.count == 0) return "";
  if (cell.count == 1) return to_string(cell.actions[0]);
  return '(' + to_string(cell.actions[0]) + ';' + to_string(cell.actions[1]) + ")OVERLAP_F_B";
}

ReadActionCell read_action_cell(std::string_view text, CellWords words) {
  text = trimmed_cell(text);
  ReadActionCell cell;
  if (text.empty()) return cell;
  cell.fault = stray_byte(text);
  if (!cell.fault.code.empty()) return cell;
  if (text.front() == '(') return read_pair(text, words);
  cell.fault = read_action(text, words, cell.cell.actions[0]);
  cell.cell.count = 1;
  return cell;
}

Cell read_cell(std::string_view text, CellWords words) {
  ReadActionCell read = read_action_cell(text, words == CellWords::kComms ? CellWords::kCompute : words);
  Cell cell;
  cell.count = read.cell.count;
  cell.fault = std::move(read.fault);
  if (!cell.fault.code.empty()) return cell;
  for (std::size_t k = 0; k < static_cast<std::size_t>(cell.count); ++k) cell.ops[k] = op_of(read.cell.actions[k]);
  cell.ops[0].paired_with_next = cell.count == 2;
  return cell;
}

}  // namespace debubble
