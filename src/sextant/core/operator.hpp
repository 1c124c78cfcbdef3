// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace sextant {

/// An associative combination of elements, ⊕: what a `fold` step applies. Operand order matters
/// unless `commutative`.
struct Operator {
    std::string_view name;
    std::string_view summary;
    ElementFormat element;
    bool commutative = false;

    /// to[i] = ((sources[0][i] ⊕ sources[1][i]) ⊕ ...) ⊕ sources.back()[i], in one pass.
    /// `to` may be one of the sources; other overlap is not allowed. At least one source.
    /// Splitting the sources into leading runs folded one after another gives the same bits.
    std::function<void(std::span<const std::byte* const> sources, std::byte* to, Elements elements)>
        fold;

    /// Fills `to` with what an image holds where nothing was drawn. It leaves every element as it
    /// is (one infinitely far away may be taken for nothing).
    std::function<void(std::byte* to, Elements elements)> fill_identity;
};

} // namespace sextant
