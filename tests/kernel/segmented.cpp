// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/segmented.hpp"

#include "sextant/comm/threads.hpp"

#include <array>

#include "tests/support/scan_runs.hpp"

namespace sextant::kernel {
namespace {

using test::Matrix;

/// A matrix that may start a segment, as the lifted operator has it.
struct Slot {
    alignas(16) std::array<std::byte, 48> bytes{};
    bool operator==(const Slot&) const = default;

    Matrix value() const {
        Matrix value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
};

Slot slot_of(const Matrix& value, bool starts) {
    Slot slot;
    put_segmented(std::as_bytes(std::span(&value, 1)), starts, slot.bytes);
    return slot;
}

Slot fold(const std::vector<Slot>& slots) {
    std::vector<const std::byte*> sources;
    for (const Slot& slot : slots)
        sources.push_back(slot.bytes.data());
    Slot sum;
    segmented(test::exact_operator<Matrix>()).fold(sources, sum.bytes.data(), 1);
    return sum;
}

TEST(Segmented, lifts_to_slots_that_hold_a_value_and_a_flag) {
    const Operator op = test::exact_operator<Matrix>();
    EXPECT_EQ(segmented_size(op), static_cast<Bytes>(sizeof(Slot)));
    EXPECT_EQ(segmented(op).element.size, segmented_size(op));
    EXPECT_TRUE(starts_segment(op, slot_of({}, true).bytes));
    EXPECT_FALSE(starts_segment(op, slot_of({}, false).bytes));
}

TEST(Segmented, is_associative_and_combines_nothing_across_a_start) {
    const Matrix values[] = {test::exact_value<Matrix>(1), test::exact_value<Matrix>(2),
                             test::exact_value<Matrix>(3)};
    for (int flags = 0; flags < 8; ++flags) {
        std::vector<Slot> s;
        for (int i = 0; i < 3; ++i)
            s.push_back(slot_of(values[i], (flags >> i & 1) != 0));
        const Slot all = fold(s);
        EXPECT_EQ(all, fold({fold({s[0], s[1]}), s[2]})) << flags;
        EXPECT_EQ(all, fold({s[0], fold({s[1], s[2]})})) << flags;
        Matrix expected = values[2];
        if ((flags & 4) == 0)
            expected = combine(values[1], expected);
        if ((flags & 6) == 0)
            expected = combine(values[0], expected);
        EXPECT_EQ(all.value(), expected) << flags;
        EXPECT_EQ(starts_segment(test::exact_operator<Matrix>(), all.bytes), flags != 0);
    }
}

TEST(Segmented, may_fold_in_place) {
    Slot left = slot_of(test::exact_value<Matrix>(1), false);
    Slot right = slot_of(test::exact_value<Matrix>(2), true);
    const Slot expected = fold({left, right});
    const std::byte* sources[] = {left.bytes.data(), right.bytes.data()};
    const Operator op = segmented(test::exact_operator<Matrix>());
    op.fold(sources, right.bytes.data(), 1);
    EXPECT_EQ(right, expected);
    right = slot_of(test::exact_value<Matrix>(2), true);
    op.fold(sources, left.bytes.data(), 1);
    EXPECT_EQ(left, expected);
}

/// Whether element e of a rank's values starts a segment.
bool starts(int rank, Elements e) {
    return (rank * 7 + e * 5) % 4 == 0;
}

TEST(Segmented, every_scan_scans_each_segment_on_its_own) {
    constexpr Elements elements = 6;
    const auto input = [](int rank) {
        std::vector<Slot> slots;
        for (Elements e = 0; e < elements; ++e)
            slots.push_back(
                slot_of(test::scan_input<Matrix>(rank, elements)[static_cast<std::size_t>(e)],
                        starts(rank, e)));
        return slots;
    };
    const auto expected = [](int last, Elements e) {
        Matrix sum;
        for (int rank = 0; rank <= last; ++rank) {
            const auto next = test::scan_input<Matrix>(rank, elements)[static_cast<std::size_t>(e)];
            sum = starts(rank, e) || rank == 0 ? next : combine(sum, next);
        }
        return sum;
    };
    run_threads(9, [&](const Communicator& communicator) {
        const int rank = communicator.rank();
        test::for_each_scan(
            [&](const scan::Algorithm& algorithm, const scan::Tuning& tuning, scan::Form form) {
                const scan::Task task{9, elements, form};
                const std::vector<Slot> result = test::run_program(
                    communicator, scan::program(algorithm, task, tuning, rank),
                    segmented(test::exact_operator<Matrix>()), Association::in_order, input(rank));
                const int last = form == scan::Form::inclusive ? rank : rank - 1;
                for (std::size_t e = 0; e < result.size(); ++e) {
                    EXPECT_EQ(result[e].value(), expected(last, static_cast<Elements>(e)))
                        << test::describe(algorithm, task, tuning) << ", rank " << rank;
                }
            });
    });
}

} // namespace
} // namespace sextant::kernel
