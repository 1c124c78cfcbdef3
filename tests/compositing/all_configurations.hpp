// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/threads.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/blending.hpp"
#include "tests/support/compositing_cases.hpp"
#include <gtest/gtest.h>

// Every configuration of compositing, compared with the serial fold. A `Kind` is an operator on a
// pixel type: its `name`, its `Pixel` and `element`, a reference `combine` for two widened pixels,
// `agree`, which is true if two results match up to the order of association, and an `opaque` pixel
// for each layer.
namespace sextant::test {

using compositing::Task;

/// The pixels of a layer; layers are counted front to back.
template <class Kind>
using Painter = std::function<typename Kind::Pixel(int layer, Elements i)>;

template <class Kind>
using Picture = std::vector<typename Kind::Pixel>;

/// Layers [first, first + count), one after another.
template <class Kind>
Picture<Kind> painted(const Painter<Kind>& paint, int first, int count, Elements elements) {
    Picture<Kind> layers;
    for (int layer = first; layer < first + count; ++layer) {
        for (Elements i = 0; i < elements; ++i)
            layers.push_back(paint(layer, i));
    }
    return layers;
}

template <class Kind>
Picture<Kind> painted_by(const Painter<Kind>& paint, const Task& task, int rank) {
    return painted<Kind>(paint, first_layer(task, rank), layers_of(task, rank), task.elements);
}

template <class Kind>
Picture<Kind> serial_fold(const Task& task, const Painter<Kind>& paint) {
    using Wide = kernel::Wide<typename Kind::Pixel>;
    Picture<Kind> picture;
    for (Elements i = 0; i < task.elements; ++i) {
        auto sum = Wide::widen(paint(0, i));
        for (int layer = 1; layer < task.all_layers(); ++layer)
            sum = Kind::combine(sum, Wide::widen(paint(layer, i)));
        picture.push_back(Wide::narrow(sum));
    }
    return picture;
}

/// A configuration with its task.
struct Configuration {
    const compositing::Algorithm& algorithm;
    compositing::Tuning tuning;
    Association association;
    Task task;

    std::string text() const {
        return fmt::format("{}, {}", describe(algorithm, task, tuning), name(association));
    }
};

/// Every algorithm with all tunings, interlaced or not. The image is either folded in order and
/// collected on the task's root (by default the last rank), or folded by arrival and left
/// distributed.
inline std::vector<Configuration> configurations_of(const Task& task) {
    std::vector<Configuration> configurations;
    Task distributed = task, collected = task;
    distributed.root = Task::distributed;
    if (task.root == Task::distributed)
        collected.root = task.ranks - 1;
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        for (const compositing::Tuning& tuning : algorithm.tunings(task.positions())) {
            configurations.push_back({algorithm, tuning, Association::in_order, collected});
            configurations.push_back({algorithm, tuning, Association::by_arrival, distributed});
            compositing::Tuning interlaced = tuning;
            interlaced.interlace = 5;
            configurations.push_back({algorithm, interlaced, Association::in_order, collected});
            configurations.push_back({algorithm, interlaced, Association::by_arrival, distributed});
        }
    }
    return configurations;
}

/// The composited image of each configuration. Pixels that no rank owns keep a colour that no layer
/// has.
template <class Kind>
std::vector<Picture<Kind>> composited(const Task& task, const Painter<Kind>& paint,
                                      const std::vector<Configuration>& configurations) {
    const Picture<Kind> blank(static_cast<std::size_t>(task.elements), Kind::opaque(1000));
    std::vector<Picture<Kind>> pictures(configurations.size(), blank);
    run_threads(task.ranks, [&](Communicator communicator) {
        const int rank = communicator.rank();
        const Picture<Kind> images = painted_by<Kind>(paint, task, rank);
        for (std::size_t w = 0; w < configurations.size(); ++w) {
            const Configuration& configuration = configurations[w];
            const auto part = run_program(
                communicator,
                compositing::program(configuration.algorithm, configuration.task,
                                     configuration.tuning, rank),
                kernel::find(Kind::name, Kind::element), configuration.association, images);
            const std::vector<Elements> own = compositing::pixels(
                configuration.algorithm, configuration.task, configuration.tuning, rank);
            ASSERT_EQ(part.size(), own.size()) << configuration.text();
            for (std::size_t i = 0; i < own.size(); ++i)
                pictures[w][static_cast<std::size_t>(own[i])] = part[i];
        }
    });
    return pictures;
}

template <class Pixel>
bool same(const Pixel& a, const Pixel& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// The first pixel that differs from the expected one, or -1.
template <class Kind>
std::ptrdiff_t first_fault(const Picture<Kind>& is, const Picture<Kind>& serial, bool exactly,
                           int layers) {
    for (std::size_t i = 0; i < serial.size(); ++i) {
        if (exactly ? !same(is[i], serial[i]) : !Kind::agree(is[i], serial[i], layers))
            return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
}

enum class Bits { same, by_algorithm };

/// Expects every configuration to give the serial fold, bit by bit if the algorithm guarantees it
/// or if `bits` states that association does not matter.
template <class Kind>
void expect_the_serial_fold(const Task& task, const Painter<Kind>& paint,
                            Bits bits = Bits::by_algorithm) {
    const Picture<Kind> serial = serial_fold<Kind>(task, paint);
    const std::vector<Configuration> configurations = configurations_of(task);
    const std::vector<Picture<Kind>> pictures = composited<Kind>(task, paint, configurations);
    for (std::size_t w = 0; w < configurations.size(); ++w) {
        const bool exactly = bits == Bits::same ||
                             same_bits(configurations[w].algorithm, configurations[w].association);
        EXPECT_EQ(first_fault<Kind>(pictures[w], serial, exactly, task.all_layers()), -1)
            << configurations[w].text();
    }
}

} // namespace sextant::test
