// Products of two 64-bit numbers. __int128 is an extension that g++ and clang share.
#pragma once

namespace debubble {

__extension__ using WideUnsigned = unsigned __int128;

}  // namespace debubble
