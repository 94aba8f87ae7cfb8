#include "studies/whatif/result.hpp"

#include "sim/core/words.hpp"

namespace debubble {

std::string in_words(IdleCause cause) { return with_blanks(to_string(cause)); }

}  // namespace debubble
