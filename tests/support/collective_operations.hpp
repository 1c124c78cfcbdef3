// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collectives/collective.hpp"
#include "sextant/comm/agreement.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/exact_operators.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

// Tests that compare collective operations with loops over the ranks, used over threads and over
// MPI. Each function is collective.
namespace sextant::test {

inline constexpr CollectiveKind collective_kinds[] = {
    CollectiveKind::broadcast,     CollectiveKind::scatter,        CollectiveKind::gather,
    CollectiveKind::all_gather,    CollectiveKind::all_to_all,     CollectiveKind::reduce,
    CollectiveKind::all_reduce,    CollectiveKind::reduce_scatter, CollectiveKind::scan,
    CollectiveKind::exclusive_scan};

/// Element `index` of the block that rank `from` sends to rank `to`. MPI has no type of its size,
/// three bytes.
struct Token {
    std::uint8_t from = 0, to = 0, index = 0;
    bool operator==(const Token&) const = default;
};

/// Number of elements that one rank sends to another.
using Lengths = std::function<Elements(int from, int to)>;

/// An operation, and the contents of each rank's buffers as defined by the MPI standard.
struct CollectiveCase {
    CollectiveKind kind;
    int ranks, root;
    Lengths lengths;

    bool combines() const { return kind >= CollectiveKind::reduce; }
    bool rooted() const {
        return kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter ||
               kind == CollectiveKind::gather || kind == CollectiveKind::reduce;
    }

    std::vector<Elements> counts(int rank) const {
        switch (kind) {
        case CollectiveKind::scatter:
        case CollectiveKind::reduce_scatter:
            return {lengths(root, rank)};
        case CollectiveKind::gather:
            return {lengths(rank, root)};
        case CollectiveKind::all_gather:
            return {lengths(rank, 0)};
        case CollectiveKind::all_to_all: {
            std::vector<Elements> all;
            for (int to = 0; to < ranks; ++to)
                all.push_back(lengths(rank, to));
            return all;
        }
        default:
            return {lengths(0, 0)};
        }
    }

    std::vector<Token> block(int from, int to, Elements length) const {
        std::vector<Token> tokens;
        for (Elements i = 0; i < length; ++i)
            tokens.push_back({static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
                              static_cast<std::uint8_t>(i)});
        return tokens;
    }

    std::vector<Token> sent(int rank) const {
        const bool at_root = rank == root;
        std::vector<Token> all;
        for (int to = 0; to < ranks; ++to) {
            const bool once = kind != CollectiveKind::scatter && kind != CollectiveKind::all_to_all;
            const bool silent =
                !at_root && (kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter);
            if (silent || (once && to > 0))
                continue;
            const int other = kind == CollectiveKind::gather ? root : to;
            const Elements length =
                kind == CollectiveKind::broadcast ? lengths(0, 0) : lengths(rank, other);
            const std::vector<Token> own = block(rank, other, length);
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    }

    std::vector<Token> received(int rank) const {
        const bool at_root = rank == root;
        if (kind == CollectiveKind::broadcast)
            return at_root ? std::vector<Token>() : sent(root);
        if (kind == CollectiveKind::scatter)
            return block(root, rank, lengths(root, rank));
        if (kind == CollectiveKind::gather && !at_root)
            return {};
        std::vector<Token> all;
        for (int from = 0; from < ranks; ++from) {
            const int to = kind == CollectiveKind::all_to_all   ? rank
                           : kind == CollectiveKind::all_gather ? 0
                                                                : root;
            const std::vector<Token> theirs = block(from, to, lengths(from, to));
            all.insert(all.end(), theirs.begin(), theirs.end());
        }
        return all;
    }

    /// The elements that a rank ends with, of those that are combined: first and number.
    std::pair<Elements, Elements> own_block(int rank) const {
        if (kind != CollectiveKind::reduce_scatter)
            return {0, lengths(0, 0)};
        Elements first = 0;
        for (int each = 0; each < rank; ++each)
            first += lengths(root, each);
        return {first, lengths(root, rank)};
    }

    template <class Value = Matrix>
    std::vector<Value> operands(int rank) const {
        const auto [first, last_length] = own_block(ranks - 1);
        return exact_values<Value>(static_cast<std::uint64_t>(rank) * 100, first + last_length);
    }

    template <class Value = Matrix>
    std::vector<Value> combined(int rank) const {
        if (kind == CollectiveKind::reduce && rank != root)
            return {};
        const int last = kind == CollectiveKind::scan             ? rank
                         : kind == CollectiveKind::exclusive_scan ? rank - 1
                                                                  : ranks - 1;
        if (last < 0)
            return {};
        std::vector<Value> all = operands<Value>(0);
        for (int from = 1; from <= last; ++from) {
            const std::vector<Value> theirs = operands<Value>(from);
            for (std::size_t i = 0; i < all.size(); ++i)
                all[i] = combine(all[i], theirs[i]);
        }
        const auto [first, length] = own_block(rank);
        return {all.begin() + first, all.begin() + first + length};
    }
};

/// A number modulo 2⁶⁴, added exactly: the sum does not depend on the order.
struct Count {
    std::uint64_t value = 0;
    bool operator==(const Count&) const = default;
};

inline Count combine(Count left, Count right) noexcept {
    return {left.value + right.value};
}

template <>
inline Count exact_value<Count>(std::uint64_t number) {
    return {(number + 1) * 0x9e3779b97f4a7c15};
}

inline Operator count_sum() {
    auto op =
        element_operator<Count>("sum", [](Count a, Count b) noexcept { return combine(a, b); });
    op.commutative = true;
    return op;
}

inline Operator matrix_product() {
    return element_operator<Matrix>(
        "product",
        [](const Matrix& left, const Matrix& right) noexcept { return combine(left, right); });
}

/// Runs three times: with the result in the operation's own memory, then in two different buffers
/// of the caller.
template <class Element>
void expect_runs(Collective& collective, const std::vector<Element>& send,
                 const std::vector<Element>& expected, const std::string& name) {
    ASSERT_EQ(collective.send_count(), static_cast<Elements>(send.size())) << name;
    ASSERT_EQ(collective.receive_count(), static_cast<Elements>(expected.size())) << name;
    const auto own = collective.run<Element>(send);
    EXPECT_TRUE(std::equal(own.begin(), own.end(), expected.begin(), expected.end())) << name;
    for (int i = 0; i < 2; ++i) {
        const std::vector<Element> moved = send;
        std::vector<Element> received(expected.size());
        collective.run<Element>(moved, received);
        EXPECT_EQ(received, expected) << name;
    }
}

inline void expect_collective(const Communicator& communicator, const CollectiveCase& what,
                              const std::string& algorithm, bool commutes = false) {
    const int rank = communicator.rank();
    CollectiveTask task{what.kind, what.counts(rank), sizeof(Token)};
    if (what.combines())
        task.op = commutes ? count_sum() : matrix_product();
    Collective collective(communicator, task, {.algorithm = algorithm, .root = what.root});
    const std::string name =
        fmt::format("{} by {} on rank {} of {}, root {}", sextant::name(what.kind),
                    collective.plan().text(), rank, what.ranks, what.root);
    if (commutes)
        expect_runs(collective, what.operands<Count>(rank), what.combined<Count>(rank), name);
    else if (what.combines())
        expect_runs(collective, what.operands(rank), what.combined(rank), name);
    else
        expect_runs(collective, what.sent(rank), what.received(rank), name);
}

/// Equal blocks, uneven ones, all data on one rank, and no data.
inline std::vector<Lengths> usual_lengths(int ranks) {
    return {[](int, int) -> Elements { return 5; },
            [](int from, int to) -> Elements { return (7 * from + 3 * to + from * to) % 6; },
            [ranks](int from, int to) -> Elements { return from + to == ranks - 1 ? 40 : 0; },
            [](int, int) -> Elements { return 0; }};
}

inline bool takes(std::string_view algorithm, int ranks) {
    return algorithm != "binary-swap" || (ranks & (ranks - 1)) == 0;
}

/// Tests every operation with every algorithm and with the planned one, and with several roots.
/// `own`: the names of other algorithms that this communicator has.
inline void
every_collective_follows_the_mpi_standard(const Communicator& communicator,
                                          std::initializer_list<std::string_view> own = {}) {
    const int ranks = communicator.size();
    for (const CollectiveKind kind : collective_kinds) {
        std::vector<std::string_view> algorithms = algorithms_of(kind);
        algorithms.emplace_back("auto");
        algorithms.insert(algorithms.end(), own);
        std::vector<std::string_view> commuting = algorithms_of(kind, true);
        std::erase_if(commuting, [&](std::string_view name) {
            return std::find(algorithms.begin(), algorithms.end(), name) != algorithms.end();
        });
        if (kind >= CollectiveKind::reduce)
            commuting.emplace_back("auto"), commuting.insert(commuting.end(), own);
        for (const Lengths& lengths : usual_lengths(ranks)) {
            for (const int root : std::set{0, ranks / 2, ranks - 1}) {
                const CollectiveCase what{kind, ranks, root, lengths};
                if (root > 0 && !what.rooted())
                    continue;
                for (const std::string_view algorithm : algorithms) {
                    if (takes(algorithm, ranks))
                        expect_collective(communicator, what, std::string(algorithm));
                }
                for (const std::string_view algorithm : commuting)
                    expect_collective(communicator, what, std::string(algorithm), true);
            }
        }
    }
}

} // namespace sextant::test
