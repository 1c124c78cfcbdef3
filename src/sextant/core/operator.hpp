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

    /// Whether splitting the sources of a fold into leading runs, folded one after another, gives
    /// the same bits. Not so where a fold computes in more digits than its elements have and rounds
    /// once, at its end: such operands are combined all at once where bits must not vary.
    bool exact_when_split = false;

    /// to[i] = ((sources[0][i] ⊕ sources[1][i]) ⊕ ...) ⊕ sources.back()[i], in one pass.
    /// `to` may be one of the sources; other overlap is not allowed. At least one source; a single
    /// one is copied.
    /// Deterministic: the same bits on every processor.
    std::function<void(std::span<const std::byte* const> sources, std::byte* to, Elements elements)>
        fold;

    /// Fills `to` with what an image holds where nothing was drawn. It leaves every element as it
    /// is (a transparent one infinitely far away may be taken for nothing).
    std::function<void(std::byte* to, Elements elements)> fill_identity;
};

} // namespace sextant
