// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/binomial_tree.hpp"

#include <bit>

namespace sextant::collective {

int BinomialTree::reach(int rank) const {
    return rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) : rank & -rank;
}

int BinomialTree::level(int distance) const {
    return std::countr_zero(static_cast<unsigned>(reach(0) / distance)) - 1;
}

} // namespace sextant::collective
