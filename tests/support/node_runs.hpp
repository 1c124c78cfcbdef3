// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/node_sharing.hpp"

#include <cstring>

#include "tests/support/blending.hpp"
#include "tests/support/group_cases.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

// Tests of ranks that share their nodes' memory, with any transport for their messages.
namespace sextant::test {

inline constexpr int node_sizes[] = {1, 2, 3, 0};

enum class ImageIn { own_memory, shared_memory };

/// Composites several frames, with images in the rank's own memory or in the communicator's shared
/// memory; returns this rank's part of the last one.
inline std::vector<RgbaF32> composite_from(const Communicator& communicator, ImageIn where,
                                           const compositing::Algorithm& algorithm,
                                           const compositing::Task& task,
                                           const compositing::Tuning& tuning, int frames) {
    const int rank = communicator.rank();
    auto images = layers(first_layer(task, rank), layers_of(task, rank), task.elements);
    const auto bytes = std::as_writable_bytes(std::span(images));
    Memory shared = communicator.memory(static_cast<Bytes>(bytes.size()));
    Execution execution(communicator, compositing::program(algorithm, task, tuning, rank),
                        kernel::find("over"));
    std::vector<RgbaF32> part;
    for (int frame = 0; frame < frames; ++frame) {
        std::copy(bytes.begin(), bytes.end(), shared.data());
        const bool ours = where == ImageIn::own_memory;
        if (!execution.program().buffers.empty() &&
            execution.program().buffers[0].role == Role::input)
            execution.bind(0, ours ? bytes : shared.bytes());
        execution.run();
        const auto result = execution.result();
        part.resize(result.size() / sizeof(RgbaF32));
        if (!result.empty())
            std::memcpy(part.data(), result.data(), result.size());
    }
    return part;
}

/// Expects every algorithm to give the same bits over shared memory as over messages, with images
/// in private or shared memory, for all tunings or only the first.
inline void expect_bits_of_messages(const Communicator& messages, const Communicator& shared,
                                    const compositing::Task& task, bool every_tuning = false) {
    const int rank = messages.rank(), positions = task.positions();
    for (const auto& algorithm : compositing::catalogue()) {
        for (const auto& tuning : algorithm.tunings(positions)) {
            const auto expected =
                composite(messages, algorithm, task, tuning, Association::in_order);
            for (const ImageIn where : {ImageIn::own_memory, ImageIn::shared_memory}) {
                const auto part = composite_from(shared, where, algorithm, task, tuning, 2);
                EXPECT_EQ(difference(part, expected), 0)
                    << fmt::format("{} {} p={} n={} rank {}", algorithm.name, to_text(tuning),
                                   task.ranks, task.elements, rank);
            }
            if (!every_tuning)
                break;
        }
    }
}

/// Tests nodes of several sizes with uneven, empty and large pieces, collected and distributed.
inline void shared_memory_gives_the_same_bits_as_messages(const Communicator& messages) {
    const int ranks = messages.size();
    for (const int size : node_sizes) {
        const SharedNodes nodes = share_nodes(messages, {size, Bytes{32} << 20});
        ASSERT_EQ(nodes.why_not, "");
        for (const Elements elements : {1, 997, 20011}) {
            const int root = elements == 997 ? compositing::Task::distributed : ranks - 1;
            expect_bits_of_messages(messages, nodes.communicator,
                                    compositing::one_image_each(ranks, elements, root),
                                    elements == 997);
        }
        EXPECT_EQ(nodes.communicator.shortage(), "");
    }
}

/// Layers are sent as messages of several blocks; some ranks have no images.
inline void shared_memory_works_with_layers_and_empty_ranks(const Communicator& messages) {
    compositing::Task task;
    task.ranks = messages.size();
    task.elements = 4003;
    task.order = {2, 0, 3};
    task.layers = {2, 1, 3};
    for (const int size : node_sizes) {
        const SharedNodes nodes = share_nodes(messages, {size, Bytes{32} << 20});
        for (const int root : {compositing::Task::distributed, 1}) {
            task.root = root;
            expect_bits_of_messages(messages, nodes.communicator, task);
        }
    }
}

inline std::vector<GroupCase> node_cases() {
    return {
        GROUP_CASE(shared_memory_gives_the_same_bits_as_messages),
        GROUP_CASE(shared_memory_works_with_layers_and_empty_ranks, {5}),
    };
}

} // namespace sextant::test
