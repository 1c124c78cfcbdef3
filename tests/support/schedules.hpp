// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/prove.hpp"

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace sextant::test {

/// A schedule and what is to be shown of it.
struct Case {
    std::string name;
    Schedule schedule;
    Claim claim;
};

/// ⌈log2 n⌉ for n >= 1.
inline int ceil_log2(int n) {
    return std::countr_zero(std::bit_ceil(static_cast<unsigned>(n)));
}

/// A claim that rank `rank` ends up with exactly the symbols that `wanted` lists.
inline std::function<std::string(int, const std::vector<Symbol>&)>
exactly(std::function<std::vector<Symbol>(int rank)> wanted) {
    return [wanted](int rank, const std::vector<Symbol>& result) -> std::string {
        const std::vector<Symbol> expected = wanted(rank);
        if (result.size() != expected.size()) {
            return fmt::format("{} elements, expected {}", result.size(), expected.size());
        }
        for (std::size_t e = 0; e < result.size(); ++e) {
            const Symbol &is = result[e], &should_be = expected[e];
            if (is.same_value(should_be))
                continue;
            return fmt::format("element {} is [{}, {}) of {}, expected [{}, {}) of {}", e, is.first,
                               is.last, is.element, should_be.first, should_be.last,
                               should_be.element);
        }
        return "";
    };
}

/// Each rank starts with elements 0, 1, ... of one operand, its own; rank order is operand order.
inline Symbol own_operand(int rank, int, Elements element) {
    return {element, rank, rank + 1, 0};
}

/// Elements first ... first + count − 1, each combined from operands a ... b − 1.
inline std::vector<Symbol> combined(Elements first, Elements count, int a, int b) {
    std::vector<Symbol> symbols;
    for (Elements e = first; e < first + count; ++e)
        symbols.push_back({e, a, b, 0});
    return symbols;
}

/// Rank 0 starts with the whole; rank i ends up with part i.
inline Claim scatter_claim(int ranks, Elements elements) {
    return {own_operand,
            exactly([=](int rank) {
                const Region own = part(block(0, 0, elements), rank, ranks);
                return combined(own.offset, own.length, 0, 1);
            }),
            {}};
}

/// Reads the costs off a schedule that must hold; they are all zero where it does not.
inline Proof proved(const Case& c) {
    Proof proof = prove(c.schedule, c.claim);
    return proof.holds() ? proof : Proof{.error = proof.error};
}

} // namespace sextant::test
