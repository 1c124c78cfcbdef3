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
    /// Wraps a function with the parameters (sources, to, elements), with or without `of`.
    template <class Function>
    requires std::invocable<Function, Sources, std::byte*, Elements, Elements>
    FoldFunction(Function function) : function_(std::move(function)) {}
    template <class Function>
    requires std::invocable<Function, Sources, std::byte*, Elements> FoldFunction(Function function)
        : function_([function](Sources sources, std::byte* to, Elements elements, Elements) {
              function(sources, to, elements);
          }) {}

    explicit operator bool() const { return static_cast<bool>(function_); }
    /// `of`: the number of elements of the whole fold, if this call processes only a slice of it. A
    /// result too large for the cache may be written with stores that bypass the cache.
    void operator()(Sources sources, std::byte* to, Elements elements, Elements of = 0) const {
        function_(sources, to, elements, std::max(elements, of));
    }

  private:
    std::function<void(Sources, std::byte*, Elements, Elements)> function_;
};

/// An associative binary operation on elements, ⊕, applied by the `fold` steps of schedules.
/// Operand order matters unless `commutative`.
struct Operator {
    std::string_view name;
    std::string_view summary;
    ElementFormat element;
    bool commutative = false;

    /// True if a fold may be split: folding the first few sources, then that result with the next
    /// few, and so on, is bitwise identical to one fold of all. False if a fold computes with more
    /// precision than the element format and rounds once at its end. All operands are then combined
    /// in one fold if results must be reproducible.
    bool exact_when_split = false;

    /// to[i] = ((sources[0][i] ⊕ sources[1][i]) ⊕ ...) ⊕ sources.back()[i], in one pass. `to` may
    /// be one of the sources; any other overlap is not allowed. Requires at least one source; a
    /// single source is copied. Deterministic: the same bits on every processor.
    FoldFunction fold;

    /// Fills `to` with empty pixels. Combining an element with an empty one leaves it unchanged,
    /// except that a transparent element at infinite depth may become empty, and the bits of a NaN
    /// may change. Repeating the combination changes nothing more.
    std::function<void(std::byte* to, Elements elements)> fill_identity;

    /// The number of bytes of an element that are in use, at least one, for elements that may be
    /// shorter than their format (lists). Messages and copies of a single element omit the other
    /// bytes. An empty function means that all bytes are in use.
    std::function<Bytes(const std::byte* element)> used = {};

    /// True if `fold` throws nothing and accepts elements of zero bytes: MPI may then call it.
    bool nothrow = false;
};

} // namespace sextant
