// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/units.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

namespace sextant {

/// The function that applies an operator to elements of one format.
class FoldFunction {
  public:
    using Sources = std::span<const std::byte* const>;

    FoldFunction() = default;
    /// From a function of (sources, to, elements, of), or of (sources, to, elements).
    template <class Function>
    requires std::invocable<Function, Sources, std::byte*, Elements, Elements>
    FoldFunction(Function function) : function_(std::move(function)) {}
    template <class Function>
    requires std::invocable<Function, Sources, std::byte*, Elements> FoldFunction(Function function)
        : function_([function](Sources sources, std::byte* to, Elements elements, Elements) {
              function(sources, to, elements);
          }) {}

    explicit operator bool() const { return static_cast<bool>(function_); }
    /// `of`: the number of elements of the whole pass, if this call folds a slice of it. A result
    /// too large for the cache may be written with stores that bypass it.
    void operator()(Sources sources, std::byte* to, Elements elements, Elements of = 0) const {
        function_(sources, to, elements, std::max(elements, of));
    }

  private:
    std::function<void(Sources, std::byte*, Elements, Elements)> function_;
};

/// An associative combination of elements, ⊕, which a `fold` step applies. Operand order matters
/// unless `commutative`.
struct Operator {
    std::string_view name;
    std::string_view summary;
    ElementFormat element;
    bool commutative = false;

    /// True if folding leading runs of the sources one after another gives the same bits as one
    /// fold. False if a fold computes with more digits than its elements have and rounds once at
    /// its end; such operands are combined all at once if results must be reproducible.
    bool exact_when_split = false;

    /// to[i] = ((sources[0][i] ⊕ sources[1][i]) ⊕ ...) ⊕ sources.back()[i], in one pass. `to` may
    /// be one of the sources; other overlap is not allowed. Requires at least one source; a single
    /// one is copied. Deterministic: the same bits on every processor.
    FoldFunction fold;

    /// Fills `to` with empty pixels. Combining an element with an empty one leaves it unchanged
    /// (but a transparent element at infinite depth may become empty, and one NaN another).
    /// Combining twice gives the bits of combining once.
    std::function<void(std::byte* to, Elements elements)> fill_identity;

    /// The number of bytes of an element that are in use, at least one, for elements shorter than
    /// their format (lists). A message or copy of a single element omits the rest. Empty: all.
    std::function<Bytes(const std::byte* element)> used = {};
};

} // namespace sextant
