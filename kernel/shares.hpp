// The parts of a variance as shares of the whole, and when there is no variance to share.
#pragma once

#include "spec.hpp"

namespace dynascope {

/// Whether a variance is more than rounding makes of vectors whose mean has this squared length.
/// `rounding`, a share of the mean square, stands in analysis/thresholds.py with its reason.
inline bool is_variance(double variance, double mean_square, double rounding) {
  const double size = variance < 0 ? -variance : variance;
  return variance > rounding * (mean_square + size);
}

/// From parts [SHARES]: the shares between, permutation and suffix, and the variance. False:
/// nothing varies, and nothing is written.
inline bool variance_shares(double* out, const double* parts, double rounding) {
  const double variance = parts[BETWEEN] + parts[PERMUTATION] + parts[SUFFIX];
  if (!is_variance(variance, parts[MEAN_SQUARE], rounding)) return false;
  for (int part = BETWEEN; part <= SUFFIX; ++part) out[part] = parts[part] / variance;
  out[MEAN_SQUARE] = variance;
  return true;
}

}  // namespace dynascope
