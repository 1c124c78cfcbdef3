// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/series.hpp"

namespace sextant::scan {

/// Scan, then propagate: each worker scans its own values, the totals are scanned across workers,
/// and each puts what lies before its values before every one of them. The first has nothing to
/// put.
///
/// Input     this worker's values.
/// Output    as many, each combined with all before it in the series.
/// Cost      with K = N/P values a worker and a global scan of W_G applications, 2N − P − K + W_G
///           in all; P − 1 fewer where the global scan gives the last values.
/// Source    Eğecioğlu, Koç, Laub, J. Comp. Appl. Math. 27, 1989, doi:10.1016/0377-0427(89)90362-2
Program scan_then_propagate(const Worker& worker, const GlobalScan& global);

} // namespace sextant::scan
