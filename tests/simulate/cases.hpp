// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulation.hpp"

#include <string>

#include "tests/support/source_dir.hpp"

namespace sextant::test {

/// The path of a shipped platform file, or of a shipped file in orders/.
inline std::string shipped(const std::string& file) {
    return source_dir() + "/platforms/" + file;
}

inline Schedule compositing_schedule(const std::string& name, int ranks, Elements pixels,
                                     const std::vector<int>& radices = {}) {
    const compositing::Algorithm& algorithm = compositing::find(name);
    const auto task = compositing::one_image_each(ranks, pixels);
    compositing::Tuning tuning = algorithm.tunings(ranks).front();
    if (!radices.empty())
        tuning.radices = radices;
    return make_schedule(
        ranks, [&](int rank) { return compositing::program(algorithm, task, tuning, rank); });
}

/// Rank 0 sends its image to the other ranks, one after another; each folds it with its own.
inline Schedule star(int ranks, Elements elements) {
    return make_schedule(ranks, [&](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(elements);
        if (rank == 0) {
            for (int peer = 1; peer < ranks; ++peer)
                builder.send(peer, own);
            return builder.finish(own);
        }
        const Region come = builder.scratch(elements), sum = builder.output(elements);
        builder.receive(0, come);
        builder.fold(sum, {come, own});
        return builder.finish(sum);
    });
}

/// Rank 0 folds its own operands, and meanwhile receives a message that the fold does not use.
inline Schedule interrupted(Elements elements) {
    return make_schedule(2, [&](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(2 * elements), half = part(own, 0, 2);
        if (rank == 1) {
            builder.send(0, half);
            return builder.finish({});
        }
        builder.receive(1, builder.scratch(elements));
        const Region sum = builder.output(elements);
        builder.fold(sum, {half, part(own, 1, 2)});
        return builder.finish(sum);
    });
}

} // namespace sextant::test
