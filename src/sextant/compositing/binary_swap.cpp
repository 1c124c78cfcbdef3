// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/binary_swap.hpp"

#include "sextant/compositing/radix_k.hpp"
#include "sextant/core/error.hpp"

#include <bit>

#include <fmt/format.h>

namespace sextant::compositing {

std::vector<int> binary_swap_radices(int positions) {
    const auto p = static_cast<unsigned>(positions);
    if (!std::has_single_bit(p)) {
        throw InvalidTask(fmt::format("binary-swap takes a power of two ranks, but {} hold images; "
                                      "two-three-swap, radix-k and direct-send take any number",
                                      positions));
    }
    return std::vector<int>(static_cast<std::size_t>(std::countr_zero(p)), 2);
}

Program binary_swap(const Task& task, int position) {
    return radix_k(task, binary_swap_radices(task.positions()), position);
}

} // namespace sextant::compositing
