// SPDX-License-Identifier: BSD-3-Clause
// A series registered over MPI, in groups of 1, 2, 3, 4 and 7 ranks.
#include "sextant/comm/agreement.hpp"
#include "sextant/registration/series_registration.hpp"

#include "tests/mpi/groups.hpp"
#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

RegistrationOptions options_of(MotionModel model) {
    RegistrationOptions options;
    options.model = model;
    options.reproducible = true;
    return options;
}

TEST(Mpi, series_give_the_same_motions_as_over_threads_and_can_be_cancelled) {
    const MadeSeries made = make_series(9);
    for (const auto model : {MotionModel::rigid, MotionModel::nonrigid}) {
        const RegistrationOptions options = options_of(model);
        for (const int size : group_sizes) {
            const auto expected = registration_of(made.frames, options, size).average.mean;
            on_group(size, [&](const Communicator& communicator) {
                bool stops = false;
                RegistrationHooks hooks;
                hooks.worked = [&](registration::Work, Seconds, Seconds) {
                    stops = communicator.rank() == size - 1;
                };
                EXPECT_THROW(
                    SeriesRegistration(communicator, options, {.cancelled = [&] { return stops; }})
                        .run(std::make_unique<MadeSource>(made.frames), hooks),
                    Cancelled);
                const RegistrationResult result =
                    SeriesRegistration(communicator, options)
                        .run(std::make_unique<MadeSource>(made.frames));
                EXPECT_EQ(result.average.mean, expected) << size;
                EXPECT_EQ(result.frames.size(), 9U);
            });
        }
    }
}

} // namespace
} // namespace sextant::test
