// SPDX-License-Identifier: BSD-3-Clause
// Masks and rectangles: the pixels that are compared.
#include "sextant/registration/correct/matched_pixels.hpp"

#include "sextant/registration/series_registration.hpp"

#include <fstream>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::matched_pixels;
using registration::MatchedPixels;
using registration::MatchedRegion;
using registration::PixelArea;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr ImageShape shape{128, 128};

kernel::FloatPlane copy_of(const kernel::FloatPlane& plane) {
    kernel::FloatPlane copy(plane.shape());
    for (Elements y = 0; y < plane.shape().height; ++y)
        std::copy_n(plane.image().row(y), plane.shape().width, copy.row(y));
    return copy;
}

MatchedRegion region_of(const kernel::FloatPlane& plane) {
    const auto frames = std::make_shared<FramesMade>();
    frames->push_back(copy_of(plane));
    return {[frames] { return std::make_unique<MadeSource>(*frames); }};
}

kernel::FloatPlane plane_with(const PixelArea& area, ImageShape of = shape) {
    kernel::FloatPlane plane(of);
    for (Elements y = 0; y < of.height; ++y)
        for (Elements x = 0; x < of.width; ++x)
            plane.row(y)[x] = contains(area, {x, y, {1, 1}}) ? 1 : 0;
    return plane;
}

/// The pixels that polygons in a JSON text select.
MatchedPixels selected_by(const std::string& json) {
    const TemporaryFolder folder;
    std::ofstream(folder.path("a.json")) << json;
    const FramesMade frames = make_series(2).frames;
    return matched_pixels({{}, registration::read_polygons(folder.path("a.json"))}, {},
                          MadeSource(frames), false);
}

TEST(MatchedPixels, of_polygons_have_their_centres_inside) {
    const PixelArea square{10, 20, {40, 30}};
    for (
        const char* json :
        {R"({"x": [10, 50, 50, 10], "y": [20, 20, 50, 50]})",
         R"({"coordinates": [[10, 20], [50, 20], [50, 50], [10, 50]]})",
         R"({"type": "Polygon", "coordinates": [[[10, 20], [50, 20], [50, 50], [10, 50], [10, 20]]]})",
         R"({"type": "Feature", "geometry": {"type": "MultiPolygon",
              "coordinates": [[[[10, 20], [30, 20], [30, 50], [10, 50]]],
                              [[[30, 20], [50, 20], [50, 50], [30, 50]]]]}})",
         R"({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry":
              {"type": "Polygon", "coordinates": [[[10.4, 19.6], [50.4, 19.6], [50.4, 50.4],
              [10.4, 50.4]]]}}]})"}) {
        const MatchedPixels found = selected_by(json);
        EXPECT_EQ(found.box, square) << json;
        EXPECT_EQ(found.pixels, 40 * 30) << json;
    }
    const MatchedPixels holed = selected_by(
        R"([{"type": "Polygon", "coordinates": [[[0, 0], [64, 0], [64, 64], [0, 64]],
            [[16, 16], [32, 16], [32, 32], [16, 32]]]}])");
    EXPECT_EQ(holed.pixels, 64 * 64 - 16 * 16);
    EXPECT_EQ(selected_by(R"({"x": [-5, 500, -5], "y": [0, 0, 1000]})").box.x, 0); // is clipped
}

TEST(MatchedPixels, are_refused_if_they_cannot_be_read_or_compared) {
    for (const char* json : {R"({"x": [1, 2, 3], "y": [1, 2]})", R"({"type": "Point",
         "coordinates": [1, 2]})",
                             R"({"x": [1, 2, "3"], "y": [1, 2, 3]})", "[]", "3"})
        EXPECT_THROW(selected_by(json), InvalidFile) << json;
    const FramesMade frames = make_series(2).frames;
    const MadeSource series(frames);
    const auto refusal = [&](const MatchedRegion& region, std::vector<std::int64_t> roi,
                             const std::string& text, bool whole = false) {
        EXPECT_THAT([&] { (void)matched_pixels(region, roi, series, whole); },
                    ThrowsMessage<InvalidData>(HasSubstr(text)));
    };
    refusal(region_of(plane_with({0, 0, {9, 9}}, {64, 64})), {}, "64x64 pixels, expected 128x128");
    refusal(region_of(plane_with({})), {}, "no pixel");
    refusal(region_of(plane_with({9, 9, {40, 10}})), {}, "within 40x10 pixels, expected at least");
    refusal({}, {100, 0, 40, 40}, "which have 128x128 pixels");
    refusal({}, {0, 0, 8, 40}, "at least 16x16");
    refusal({}, {0, 0, 40}, "expected x, y, width and height");
    refusal({}, {0, 0, 40, 40}, "at least 30 %", true);
}

TEST(MatchedPixels, an_inverted_mask_is_suspected) {
    const FramesMade frames = make_series(2).frames;
    const auto warning = [&](const PixelArea& area) {
        return matched_pixels(region_of(plane_with(area)), {}, MadeSource(frames), false).warning;
    };
    EXPECT_THAT(warning({0, 0, {20, 24}}), HasSubstr("97.1 % of the pixels are masked"));
    EXPECT_EQ(warning({0, 0, {100, 100}}), "");
}

/// A series whose left third does not move.
FramesMade half_static(const MadeSeries& made) {
    FramesMade frames;
    for (const kernel::FloatPlane& frame : made.frames) {
        kernel::FloatPlane& copy = frames.emplace_back(copy_of(frame));
        for (Elements y = 0; y < shape.height; ++y)
            for (Elements x = 0; x < 40; ++x)
                copy.row(y)[x] = static_cast<float>((x * 7 + y * 13) % 40);
    }
    return frames;
}

/// Motions are those of whole frames, with any number of ranks, for each family and for fields.
TEST(MatchedPixels, determine_the_motions_of_whole_frames) {
    const MadeSeries made = make_series(6);
    const FramesMade frames = half_static(made);
    for (const MotionModel model : {MotionModel::rigid, MotionModel::translation,
                                    MotionModel::affine, MotionModel::nonrigid}) {
        for (const bool by_mask : {false, true}) {
            RegistrationOptions options;
            options.model = model;
            options.reproducible = true;
            if (by_mask)
                options.region = region_of(plane_with({44, 8, {80, 112}}));
            else
                options.roi = {44, 8, 80, 112};
            const RegistrationResult result = registration_of(
                [&] { return std::make_unique<MadeSource>(frames); }, by_mask ? 2 : 1, options);
            EXPECT_EQ(result.average.mean.size(), 128u * 128u);
            EXPECT_EQ(result.matched_pixels, 80 * 112);
            EXPECT_GT(std::ranges::count_if(result.average.count, [](float n) { return n > 0; }),
                      126 * 126);
            for (const FrameRegistration& frame : result.frames) {
                ASSERT_EQ(frame.left_out, "") << frame.frame;
                const RigidMotion truth = made.series.between(0, static_cast<int>(frame.frame));
                const RigidMotion found =
                    compose(frame.result.motion, inverse(result.frames[0].result.motion));
                const double most = model == MotionModel::rigid ? .5 : 1.5;
                EXPECT_LT(registration::rms_distance(found, truth, shape, central), most)
                    << name(model) << " " << frame.frame;
                EXPECT_FALSE(registration::in_doubt(frame));
            }
        }
    }
}

TEST(MatchedPixels, deviations_refer_to_the_centre_of_whole_frames) {
    const MadeSeries made = make_series(6);
    RegistrationOptions options;
    options.roi = {0, 0, 64, 64};
    const RegistrationResult part =
        registration_of([&] { return std::make_unique<MadeSource>(made.frames); }, 1, options);
    const registration::RigidUncertainty& sigma = part.frames[3].result.uncertainty;
    // The centre is 45 pixels from that of the rectangle.
    EXPECT_GT(sigma.tx, 20 * sigma.alpha);
    const RigidMotion truth = made.series.between(0, 3);
    const RigidMotion found =
        compose(part.frames[3].result.motion, inverse(part.frames[0].result.motion));
    EXPECT_LT(std::abs(found.tx - truth.tx), 6 * sigma.tx);
    EXPECT_LT(std::abs(found.ty - truth.ty), 6 * sigma.ty);
}

TEST(MatchedPixels, a_largest_shift_excludes_period_jumps_of_a_lattice) {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = 5;
    plan.drift = {0, 3, -2};
    const SyntheticSeries series(plan, specimen_of(plan, "lattice", 1, 0, .02));
    const FramesMade frames = counted_frames(series);
    RegistrationOptions options;
    options.rigid.most_shift = 5; // frames are compared with up to three others
    const RegistrationResult result =
        registration_of([&] { return std::make_unique<MadeSource>(frames); }, 2, options);
    for (const FrameRegistration& frame : result.frames) {
        const RigidMotion truth = series.between(0, static_cast<int>(frame.frame));
        const RigidMotion found =
            compose(frame.result.motion, inverse(result.frames[0].result.motion));
        EXPECT_LT(registration::rms_distance(found, truth, shape, central), 1) << frame.frame;
        EXPECT_FALSE(registration::in_doubt(frame)) << frame.frame;
    }
}

} // namespace
} // namespace sextant::test
