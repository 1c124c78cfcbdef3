// SPDX-License-Identifier: BSD-3-Clause
// Motions that remain within frames are recognised, measured and told apart; noise is not taken for
// them.
#include "sextant/comm/threads.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <vector>

#include "bench/faulty_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::Misfit;
using registration::SeriesMisfit;

RegistrationResult result_of(const char* specimen, const bench::Faults& faults, double dose = 10,
                             RegistrationOptions options = {}) {
    registration::SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 12;
    plan.dose = dose;
    plan.drift = {0, .8, -.6};
    plan.wander = .3;
    plan.seed = 5;
    registration::SpecimenPlan of_specimen;
    constexpr Elements margin = 32;
    const ImageShape field = registration::field_for(plan);
    of_specimen.field = {field.width + 2 * margin, field.height + 2 * margin};
    of_specimen.seed = 5;
    const bench::FaultySeries series(plan, faults,
                                     registration::find_specimen(specimen).make(of_specimen));
    RegistrationResult result;
    options.reproducible = true;
    run_threads(1, [&](const Communicator& communicator) {
        result = SeriesRegistration(communicator, options).run(series.open());
    });
    return result;
}

TEST(SeriesMisfit, is_not_significant_if_the_model_fits) {
    for (const char* specimen : {"lattice", "particles", "carbon"}) {
        for (const double dose : {2., 10., 40.}) {
            const SeriesMisfit misfit = result_of(specimen, {}, dose).misfit;
            EXPECT_FALSE(misfit.significant) << specimen << " " << dose;
            EXPECT_LT(std::abs(misfit.deviations), 4) << specimen << " " << dose;
        }
    }
    RegistrationOptions one_stage;
    one_stage.stages = 1;
    EXPECT_FALSE(result_of("lattice", {}, 10, one_stage).misfit.significant);
}

TEST(SeriesMisfit, measures_a_change_of_the_magnification_that_rigid_motions_leave) {
    bench::Faults faults;
    faults.magnification = .02;
    for (const char* specimen : {"lattice", "particles", "carbon"}) {
        const SeriesMisfit misfit = result_of(specimen, faults).misfit;
        EXPECT_TRUE(misfit.significant) << specimen;
        EXPECT_FALSE(misfit.of_rows) << specimen;
        // The magnification m of frame i is that of the average plus .02 (i/11 − 1/2), and the RMS
        // distance of positions from the centre is 256/√6.
        double squares = 0;
        for (int frame = 0; frame < 12; ++frame)
            squares += std::pow(.02 * (frame / 11. - .5) * 256 / std::sqrt(6), 2) / 12;
        EXPECT_NEAR(misfit.pixels, std::sqrt(squares), .3 * std::sqrt(squares)) << specimen;
    }
}

TEST(SeriesMisfit, is_that_of_the_model) {
    bench::Faults faults;
    faults.magnification = .02;
    RegistrationOptions options;
    options.model = MotionModel::automatic;
    const RegistrationResult result = result_of("carbon", faults, 10, options);
    EXPECT_EQ(result.model, MotionModel::similarity);
    EXPECT_FALSE(result.misfit.significant) << result.misfit.pixels;
    options.model = MotionModel::translation;
    EXPECT_TRUE(result_of("carbon", faults, 10, options).misfit.significant);
    options.model = MotionModel::nonrigid;
    EXPECT_EQ(result_of("carbon", {}, 10, options).misfit.deviations, 0) << "not measured";
}

TEST(SeriesMisfit, tells_rows_that_jitter_from_a_shear) {
    bench::Faults jitter, shear;
    jitter.jitter = 1;
    shear.shear = .02;
    for (const char* specimen : {"lattice", "carbon"}) {
        const SeriesMisfit of_rows = result_of(specimen, jitter).misfit;
        EXPECT_TRUE(of_rows.significant && of_rows.of_rows) << specimen;
        EXPECT_NEAR(of_rows.pixels, 1 / std::sqrt(32), .06) << specimen;
        const SeriesMisfit of_shear = result_of(specimen, shear).misfit;
        EXPECT_TRUE(of_shear.significant) << specimen;
        EXPECT_FALSE(of_shear.of_rows) << specimen;
    }
}

TEST(SeriesMisfit, is_not_decided_by_a_single_frame) {
    Misfit clear, none;
    clear.smooth = {1000, 1000, 1};
    none.smooth = {0, 1000, 1};
    const std::vector<Misfit> one = {clear, none, none, none, none, none, none, none};
    EXPECT_FALSE(registration::misfit_of_series(one, 0).significant);
    EXPECT_GT(registration::misfit_of_series(one, 0).deviations, 5);
    std::vector<Misfit> three = one;
    three[1] = three[2] = clear;
    EXPECT_TRUE(registration::misfit_of_series(three, 0).significant);
    EXPECT_TRUE(registration::misfit_of_series(std::vector<Misfit>{clear, clear}, 0).significant);
    EXPECT_FALSE(registration::misfit_of_series({}, 0).significant);
}

TEST(SeriesMisfit, counts_noise_that_frames_share) {
    Misfit frame;
    frame.smooth = {1, 1, 1};
    const std::vector<Misfit> frames(100, frame);
    EXPECT_NEAR(registration::misfit_of_series(frames, 0).deviations, 10, 1e-4);
    EXPECT_NEAR(registration::misfit_of_series(frames, .5).deviations, 10 / std::sqrt(1 + 99 * .25),
                1e-4);
}

} // namespace
} // namespace sextant::test
