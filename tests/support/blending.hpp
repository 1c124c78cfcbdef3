// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

// Images defined by a formula, their serial composite, and compositing on any communicator: shared
// by the tests over threads and over MPI.
namespace sextant::test {

inline float unit(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return static_cast<float>(x >> 40) / static_cast<float>(1 << 24);
}

/// Pixel `i` of layer `layer`: premultiplied, and transparent at some positions.
inline RgbaF32 pixel(int layer, Elements i) {
    const auto at = static_cast<std::uint64_t>(layer) << 40 | static_cast<std::uint64_t>(i) << 2;
    const float a = unit(at + 3) < .25f ? 0 : unit(at + 2);
    return {a * unit(at), a * unit(at + 1), a * unit(at + 7), a};
}

inline std::vector<RgbaF32> layers(int first, int count, Elements elements) {
    std::vector<RgbaF32> pixels;
    pixels.reserve(static_cast<std::size_t>(count * elements));
    for (int layer = first; layer < first + count; ++layer) {
        for (Elements i = 0; i < elements; ++i)
            pixels.push_back(pixel(layer, i));
    }
    return pixels;
}

/// Reference result: blends all layers front to back, pixel by pixel.
inline std::vector<RgbaF32> serial_composite(int count, Elements elements) {
    std::vector<RgbaF32> sum = layers(0, 1, elements);
    for (int layer = 1; layer < count; ++layer) {
        for (Elements i = 0; i < elements; ++i) {
            RgbaF32& front = sum[static_cast<std::size_t>(i)];
            const RgbaF32 back = pixel(layer, i);
            const float through = 1.0f - front.a;
            front = {front.r + through * back.r, front.g + through * back.g,
                     front.b + through * back.b, front.a + through * back.a};
        }
    }
    return sum;
}

/// Largest difference in any channel of any pixel.
inline float difference(const std::vector<RgbaF32>& a, const std::vector<RgbaF32>& b) {
    float most = a.size() == b.size() ? 0 : 1e9f;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        for (float d : {a[i].r - b[i].r, a[i].g - b[i].g, a[i].b - b[i].b, a[i].a - b[i].a}) {
            most = std::max(most, d < 0 ? -d : d);
        }
    }
    return most;
}

/// True if the algorithm combines operands in the order and association of the serial fold.
inline bool same_bits(const compositing::Algorithm& algorithm, Association association) {
    return (algorithm.name == "direct-send" || algorithm.name == "shift-based") &&
           association == Association::in_order;
}

/// Bound on the difference from the serial fold of `count` layers, for colours up to 1.
inline float tolerance(const compositing::Algorithm& algorithm, Association association,
                       int count) {
    return same_bits(algorithm, association) ? 0 : static_cast<float>(count - 1) * 0x1p-23f;
}

/// The first of a rank's layers, in visibility order.
inline int first_layer(const compositing::Task& task, int rank) {
    int layer = 0;
    for (int i = 0; i < task.position_of(rank); ++i)
        layer += task.layers_at(i);
    return layer;
}

inline int layers_of(const compositing::Task& task, int rank) {
    const int position = task.position_of(rank);
    return position < 0 ? 0 : task.layers_at(position);
}

/// Runs this rank's program on its images, `frames` times; returns its part of the last frame.
template <class Pixel>
std::vector<Pixel> run_program(const Communicator& communicator, const Program& program,
                               const Operator& op, Association association,
                               const std::vector<Pixel>& images, int frames = 1) {
    Execution execution(communicator, program, op, {association, false});
    if (!program.buffers.empty() && program.buffers[0].role == Role::input)
        execution.bind(0, std::as_bytes(std::span(images)));
    std::vector<Pixel> part;
    for (int frame = 0; frame < frames; ++frame) {
        execution.run();
        const auto bytes = execution.result();
        part.resize(bytes.size() / sizeof(Pixel));
        if (!bytes.empty())
            std::memcpy(part.data(), bytes.data(), bytes.size());
    }
    return part;
}

/// Composites the layers of a task on `communicator`, `frames` times; returns this rank's part of
/// the last frame.
inline std::vector<RgbaF32> composite(const Communicator& communicator,
                                      const compositing::Algorithm& algorithm,
                                      const compositing::Task& task,
                                      const compositing::Tuning& tuning, Association association,
                                      int frames = 1) {
    const int rank = communicator.rank();
    return run_program(
        communicator, compositing::program(algorithm, task, tuning, rank), kernel::find("over"),
        association, layers(first_layer(task, rank), layers_of(task, rank), task.elements), frames);
}

/// The last rank that folds: in a tree, not every rank does.
inline int last_to_fold(const compositing::Algorithm& algorithm, const compositing::Task& task,
                        const compositing::Tuning& tuning) {
    for (int rank = task.ranks - 1; rank > 0; --rank) {
        const Program program = compositing::program(algorithm, task, tuning, rank);
        if (std::any_of(program.steps.begin(), program.steps.end(),
                        [](const Step& step) { return step.verb == Verb::fold; }))
            return rank;
    }
    return 0;
}

/// The piece of the composited image `whole` that this rank owns.
inline std::vector<RgbaF32> expected_part(const compositing::Algorithm& algorithm,
                                          const compositing::Task& task,
                                          const compositing::Tuning& tuning, int rank,
                                          const std::vector<RgbaF32>& whole) {
    const compositing::Piece piece = compositing::piece(algorithm, task, tuning, rank);
    return {whole.begin() + piece.first, whole.begin() + piece.first + piece.count};
}

} // namespace sextant::test
