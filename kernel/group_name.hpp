// What a group of prefixes is called where it is shown.
#pragma once

#include <string>

#include "task_spec.hpp"

namespace dynascope {

/// Of two tokens the number of ones, "2×1"; else its tokens, "0 1 1"; of pairs these, "01 11"; and
/// where there are many, how often each comes, "3×01 9×11". `canonical`: what stands for the group.
inline std::string group_name(const TaskSpec& t, const int32_t* canonical) {
  constexpr int64_t LONGEST = 8;  // things that are spelt out one by one
  const bool pairs = TASK_GROUPINGS[t.kind] == PAIRS;
  const int64_t step = pairs ? 2 : 1;
  if (t.vocab == 2 && !pairs) {
    int64_t ones = 0;
    for (int64_t i = 0; i < t.relevant; ++i) ones += canonical[i];
    return std::to_string(ones) + "×1";
  }
  std::string name;
  for (int64_t i = 0, next; i < t.relevant; i = next) {
    next = i + step;
    const auto same = [&] {
      return next < t.relevant && canonical[next] == canonical[i] &&
             (!pairs || canonical[next + 1] == canonical[i + 1]);
    };
    while (t.relevant > LONGEST * step && same()) next += step;
    if (i > 0) name += " ";
    if (t.relevant > LONGEST * step) name += std::to_string((next - i) / step) + "×";
    name += std::to_string(canonical[i]);
    if (pairs) name += (t.vocab > 10 ? "·" : "") + std::to_string(canonical[i + 1]);
  }
  return name;
}

}  // namespace dynascope
