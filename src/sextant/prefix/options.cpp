// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/options.hpp"

namespace sextant::prefix {

scan::Way way_of(const ScanOptions& options) {
    const scan::Way way{scan::find_strategy(options.strategy),
                        {scan::find(options.algorithm), options.tuning, options.gives_last},
                        options.threads,
                        options.boundaries,
                        options.shares};
    check(way);
    return way;
}

} // namespace sextant::prefix
