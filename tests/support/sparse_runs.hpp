// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/fold/pixel_formats.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/compositing_cases.hpp"
#include "tests/support/group_cases.hpp"
#include "tests/support/sparse_layers.hpp"
#include <fmt/format.h>

// Tests that composited images are bitwise identical whether or not messages skip empty pixels, on
// any communicator. Used by the tests over threads and over MPI.
namespace sextant::test {

/// The result of a rank, and the data that it sent in the last frame.
struct SparseRun {
    std::vector<std::byte> result;
    Sent sent;
};

inline SparseRun run_images(const Communicator& communicator, const Program& program,
                            const Operator& op, ExecuteOptions options,
                            std::span<const std::byte> images, int frames = 2) {
    Execution execution(communicator, program, op, options);
    if (!program.buffers.empty() && program.buffers[0].role == Role::input)
        execution.bind(0, images);
    for (int frame = 0; frame < frames; ++frame)
        execution.run();
    const auto result = execution.result();
    return {{result.begin(), result.end()}, execution.sent()};
}

/// The layers of a drawing that a rank has, one after another.
inline std::vector<std::byte> drawn_images(const Drawing& drawing, const Operator& op,
                                           const compositing::Task& task, int rank) {
    std::vector<std::byte> images;
    kernel::with_pixel_type(op.element, [&]<class Pixel>(Pixel) {
        const int first = first_layer(task, rank);
        for (int layer = first; layer < first + layers_of(task, rank); ++layer) {
            auto pixels = draw<Pixel>(drawing, op, task.elements, layer, task.all_layers());
            const std::byte* bytes = bytes_of(pixels);
            images.insert(images.end(), bytes, bytes + pixels.size() * sizeof(Pixel));
        }
    });
    return images;
}

/// Expects the same bits with and without encoding; returns the amount of data sent with encoding.
inline Sent expect_same_bits(const Communicator& communicator, const Operator& op,
                             const compositing::Algorithm& algorithm, const compositing::Task& task,
                             const compositing::Tuning& tuning, const Drawing& drawing,
                             Association association = Association::in_order) {
    const int rank = communicator.rank();
    const Program program = compositing::program(algorithm, task, tuning, rank);
    const auto images = drawn_images(drawing, op, task, rank);
    const auto run = [&](bool sparse) {
        return run_images(communicator, program, op, {.association = association, .sparse = sparse},
                          images);
    };
    const SparseRun dense = run(false), sparse = run(true);
    EXPECT_TRUE(dense.result == sparse.result)
        << fmt::format("{} on {}, {}, rank {}: {}", op.name, op.element.name, drawing.name, rank,
                       describe(algorithm, task, tuning));
    EXPECT_EQ(dense.sent.bytes, dense.sent.elements);
    EXPECT_LE(sparse.sent.bytes, sparse.sent.elements);
    EXPECT_EQ(dense.sent.elements, sparse.sent.elements);
    return sparse.sent;
}

inline void every_algorithm_gives_the_same_bits(const Communicator& communicator) {
    const int ranks = communicator.size();
    for (const Elements elements : {1, 4003}) {
        const auto task = compositing::one_image_each(ranks, elements, ranks / 2);
        for (const auto& algorithm : compositing::catalogue()) {
            for (const auto& tuning : algorithm.tunings(ranks)) {
                // Only the first two drawings make sense for a single pixel.
                for (const Drawing& drawing :
                     std::span(drawings).first(elements == 1 ? 2 : std::size(drawings)))
                    expect_same_bits(communicator, kernel::find("over"), algorithm, task, tuning,
                                     drawing);
            }
        }
    }
}

inline void every_operator_gives_the_same_bits(const Communicator& communicator) {
    const auto task = compositing::one_image_each(communicator.size(), 4003);
    for (const kernel::Family& family : kernel::catalogue()) {
        for (const Operator& op : family.operators) {
            for (const Drawing& drawing : drawings) {
                for (const char* name : {"direct-send", "parallel-pipeline"})
                    expect_same_bits(communicator, op, compositing::find(name), task, {}, drawing);
            }
        }
    }
}

/// Combining by arrival does not change the nearest pixel.
inline void
folding_in_arrival_order_gives_the_same_nearest_samples(const Communicator& communicator) {
    const int ranks = communicator.size();
    const auto task = compositing::one_image_each(ranks, 4003, 0);
    for (const auto& algorithm : compositing::catalogue()) {
        for (const auto& tuning : algorithm.tunings(ranks)) {
            const Drawing ellipses = drawings[5];
            expect_same_bits(communicator, kernel::find("nearest", rgba_u8_depth_f32), algorithm,
                             task, tuning, ellipses, Association::by_arrival);
        }
    }
}

/// Tests seven ranks, some with several layers and some with none.
inline void layers_and_empty_ranks_give_the_same_bits(const Communicator& communicator) {
    compositing::Task task;
    task.ranks = 7;
    task.elements = 1003;
    task.order = {4, 0, 6, 2};
    task.layers = {2, 1, 3, 1};
    for (const int root : {compositing::Task::distributed, 1, 6}) {
        task.root = root;
        for (const auto& algorithm : compositing::catalogue()) {
            for (const auto& tuning : algorithm.tunings(4)) {
                for (const Drawing& drawing : drawings)
                    expect_same_bits(communicator, kernel::find("over"), algorithm, task, tuning,
                                     drawing);
            }
        }
    }
}

inline void empty_pixels_are_not_sent(const Communicator& communicator) {
    const int ranks = communicator.size();
    const auto task = compositing::one_image_each(ranks, 40000);
    const auto sent = [&](const Drawing& drawing) {
        return expect_same_bits(communicator, kernel::find("over"),
                                compositing::find("direct-send"), task, {}, drawing);
    };
    const Sent nothing = sent(drawings[0]), everything = sent(drawings[1]);
    EXPECT_EQ(nothing.bytes, (ranks - 1) * kernel::code_header_size);
    EXPECT_EQ(everything.bytes, everything.elements);
    Sent ellipses;
    for (const Sent& each : communicator.all_gather(sent(drawings[4]))) {
        ellipses.bytes += each.bytes;
        ellipses.elements += each.elements;
    }
    EXPECT_LE(ellipses.bytes, ellipses.elements * 2 / 3);
}

inline std::vector<GroupCase> sparse_cases() {
    return {
        GROUP_CASE(every_algorithm_gives_the_same_bits, {1, 2, 3, 4, 7}),
        GROUP_CASE(every_operator_gives_the_same_bits, {2, 5}),
        GROUP_CASE(folding_in_arrival_order_gives_the_same_nearest_samples, {3, 7}),
        GROUP_CASE(layers_and_empty_ranks_give_the_same_bits, {7}),
        GROUP_CASE(empty_pixels_are_not_sent, {2, 3, 4, 7}),
    };
}

} // namespace sextant::test
