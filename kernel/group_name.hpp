// What a group of prefixes is called where it is shown.
#pragma once

#include "task_spec.hpp"

namespace dynascope {

/// Text of its own: std::string would make the WebAssembly module import a system.
class GroupName {
 public:
  char text[16 * MAX_LENGTH];  // a token, how often it comes, a space: at most 14 bytes

  /// Of two tokens the number of ones, "2×1"; else its tokens, "0 1 1"; of pairs these, "01 11";
  /// and where there are many, how often each comes, "3×01 9×11". `canonical`: what stands for it.
  GroupName(const TaskSpec& t, const int32_t* canonical) {
    const bool pairs = TASK_GROUPINGS[t.kind] == Grouping::PAIRS;
    if (t.vocab == 2 && !pairs) {
      int64_t ones = 0;
      for (int64_t i = 0; i < t.relevant; ++i) ones += canonical[i];
      add(ones);
      add("×1");
      return;
    }
    const int64_t step = pairs ? 2 : 1;
    const bool counted = t.relevant > SPELT_OUT * step;
    for (int64_t i = 0, next; i < t.relevant; i = next) {
      const int32_t a = canonical[i], b = canonical[i + step - 1];
      next = i + step;
      while (counted && next < t.relevant && canonical[next] == a &&
             canonical[next + step - 1] == b)
        next += step;
      if (i > 0) add(" ");
      if (counted) add((next - i) / step);
      if (counted) add("×");
      add(a);
      if (pairs && t.vocab > 10) add("·");
      if (pairs) add(b);
    }
  }

 private:
  static constexpr int64_t SPELT_OUT = 8;  // things at most that are told one by one
  int64_t length_ = 0;

  void add(const char* more) {
    while (*more) text[length_++] = *more++;
    text[length_] = 0;
  }
  void add(int64_t number) {
    if (number >= 10) add(number / 10);
    const char digit[] = {static_cast<char>('0' + number % 10), 0};
    add(digit);
  }
};

}  // namespace dynascope
