// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/series.hpp"

namespace sextant::scan {

/// Reduce, then scan: each worker combines its own values into a total, in one fold that may be
/// bracketed freely, the totals are scanned across workers, and each scans its values from what
/// lies before them on. A worker that is alone only scans.
///
/// Input     this worker's values.
/// Output    as many, each combined with all before it in the series.
/// Cost      with K = N/P values a worker and a global scan of span S_G and W_G applications,
///           2K − 1 + S_G dependent applications and 2N − P − 1 + W_G in all; 1 and P fewer where
///           the global scan gives the last values. K − 1 fewer where the last total is in nobody's
///           result, since it is not made: where the global scan is exclusive.
/// Source    Dotsenko et al., ICS 2008, doi:10.1145/1375527.1375559
Program reduce_then_scan(const Worker& worker, const GlobalScan& global);

} // namespace sextant::scan
