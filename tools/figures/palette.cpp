#include "tools/figures/palette.hpp"

#include <array>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"

namespace debubble::figure {

namespace {

struct KindLook {
  const char* fill;
  const char* light;
  const char* ink;
  const char* grey;
  Hatch hatch;  // in mono
};

// In the order of OpKind: F, B, I, W, R, S, T.
constexpr std::array<KindLook, kOpKinds> kKindLooks{{
    {"#0072b2", "#7fc4ee", kPaper, "#ffffff", Hatch::kNone},
    {"#e69f00", "#f8d58c", kText, "#c4c4c4", Hatch::kNone},
    {"#f0e442", "#f9f4ad", kText, "#dedede", Hatch::kUp},
    {"#009e73", "#7fd6bb", kText, "#969696", Hatch::kNone},
    {"#cc79a7", "#ebc5da", kText, "#ffffff", Hatch::kDown},
    {"#6a5acd", "#bdb5ee", kPaper, "#ffffff", Hatch::kUpright},
    {"#8b5a2b", "#d8b999", kPaper, "#c4c4c4", Hatch::kFlat},
}};

struct CauseLook {
  const char* fill;
  const char* sign;
  const char* grey;
  Hatch hatch;
};

// In the order of IdleCause.
constexpr std::array<CauseLook, kIdleCauses> kCauseLooks{{
    {"#9ecae1", "f", "#ffffff", Hatch::kUp},
    {"#c6dbef", "d", "#ffffff", Hatch::kDown},
    {"#fdae6b", "=", "#ededed", Hatch::kNone},
    {"#56b4e9", "l", "#ffffff", Hatch::kUpright},
    {"#2b8cbe", "b", "#ffffff", Hatch::kFlat},
    {"#045a8d", "c", "#ffffff", Hatch::kCross},
    {"#8c6bb1", "*", "#dddddd", Hatch::kUp},
    {"#d7301f", "s", "#777777", Hatch::kNone},
    {"#cc79a7", "m", "#dddddd", Hatch::kCross},
    {"#969696", "g", "#dddddd", Hatch::kFlat},
}};

struct CategoryLook {
  const char* fill;
  const char* grey;
  Hatch hatch;
};

// In the order of MemoryCategory.
constexpr std::array<CategoryLook, kMemoryCategories> kCategoryLooks{{
    {"#4e79a7", "#777777", Hatch::kNone},
    {"#76b7b2", "#999999", Hatch::kNone},
    {"#9c9c9c", "#bbbbbb", Hatch::kNone},
    {"#a0cbe8", "#dddddd", Hatch::kNone},
    {"#e69f00", "#ffffff", Hatch::kUp},
    {"#009e73", "#ffffff", Hatch::kCross},
    {"#56b4e9", "#ffffff", Hatch::kDown},
    {"#b07aa1", "#ffffff", Hatch::kUpright},
    {"#d4a6c8", "#ffffff", Hatch::kFlat},
}};

}  // namespace

Look look_of(OpKind kind, bool light, bool mono) {
  const KindLook& look = at(kKindLooks, kind);
  if (mono) return {look.grey, kText, look.hatch};
  return {light ? look.light : look.fill, light ? kText : look.ink, Hatch::kNone};
}

Look look_of(IdleCause cause, bool mono) {
  const CauseLook& look = at(kCauseLooks, cause);
  const bool dark = cause == IdleCause::kContention || cause == IdleCause::kStraggler;
  if (mono) return {look.grey, kText, look.hatch};
  return {look.fill, dark ? kPaper : kText, Hatch::kNone};
}

Look look_of(MemoryCategory category, bool mono) {
  const CategoryLook& look = at(kCategoryLooks, category);
  if (mono) return {look.grey, kText, look.hatch};
  return {look.fill, kText, Hatch::kNone};
}

Look look_of_step(bool mono) {
  if (mono) return {"#ffffff", kText, Hatch::kCross};
  return {"#999999", kText, Hatch::kNone};
}

Look look_of_collective(bool mono) { return {mono ? "#444444" : "#8c6bb1", kPaper, Hatch::kNone}; }

const char* sign_of(IdleCause cause) { return at(kCauseLooks, cause).sign; }

std::string words_of(IdleCause cause) { return with_blanks(to_string(cause)); }
std::string words_of(MemoryCategory category) { return with_blanks(to_string(category)); }

}  // namespace debubble::figure
