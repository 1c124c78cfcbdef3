// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/campaign.hpp"
#include "sextant/calibrate/cells.hpp"
#include "sextant/calibrate/kernels.hpp"
#include "sextant/calibrate/rig.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/matching.hpp"

#include <functional>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sextant::calibrate {
namespace {

using machine::Layout;
using machine::Strategy;

Schedule schedule_of(const Cell& cell, std::size_t program) {
    return make_schedule(2, [&](int rank) { return timed(cell, rank).programs[program]; });
}

TEST(CellPrograms, every_planned_cell_gives_a_schedule_with_matching_messages) {
    std::set<Cell> seen;
    for (const std::vector<Cell>& level : make_cells({.lending = true})) {
        for (const Cell& cell : level) {
            EXPECT_TRUE(seen.insert(cell).second) << "planned twice";
            const std::size_t programs = timed(cell, 0).programs.size();
            EXPECT_EQ(programs, cell.kind == Kind::stream ? 2u : 1u);
            for (std::size_t i = 0; i < programs; ++i)
                EXPECT_NO_THROW(match_messages(schedule_of(cell, i)));
        }
    }
    EXPECT_GT(seen.size(), 250u);
}

TEST(CellPrograms, only_zero_copy_cells_let_the_receiver_read_the_senders_buffer) {
    const auto borrowed = [](const Cell& cell) {
        int count = 0;
        const Schedule schedule = schedule_of(cell, 0);
        const Dependences sent(schedule[0]), received(schedule[1]);
        const Loans sender(schedule[0], sent), receiver(schedule[1], received);
        const auto mates = match_messages(schedule);
        for (std::size_t s = 0; s < schedule[1].steps.size(); ++s) {
            if (schedule[1].steps[s].verb != Verb::receive)
                continue;
            count +=
                !receiver.uses(static_cast<int>(s)).empty() && sender.may_lend(mates[1][s].step);
        }
        return count;
    };
    EXPECT_EQ(borrowed(lent(1024)), timed(lent(1024), 0).repeats);
    EXPECT_EQ(borrowed(message(Kind::round_trip, 1024)), 0);
}

TEST(CellPrograms, the_layout_determines_which_side_is_strided) {
    const auto region = [](Layout layout, int rank, Verb verb) {
        const Cell cell = strided(Kind::round_trip, layout, Strategy::datatype, 4096, 256);
        const Program program = timed(cell, rank).programs[0];
        for (const Step& step : program.steps) {
            if (step.verb == verb)
                return program.regions_of(step)[0];
        }
        return Region{};
    };
    EXPECT_FALSE(region(Layout::nc, 0, Verb::send).contiguous());
    EXPECT_TRUE(region(Layout::nc, 1, Verb::receive).contiguous());
    EXPECT_TRUE(region(Layout::cn, 0, Verb::send).contiguous());
    EXPECT_EQ(region(Layout::cn, 1, Verb::receive).count, 16);
    EXPECT_EQ(region(Layout::nn, 1, Verb::receive).stride, row_bytes);
}

TEST(CellPrograms, messages_carry_freshly_written_data_in_every_layout) {
    for (const Layout layout : {Layout::cc, Layout::cn, Layout::nc, Layout::nn}) {
        for (const Bytes block : {Bytes{256}, Bytes{1200}, Bytes{4096}, Bytes{16384}}) {
            const bool contiguous = layout == Layout::cc;
            const Bytes bytes = 600 * block < (1 << 19) ? 2048 * block : 600 * block;
            const Cell cell =
                contiguous ? message(Kind::round_trip, bytes)
                           : strided(Kind::round_trip, layout, Strategy::datatype, bytes, block);
            const Timed what = timed(cell, 0);
            Bytes written = 0; // number of elements; the next test checks that regions are disjoint
            for (const Region& place : what.fresh)
                written += place.elements();
            EXPECT_EQ(written, what.repeats * static_cast<double>(bytes))
                << bytes << " of " << block;
        }
    }
}

TEST(CellPrograms, message_regions_are_disjoint_and_fit_into_the_memory_of_a_rank) {
    const CellOptions options{.lending = true, .work = false};
    for (const std::vector<Cell>& level : make_cells(options)) {
        for (const Cell& cell : level) {
            for (const int rank : {0, 1}) {
                const Timed what = timed(cell, rank);
                for (const Program& program : what.programs) {
                    Bytes memory = 0;
                    for (const BufferSpec& buffer : program.buffers)
                        memory += (buffer.size * what.op.element.size + 4095) / 4096 * 4096;
                    EXPECT_LE(memory, options.memory) << cell.bytes << " of " << cell.block;
                }
                for (std::size_t i = 0; i < what.fresh.size(); ++i) {
                    for (std::size_t j = 0; j < i; ++j)
                        ASSERT_FALSE(overlap(what.fresh[i], what.fresh[j])) << cell.bytes;
                }
            }
        }
    }
}

TEST(CellTimer, times_every_kind_of_cell_with_two_threads) {
    run_threads(2, [](const Communicator& communicator) {
        Rig rig(communicator, Bytes{64} << 20);
        for (const Cell& cell :
             {probe(), message(Kind::stream, 4096), lent(1024), pass("over", "u8", 256, 3),
              copy(65536, 64), message(Kind::round_trip, 1 << 20),
              strided(Kind::round_trip, Layout::nn, Strategy::packing, 4096, 256),
              strided(Kind::stream, Layout::cn, Strategy::packing, 4096, 256),
              strided(Kind::stream, Layout::cn, Strategy::datatype, 65536, 64)}) {
            const std::vector<Sample> samples = rig.burst(cell);
            ASSERT_GE(samples.size(), 2u);
            const auto everyone = communicator.all_gather(samples[0].seconds);
            EXPECT_EQ(everyone[0], everyone[1]) << "both ranks have the same samples";
            if (cell.kind != Kind::stream) {
                EXPECT_GT(samples[0].seconds[0], 0);
            }
        }
        EXPECT_GT(rig.elapsed(), 0);
    });
}

TEST(CellPrograms, a_kernel_computes_the_elements_of_its_cell) {
    for (const TimedKernel& kernel : timed_kernels()) {
        for (const int operands : kernel.operands()) {
            for (const Elements elements : {1 << 14, 1 << 18}) {
                const Cell cell = kernel_run(std::string(kernel.name), std::string(kernel.element),
                                             elements, operands);
                const Timed what = timed(cell, 0);
                Elements made = 0;
                for (const Step& step : what.programs[0].steps) {
                    EXPECT_EQ(step.verb, Verb::compute);
                    made += what.programs[0].elements_of(step);
                }
                EXPECT_NEAR(static_cast<double>(made), what.repeats * static_cast<double>(elements),
                            1);
            }
        }
    }
}

TEST(CellPrograms, a_single_rank_kernel_gives_rank_1_an_empty_program) {
    for (const TimedKernel& kernel : timed_kernels()) {
        if (!kernel.alone)
            continue;
        const Cell cell = kernel_run(std::string(kernel.name), std::string(kernel.element), 1 << 14,
                                     kernel.operands()[0], true);
        EXPECT_FALSE(timed(cell, 0).programs[0].steps.empty());
        EXPECT_TRUE(timed(cell, 1).programs[0].steps.empty());
        run_threads(2, [&](Communicator communicator) {
            Rig rig(communicator, 1 << 20);
            for (const Sample& sample : rig.burst(cell))
                EXPECT_GT(sample.seconds[0], 0);
        });
    }
}

TEST(CellPrograms, the_file_reading_kernel_returns_the_contents_of_its_file) {
    const Timed what = timed(kernel_run("read-file", "u8", 5000, 1), 0);
    std::vector<std::byte> bytes(5000, std::byte{1});
    std::byte* const buffers[] = {bytes.data()};
    const Program& program = what.programs[0];
    const std::function<void()> nothing = [] {};
    const Blocks places[] = {{bytes.data(), 5000, 5000}};
    what.kernels[0](
        {program.steps[0], {}, program.made_by(program.steps[0]), buffers, {}, places, nothing});
    EXPECT_EQ(bytes[0], std::byte{0}) << "the file contains zeros";
}

TEST(CellPrograms, a_kernel_with_more_work_takes_longer) {
    run_threads(2, [](Communicator communicator) {
        Rig rig(communicator, 8 << 20);
        const std::vector<int> operands = find_timed_kernel("gaussian-derivatives").operands();
        const auto shortest = [&](int of_kernel) {
            Seconds least = 1;
            for (const Sample& sample :
                 rig.burst(kernel_run("gaussian-derivatives", "f32", 1 << 16, of_kernel)))
                least = std::min(least, sample.seconds[0]);
            return least;
        };
        bool longer = false;
        // Both ranks get the times of rank 0, so both make the same number of attempts.
        for (int attempt = 0; attempt < 3 && !longer; ++attempt) {
            Seconds little = 1, much = 1;
            for (int burst = 0; burst < 5; ++burst) {
                little = std::min(little, shortest(operands.front()));
                much = std::min(much, shortest(operands.back()));
            }
            longer = much > 1.5 * little; // about eight times
        }
        EXPECT_TRUE(longer);
    });
}

TEST(CellPrograms, a_launch_with_zero_time_budget_measures_what_every_prediction_needs) {
    run_threads(2, [](Communicator communicator) {
        CampaignOptions options;
        options.budget = 0;
        const machine::Profile profile = measure_launch(communicator, nullptr, options);
        if (communicator.rank() > 0)
            return;
        EXPECT_NE(profile.find_operator("over", "f32"), nullptr);
        for (const TimedKernel& kernel : timed_kernels()) {
            const machine::Work* work =
                profile.find_kernel(std::string(kernel.name), std::string(kernel.element));
            ASSERT_NE(work, nullptr) << kernel.name;
            EXPECT_GE(work->passes.size(), 2 * kernel.operands().size());
            EXPECT_EQ(work->alone.empty(), !kernel.alone);
        }
    });
}

} // namespace
} // namespace sextant::calibrate
