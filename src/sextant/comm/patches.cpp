// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/patches.hpp"

#include "sextant/kernel/fold/sparse_code.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

std::vector<std::byte> nothing_of(const Operator& op) {
    if (!op.fill_identity || op.element.size % 4 != 0) {
        throw std::logic_error(fmt::format("{} on {}: messages cannot leave out what is not drawn",
                                           op.name, op.element.name));
    }
    std::vector<std::byte> nothing(static_cast<std::size_t>(op.element.size));
    op.fill_identity(nothing.data(), 1);
    return nothing;
}

Patches::Patches(const Operator& op, std::size_t operands)
    : size_(op.element.size),
      elements_(std::max<Elements>(1, most_bytes / size_)),
      memory_(static_cast<Bytes>(operands + 1) * elements_ * size_) {
    kernel::repeat(nothing_of(op), elements_, memory_.data());
}

const std::byte* Patches::repeated(std::size_t operand, const std::byte* element, Elements count) {
    std::byte* const to = memory_.data() + static_cast<Bytes>(operand + 1) * elements_ * size_;
    kernel::repeat({element, static_cast<std::size_t>(size_)}, count, to);
    return to;
}

} // namespace sextant
