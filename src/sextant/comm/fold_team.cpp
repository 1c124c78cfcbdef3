// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/fold_team.hpp"

#include <utility>

namespace sextant {

namespace {

/// The least that a thread is woken for.
constexpr Bytes smallest_part = Bytes{16} << 10;

} // namespace

FoldTeam::FoldTeam(int threads) : team_(threads), sources_(static_cast<std::size_t>(threads)) {}

void FoldTeam::fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to,
                    Bytes size, Elements elements, Elements of) {
    const int parts = threads();
    if (parts == 1 || elements * size < smallest_part * parts)
        return fold(sources, to, elements, of);
    team_.run(parts, [&](int part, int) {
        const Elements first = elements * part / parts, last = elements * (part + 1) / parts;
        std::vector<const std::byte*>& moved = sources_[static_cast<std::size_t>(part)];
        moved.assign(sources.begin(), sources.end());
        for (const std::byte*& source : moved)
            source += first * size;
        fold(moved, to + first * size, last - first, of);
    });
}

Operator folded_by(FoldTeam& team, Operator op) {
    op.fold = [&team, fold = std::move(op.fold), size = op.element.size](
                  FoldFunction::Sources sources, std::byte* to, Elements elements, Elements of) {
        team.fold(fold, sources, to, size, elements, of);
    };
    return op;
}

} // namespace sextant
