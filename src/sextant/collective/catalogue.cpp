// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"

#include "sextant/collective/all_to_all.hpp"
#include "sextant/collective/level_algorithms.hpp"
#include "sextant/collective/reductions.hpp"
#include "sextant/collective/scatter_gather.hpp"
#include "sextant/collective/tiles.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::collective {

namespace {

Region tile_of(const Partition& data, int rank) {
    return PackedTiles(data).region_of(rank, 0);
}

Region all_of(const Partition& data) {
    return block(0, 0, data.elements());
}

Region at_root(const Partition& data, int rank) {
    return rank == 0 ? all_of(data) : Region{};
}

/// The number of operands that a rank ends with, from the first one.
int operands_after(CollectiveKind kind, int ranks, int rank) {
    return !combines(kind)                          ? 1
           : kind == CollectiveKind::scan           ? rank + 1
           : kind == CollectiveKind::exclusive_scan ? rank
                                                    : ranks;
}

std::string judge(const std::vector<Symbol>& result, const Region& wanted, int operands) {
    if (static_cast<Elements>(result.size()) != wanted.elements())
        return fmt::format("{} elements, expected {}", result.size(), wanted.elements());
    for (Elements e = 0; e < wanted.elements(); ++e) {
        const Symbol& is = result[static_cast<std::size_t>(e)];
        if (is.element != wanted.at(e))
            return fmt::format("element {} holds element {} of the whole, expected {}", e,
                               is.element, wanted.at(e));
        if (!is.same_value({is.element, 0, operands})) {
            return fmt::format("element {} combines operands [{}, {}){}, expected [0, {})", e,
                               is.first, is.last, is.gaps > 0 ? " with gaps" : "", operands);
        }
    }
    return "";
}

} // namespace

Region pixels_before(CollectiveKind kind, const Partition& data, int rank) {
    switch (kind) {
    case CollectiveKind::broadcast:
    case CollectiveKind::scatter:
        return at_root(data, rank);
    case CollectiveKind::gather:
    case CollectiveKind::all_gather:
        return tile_of(data, rank);
    case CollectiveKind::all_to_all:
        return tile_of(Grid{data.grid().width, data.grid().height, 1, data.ranks()}, rank);
    default:
        return all_of(data);
    }
}

Region pixels_after(CollectiveKind kind, const Partition& data, int rank) {
    switch (kind) {
    case CollectiveKind::exclusive_scan:
        return rank > 0 ? all_of(data) : Region{};
    case CollectiveKind::scatter:
    case CollectiveKind::reduce_scatter:
        return tile_of(data, rank);
    case CollectiveKind::gather:
    case CollectiveKind::reduce:
        return at_root(data, rank);
    case CollectiveKind::all_to_all:
        return tile_of(Grid{data.grid().width, data.grid().height, data.ranks(), 1}, rank);
    default:
        return all_of(data);
    }
}

Claim claim_of(CollectiveKind kind, const Partition& data, bool commutative) {
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        const int operand = combines(kind) ? rank : 0;
        return Symbol{pixels_before(kind, data, rank).at(e), operand, operand + 1};
    };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        return judge(result, pixels_after(kind, data, rank),
                     operands_after(kind, data.ranks(), rank));
    };
    claim.order = commutative ? Order::any : Order::given;
    return claim;
}

namespace {

/// A nearly square image of at most this many pixels, on a nearly square grid of processors.
Grid square_image(int ranks, Elements elements) {
    const auto root = static_cast<Elements>(std::sqrt(static_cast<double>(elements)));
    const Elements width = std::max<Elements>(1, root);
    return near_square(ranks, width, elements / width);
}

/// An image with one row of this many values per rank.
Grid row_each(int ranks, Elements elements) {
    return near_square(ranks, elements, ranks);
}

/// The published fractions γ of logp-lev-rec.
constexpr double share_of_scatter = .75, share_of_gather = .60;

Program uneven_scatter(const Partition& data, int rank) {
    return halving_scatter(data, rank, share_of_scatter);
}

Program uneven_gather(const Partition& data, int rank) {
    return halving_gather(data, rank, share_of_gather);
}

constexpr std::string_view hambrusch = "Hambrusch and Khokhar 1996, doi:10.1006/jpdc.1996.0010";
constexpr std::string_view seinstra = "Seinstra and Koelma 2002";
constexpr std::string_view chan = "Chan et al. 2007, doi:10.1002/cpe.1206";

const Algorithm algorithms[] = {
    {"binomial-scatter", "binomial tree: each rank repeatedly sends half of its remaining tiles",
     chan, CollectiveKind::scatter, strips,
     static_cast<Program (*)(const Partition&, int)>(binomial_scatter)},
    {"binomial-gather",
     "binomial tree: each rank collects the tiles of its subtree and sends them on", chan,
     CollectiveKind::gather, strips, binomial_gather},
    {"flat-scatter",
     "rank 0 sends each other rank its tile (1-lev-dir one-to-all of the C3 library)", seinstra,
     CollectiveKind::scatter, strips, flat_scatter},
    {"flat-gather",
     "rank 0 receives each other rank's tile (1-lev-dir all-to-one of the C3 library)", seinstra,
     CollectiveKind::gather, strips, flat_gather},
    {"1-lev-br-broadcast",
     "the whole image is sent to all ranks by recursive halving of the machine", hambrusch,
     CollectiveKind::broadcast, square_image, halving_broadcast},
    {"scatter-all-gather-broadcast", "binomial scatter of equal parts, then ring all-gather", chan,
     CollectiveKind::broadcast, square_image, scatter_all_gather_broadcast},
    {"direct-all-gather", "each rank sends its tile to all others at once", chan,
     CollectiveKind::all_gather, strips, direct_all_gather},
    {"ring-all-gather", "tiles circulate around a ring of ranks until each rank has all", chan,
     CollectiveKind::all_gather, strips, ring_all_gather},
    {"2-lev-rec-scatter", "scatter down a column of processors, then along their rows", hambrusch,
     CollectiveKind::scatter, square_image,
     static_cast<Program (*)(const Partition&, int)>(two_level_scatter), "alpha",
     static_cast<Program (*)(const Partition&, int, double)>(two_level_scatter)},
    {"2-lev-rec-gather", "gather along the rows of processors, then up a column", hambrusch,
     CollectiveKind::gather, square_image,
     static_cast<Program (*)(const Partition&, int)>(two_level_gather), "alpha",
     static_cast<Program (*)(const Partition&, int, double)>(two_level_gather)},
    {"3-lev-sq-scatter",
     "scatter to square blocks of processors, to the rows of each block, then along the rows",
     hambrusch, CollectiveKind::scatter, square_image, three_level_scatter},
    {"3-lev-sq-gather",
     "gather along the rows of square blocks of processors, within each block, then from all "
     "blocks",
     hambrusch, CollectiveKind::gather, square_image, three_level_gather},
    {"logp-lev-sq-scatter", "recursive halving: each leader sends the other half its tiles",
     hambrusch, CollectiveKind::scatter, square_image,
     [](const Partition& data, int rank) { return halving_scatter(data, rank); }},
    {"logp-lev-sq-gather", "recursive halving: each leader receives the tiles of the other half",
     hambrusch, CollectiveKind::gather, square_image,
     [](const Partition& data, int rank) { return halving_gather(data, rank); }},
    {"logp-lev-rec-scatter",
     "recursive division into 3/4 and 1/4 of the ranks; each leader keeps the larger part",
     hambrusch, CollectiveKind::scatter, square_image, uneven_scatter, "gamma", halving_scatter},
    {"logp-lev-rec-gather",
     "recursive division into 3/5 and 2/5 of the ranks; each leader is in the larger part",
     hambrusch, CollectiveKind::gather, square_image, uneven_gather, "gamma", halving_gather},
    {"1-lev-dir-all-to-all", "each rank sends to all others at once", hambrusch,
     CollectiveKind::all_to_all, row_each, direct_all_to_all},
    {"1-lev-lin-all-to-all", "in round i, each rank sends to the rank i positions after it",
     hambrusch, CollectiveKind::all_to_all, row_each, linear_all_to_all},
    {"1-lev-xor-all-to-all", "in round i, each rank exchanges data with rank XOR i", hambrusch,
     CollectiveKind::all_to_all, row_each, exclusive_or_all_to_all},
    {"2-lev-cr-all-to-all", "exchange within columns of processors, then within rows", hambrusch,
     CollectiveKind::all_to_all, row_each, columns_rows_all_to_all},
    {"2-lev-sq-all-to-all",
     "exchange within squares of processors, between squares, then within squares", hambrusch,
     CollectiveKind::all_to_all, row_each, squares_all_to_all},
    {"logp-lev-bfly-all-to-all",
     "butterfly: exchange with the other half of the machine, recursively", hambrusch,
     CollectiveKind::all_to_all, row_each, butterfly_all_to_all}};

constexpr std::string_view patarasuk = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002";

const Algorithm reduction_algorithms[] = {
    {"direct-reduce-scatter",
     "each rank receives its block from all others at once, and combines in rank order", chan,
     CollectiveKind::reduce_scatter, strips, direct_reduce_scatter},
    {.name = "ring-reduce-scatter",
     .summary = "blocks circulate around a ring of ranks, each of which combines its operand",
     .source = patarasuk,
     .what = CollectiveKind::reduce_scatter,
     .grid = strips,
     .program = ring_reduce_scatter,
     .commutative = true},
    {.name = "ring-all-reduce",
     .summary = "ring reduce-scatter of equal parts, then ring all-gather",
     .source = patarasuk,
     .what = CollectiveKind::all_reduce,
     .grid = strips,
     .program = ring_all_reduce,
     .commutative = true}};

} // namespace

std::span<const Algorithm> catalogue() {
    return algorithms;
}

std::span<const Algorithm> reductions() {
    return reduction_algorithms;
}

const Algorithm& find(std::string_view name) {
    return find_by_name<Algorithm>("collective algorithm", name, algorithms);
}

} // namespace sextant::collective
