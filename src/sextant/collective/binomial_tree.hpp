// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sextant::collective {

/// The binomial tree over ranks 0 ... p − 1 in which a rank heads the ranks [rank, rank + reach):
/// its lowest set bit, or everything for rank 0. The parent is rank − reach; the children are
/// rank + d for every power of two d below reach, as far as there are such ranks.
struct BinomialTree {
    int ranks;

    int reach(int rank) const;
    /// How many levels lie above messages over this distance, the longest first.
    int level(int distance) const;
};

} // namespace sextant::collective
