// SPDX-License-Identifier: BSD-3-Clause
// Registration by families of affine motions: pairs, the choice of a family, and whole series.
#include "sextant/comm/threads.hpp"
#include "sextant/registration/pair/family_fit.hpp"
#include "sextant/registration/series_registration.hpp"

#include <cmath>
#include <numeric>

#include "bench/faulty_series.hpp"
#include "tests/registration/made_series.hpp"
#include "tests/registration/trials.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::AffineMotion;
using registration::FamilyFit;
using registration::FamilyResult;
using registration::MotionFamily;
using registration::SeriesPlan;
using testing::HasSubstr;

bench::FaultySeries made(const bench::Faults& faults, const SeriesPlan& plan,
                         std::string_view specimen = "carbon") {
    return {plan, faults, specimen_of(plan, specimen, plan.seed, 16)};
}

SeriesPlan pair_plan(std::uint64_t seed) {
    SeriesPlan plan;
    plan.shape = {256, 256};
    plan.frames = 2;
    plan.drift = {.004, 1.7, -1.1};
    plan.seed = seed;
    return plan;
}

/// Returns the true motion of the second frame to the first, which is affine.
AffineMotion truth_of(const bench::FaultySeries& series, std::int64_t frame = 1) {
    const Point c = registration::centre(series.plan().shape);
    const Point at_c = *series.truth(frame, c), right = *series.truth(frame, {c.x + 1, c.y}),
                down = *series.truth(frame, {c.x, c.y + 1});
    return {right.x - at_c.x, down.x - at_c.x, right.y - at_c.y,
            down.y - at_c.y,  at_c.x - c.x,    at_c.y - c.y};
}

struct PairFit {
    FamilyResult result;
    AffineMotion truth;
    double error = 0;
};

PairFit fitted(const bench::FaultySeries& series, MotionFamily family, int threads = 1) {
    const ImageShape shape = series.plan().shape;
    registration::Pyramid reference(shape), moved(shape);
    const auto view = [&](std::int64_t frame) {
        return kernel::SampleView{
            series.frame(frame).data(), shape.width, {0, 0, shape.width, shape.height}, shape};
    };
    reference.fill(view(0));
    moved.fill(view(1));
    Team team(threads);
    PairFit pair;
    pair.truth = truth_of(series);
    const RigidMotion near{nearest_rigid(pair.truth).alpha + .001, pair.truth.tx + .4,
                           pair.truth.ty - .3};
    pair.result =
        FamilyFit(shape, &team).fit(reference, moved, registration::as_affine(near), family);
    pair.error = rms_distance(pair.result.motion, pair.truth, shape, central);
    return pair;
}

TEST(Families, find_the_magnification_and_the_shear_of_a_pair) {
    bench::Faults faults;
    faults.magnification = .012;
    const PairFit size = fitted(made(faults, pair_plan(1)), MotionFamily::similarity);
    EXPECT_TRUE(size.result.converged);
    EXPECT_LT(size.error, .1);
    EXPECT_NEAR(size.result.motion.a, size.result.motion.d, 1e-12);
    EXPECT_NEAR(size.result.motion.b, -size.result.motion.c, 1e-12);
    EXPECT_GT(fitted(made(faults, pair_plan(1)), MotionFamily::rigid).error, .8);
    faults.shear = -.01;
    EXPECT_LT(fitted(made(faults, pair_plan(1)), MotionFamily::affine).error, .12);
    EXPECT_GT(fitted(made(faults, pair_plan(1)), MotionFamily::similarity).error, .3);
}

TEST(Families, of_fewer_parameters_are_kept_exactly) {
    const bench::FaultySeries series = made({}, pair_plan(2));
    const AffineMotion rigid = fitted(series, MotionFamily::rigid).result.motion;
    EXPECT_NEAR(rigid.a * rigid.d - rigid.b * rigid.c, 1, 1e-12);
    EXPECT_NEAR(rigid.a, rigid.d, 1e-12);
    const AffineMotion shift = fitted(series, MotionFamily::translation).result.motion;
    EXPECT_EQ((std::array{shift.a, shift.b, shift.c, shift.d}), (std::array{1., 0., 0., 1.}));
    SeriesPlan plan = pair_plan(2);
    plan.drift.alpha = 0;
    EXPECT_LT(fitted(made({}, plan), MotionFamily::translation).error, .1);
}

/// z² = eᵀC⁻¹e of the small motion e between found and true motions has the expectation 6.
TEST(Families, predict_the_covariance_of_their_parameters) {
    bench::Faults faults;
    faults.magnification = .004;
    faults.shear = .003;
    double squares[6] = {};
    constexpr int pairs = 24;
    for (int seed = 1; seed <= pairs; ++seed) {
        const PairFit pair =
            fitted(made(faults, pair_plan(static_cast<std::uint64_t>(seed))), MotionFamily::affine);
        const AffineMotion e = compose(inverse(pair.result.motion), pair.truth);
        const double found[] = {
            e.tx, e.ty, (e.c - e.b) / 2, (e.a + e.d) / 2 - 1, (e.a - e.d) / 2, (e.b + e.c) / 2};
        for (std::size_t i = 0; i < 6; ++i)
            squares[i] += found[i] * found[i] / pair.result.covariance[7 * i] / pairs;
    }
    for (const double square : squares) {
        EXPECT_GT(std::sqrt(square), .7);
        EXPECT_LT(std::sqrt(square), 1.4);
    }
    EXPECT_NEAR(std::sqrt(std::accumulate(squares, squares + 6, 0.) / 6), 1, .2);
}

TEST(Families, do_not_depend_on_the_number_of_threads) {
    const bench::FaultySeries series = made({}, pair_plan(3));
    EXPECT_EQ(fitted(series, MotionFamily::affine, 1).result.motion,
              fitted(series, MotionFamily::affine, 3).result.motion);
}

/// Evidence of frames with this linear part and independent normal errors.
std::vector<FamilyResult> evidence(int frames, const AffineMotion& last, double sigma) {
    registration::NoiseSource noise(5, 0);
    std::vector<FamilyResult> all;
    for (int frame = 0; frame < frames; ++frame) {
        const double part = static_cast<double>(frame) / (frames - 1);
        FamilyResult one;
        one.motion = {
            1 + part * (last.a - 1), part * last.b, part * last.c, 1 + part * (last.d - 1), 0, 0};
        const double e[] = {sigma * noise.normal(), sigma * noise.normal(), sigma * noise.normal(),
                            sigma * noise.normal()}; // of α, λ, γ₁ and γ₂
        one.motion.a += e[1] + e[2];
        one.motion.d += e[1] - e[2];
        one.motion.b += e[3] - e[0];
        one.motion.c += e[3] + e[0];
        for (std::size_t i = 0; i < 2; ++i)
            one.covariance[7 * i] = 1e-4;
        for (std::size_t i = 2; i < 6; ++i)
            one.covariance[7 * i] = sigma * sigma;
        all.push_back(one);
    }
    return all;
}

TEST(Families, the_simplest_sufficient_one_is_chosen) {
    constexpr ImageShape shape{512, 512};
    constexpr double sigma = 5e-5; // .01 pixels
    const auto chosen = [&](const AffineMotion& last) {
        return choose_family(evidence(24, last, sigma), shape).family;
    };
    EXPECT_EQ(chosen({}), MotionFamily::translation);
    EXPECT_EQ(chosen({1, -.01, .01, 1, 0, 0}), MotionFamily::rigid);
    EXPECT_EQ(chosen({1.005, -.01, .01, 1.005, 0, 0}), MotionFamily::similarity);
    EXPECT_EQ(chosen({1.005, .005, .01, 1, 0, 0}), MotionFamily::affine);
    // Significant, but less than .05 pixels.
    EXPECT_EQ(chosen({1, -.0002, .0002, 1, 0, 0}), MotionFamily::translation);
    const auto choice = choose_family(evidence(24, {1.005, 0, 0, 1.005, 0, 0}, sigma), shape);
    EXPECT_THAT(choice.reason, HasSubstr("changes of the magnification move the content by up to"));
}

TEST(Families, one_wrong_frame_does_not_decide_the_choice) {
    std::vector<FamilyResult> frames = evidence(24, {1, -.01, .01, 1, 0, 0}, 5e-5);
    frames[7].motion.a = 1.5;
    EXPECT_EQ(choose_family(frames, {512, 512}).family, MotionFamily::rigid);
}

RegistrationResult registered(const bench::FaultySeries& series, MotionModel model, int ranks,
                              std::map<std::int64_t, registration::Transform>* transforms = {}) {
    RegistrationOptions options;
    options.model = model;
    options.reproducible = true;
    RegistrationHooks hooks;
    hooks.write = [&](const RegistrationResult&, RegisteredFrames& frames) {
        for (const std::int64_t frame : frames.numbers()) {
            if (transforms)
                (*transforms)[frame] = frames.transform(frame);
        }
    };
    return registration_of([&] { return series.open(); }, ranks, options, hooks);
}

SeriesPlan series_plan() {
    SeriesPlan plan;
    plan.shape = {192, 192};
    plan.frames = 6;
    plan.drift = {.003, .8, -.6};
    plan.wander = .3;
    return plan;
}

double error_of(const bench::FaultySeries& series, const RegistrationResult& result) {
    double sum = 0;
    for (const FrameRegistration& frame : result.frames) {
        const AffineMotion found =
            frame.affine.value_or(registration::as_affine(frame.result.motion));
        sum += std::pow(
            rms_distance(found, truth_of(series, frame.frame), series.plan().shape, central), 2);
    }
    return std::sqrt(sum / static_cast<double>(result.frames.size()));
}

TEST(Families, a_clean_series_stays_rigid_and_keeps_its_motions) {
    const bench::FaultySeries series = made({}, series_plan());
    const RegistrationResult rigid = registered(series, MotionModel::rigid, 1),
                             chosen = registered(series, MotionModel::automatic, 1);
    EXPECT_EQ(chosen.model, MotionModel::rigid);
    EXPECT_THAT(chosen.model_reason, HasSubstr("changes of shape are not significant"));
    EXPECT_EQ(rigid.model_reason, "");
    for (std::size_t i = 0; i < rigid.frames.size(); ++i) {
        EXPECT_EQ(chosen.frames[i].result.motion, rigid.frames[i].result.motion);
        EXPECT_FALSE(chosen.frames[i].affine);
    }
    EXPECT_EQ(chosen.average.mean, rigid.average.mean);
}

TEST(Families, a_series_that_grows_and_shears_is_registered_by_the_model_that_it_needs) {
    bench::Faults faults;
    faults.magnification = .015;
    const bench::FaultySeries growing = made(faults, series_plan());
    const double clean = error_of(made({}, series_plan()),
                                  registered(made({}, series_plan()), MotionModel::rigid, 1));
    std::map<std::int64_t, registration::Transform> transforms;
    const RegistrationResult found = registered(growing, MotionModel::automatic, 2, &transforms);
    EXPECT_EQ(found.model, MotionModel::similarity) << found.model_reason;
    EXPECT_LT(error_of(growing, found), std::max(1.6 * clean, .06));
    EXPECT_GT(error_of(growing, registered(growing, MotionModel::rigid, 1)), .3);
    for (const FrameRegistration& frame : found.frames) {
        ASSERT_TRUE(frame.affine);
        EXPECT_EQ(std::get<AffineMotion>(transforms.at(frame.frame)), *frame.affine);
        EXPECT_EQ(nearest_rigid(*frame.affine), frame.result.motion);
    }
    EXPECT_NEAR(stretch_of(*found.frames[0].affine).a, 1, 1e-12)
        << "the reference keeps its magnification";
    faults.shear = .012;
    const bench::FaultySeries sheared = made(faults, series_plan());
    const RegistrationResult affine = registered(sheared, MotionModel::automatic, 1);
    EXPECT_EQ(affine.model, MotionModel::affine) << affine.model_reason;
    EXPECT_LT(error_of(sheared, affine), std::max(1.8 * clean, .07));
    EXPECT_LT(error_of(sheared, registered(sheared, MotionModel::affine, 1)),
              std::max(1.8 * clean, .07));
}

TEST(Families, a_series_without_rotation_is_registered_by_translations) {
    SeriesPlan plan = series_plan();
    plan.drift.alpha = 0;
    const bench::FaultySeries series = made({}, plan);
    for (const MotionModel model : {MotionModel::translation, MotionModel::automatic}) {
        const RegistrationResult found = registered(series, model, 1);
        EXPECT_EQ(found.model, MotionModel::translation);
        EXPECT_LT(error_of(series, found),
                  1.1 * error_of(series, registered(series, MotionModel::rigid, 1)));
        for (const FrameRegistration& frame : found.frames) {
            EXPECT_EQ(frame.result.motion.alpha, 0);
            EXPECT_FALSE(frame.affine);
        }
    }
}

TEST(Families, the_second_of_two_frames_is_registered_to_the_first) {
    bench::Faults faults;
    faults.magnification = .01;
    const bench::FaultySeries series = made(faults, pair_plan(4));
    const RegistrationResult found = registered(series, MotionModel::similarity, 1);
    EXPECT_EQ(*found.frames[0].affine, AffineMotion());
    EXPECT_LT(error_of(series, found), .1);
    EXPECT_EQ(registered(series, MotionModel::automatic, 2).model, MotionModel::similarity);
}

} // namespace
} // namespace sextant::test
