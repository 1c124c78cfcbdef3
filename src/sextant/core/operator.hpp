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

/// The code of an operator, for one element format.
class FoldFunction {
  public:
    using Sources = std::span<const std::byte* const>;

    FoldFunction() = default;
    /// From a function of (sources, to, elements, of), or one that has no use for `of`.
    template <class Function>
    requires std::invocable<Function, Sources, std::byte*, Elements, Elements>
    FoldFunction(Function function) : function_(std::move(function)) {}
    template <class Function>
    requires std::invocable<Function, Sources, std::byte*, Elements> FoldFunction(Function function)
        : function_([function](Sources sources, std::byte* to, Elements elements, Elements) {
              function(sources, to, elements);
          }) {}

    explicit operator bool() const { return static_cast<bool>(function_); }
    /// `of`: how many elements the whole pass has of which these are a slice. A result too large to
    /// stay in a cache may be written past it.
    void operator()(Sources sources, std::byte* to, Elements elements, Elements of = 0) const {
        function_(sources, to, elements, std::max(elements, of));
    }

  private:
    std::function<void(Sources, std::byte*, Elements, Elements)> function_;
};

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
    FoldFunction fold;

    /// Fills `to` with what an image holds where nothing was drawn. It leaves every element as it
    /// is (a transparent one infinitely far away may be taken for nothing, and what is no number
    /// for another); combined with it twice, it is to the bit as combined once.
    std::function<void(std::byte* to, Elements elements)> fill_identity;

    /// How many of an element's bytes count, where elements may be shorter than their format
    /// (lists): at least one. A message or copy of one such element leaves out the others. Empty:
    /// all count.
    std::function<Bytes(const std::byte* element)> used = {};
};

} // namespace sextant
