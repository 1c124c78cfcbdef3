// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/records.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/series/division.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant {

using namespace registration;

namespace {

const std::vector<Named<MotionModel>> models = {
    {"translation", MotionModel::translation}, {"rigid", MotionModel::rigid},
    {"similarity", MotionModel::similarity},   {"affine", MotionModel::affine},
    {"nonrigid", MotionModel::nonrigid},       {"auto", MotionModel::automatic}};

} // namespace

std::string_view name(MotionModel model) {
    return std::ranges::find(models, model, &Named<MotionModel>::value)->name;
}

Record record_of(RegistrationOptions& options) {
    Record record;
    record.add("model", options.model, models, "NAME", "motions");
    record
        .add("reference", options.reference, "N",
             "reference frame; default: first usable, or the middle of a long drift")
        .between(0, most_count);
    record
        .add("stages", options.stages, "N",
             "number of stages; later stages register to the previous average")
        .between(1, 100);
    record.add("reproducible", options.reproducible,
               "produce the same bits in every run with the same number of ranks");
    record.add("recorded_mean", options.recorded_mean,
               "compute the mean of the frames as recorded");
    record.add("threads", options.threads, "N", "threads per rank").between(1, 1024);
    record.add("thread_work", options.thread_work,
               {{"auto", ThreadWork::automatic},
                {"rows", ThreadWork::rows},
                {"frames", ThreadWork::frames}},
               "NAME", "divide rows or whole frames among threads");
    record.add_memory("memory", options.memory,
                      "memory limit per rank for filtered frames, later for the median");
    record
        .add("checkpoint", options.checkpoint, "FOLDER",
             "folder of checkpoints, from which an interrupted run resumes")
        .by_rank();
    record.add("restart", options.restart, "discard the checkpoint of an earlier run");
    record
        .add("prefilter", options.prefilter, "PIXELS",
             "standard deviation in pixels of the Gaussian filter applied before registration")
        .between(0, 64);
    record
        .add("farthest", options.farthest, "N",
             "number of preceding frames to which each frame is registered")
        .between(1, 1024);
    record
        .add("tolerance", options.tolerance, "PIXELS",
             "largest difference in pixels between motions that count as agreeing")
        .between(0, 1 << 20);
    record
        .add("min_registered", options.min_registered, "FRACTION",
             "least fraction of the usable frames that must be registered")
        .between(0, 1);
    record.add("average", options.average,
               {{"plain", AverageKind::plain}, {"weighted", AverageKind::weighted}}, "NAME",
               "mean, or mean with matched level and contrast");
    record.add("frames", options.frames, "sound|all|LIST",
               "frames to average: sound, all, or a list such as 0-9,12");
    record.add("despike", codec_of(options.despike), "SIGMA",
               "ignore hot pixels and cosmic rays: auto, off, or a sigma limit");
    record.add("flatten", options.flatten,
               {{"auto", Flattening::automatic}, {"on", Flattening::on}, {"off", Flattening::off}},
               "WHEN", "remove varying shading before registration");
    record.add("static", options.static_pattern,
               {{"auto", StaticSearch::automatic}, {"off", StaticSearch::off}}, "WHEN",
               "subtract a pattern that is fixed to the detector");
    record.add("contrast", options.contrast,
               {{"auto", ContrastSearch::automatic}, {"same", ContrastSearch::same}}, "NAME",
               "contrast of frames; auto recognises inverted ones");
    record.add(
        "canvas", options.canvas,
        {{"reference", Canvas::reference}, {"union", Canvas::united}, {"common", Canvas::common}},
        "NAME", "area that result images cover");
    record
        .add("scan_rows", options.scan_rows,
             {{"auto", ScanRows::automatic}, {"on", ScanRows::on}, {"off", ScanRows::off}}, "WHEN",
             "register each row of scans; auto if rows jitter")
        .or_without("on");
    record
        .add("roi", options.roi, "X,Y,W,H",
             "compare only this part of frames: first column and row, width, height")
        .between(0, 1 << 30);
    record.add("bidirectional", codec_of(options.bidirectional), "SHIFT",
               "shift of odd rows in bidirectional scans: auto, off, or pixels");
    record
        .add("max_shift", options.rigid.most_shift, "PIXELS",
             "largest motion between neighbours in pixels; default: half a frame")
        .between(0, 1 << 20);
    constexpr double half_turn = 180;
    record
        .add("rotation", options.rigid.most_rotation, "DEGREES",
             "largest rotation between frames in degrees; 180: any angle")
        .between(usual_rotation, half_turn);
    return record;
}

Effects effects_of(const RegistrationOptions& options) {
    return {{{"thread_work"},
             "one thread has no work to divide; expected {threads} 2 or more",
             [&] { return options.threads > 1; }}};
}

void require_compatible(const RegistrationOptions& options) {
    const bool fields = options.model == MotionModel::nonrigid;
    if (fields && options.rigid.most_rotation > usual_rotation)
        throw InvalidTask(fmt::format("rotation {:g}: displacement fields describe rotations of up "
                                      "to {:g} degrees; expected a model other than nonrigid",
                                      options.rigid.most_rotation, usual_rotation));
    if (fields && options.canvas == Canvas::united)
        throw InvalidTask("canvas union: displacement fields are defined only in the area of the "
                          "reference; expected reference, common, or a model other than nonrigid");
    if (options.scan_rows == ScanRows::on && options.model != MotionModel::rigid &&
        options.model != MotionModel::translation)
        throw InvalidTask(fmt::format(
            "scan_rows: the rows of frames are registered with the model rigid or translation, "
            "but the model is {}",
            name(options.model)));
}

std::string describe_threads(const RegistrationResult& result, bool with_prediction) {
    const ThreadPlan& plan = result.thread_plan;
    std::string text = plan.steals         ? "process whole frames, and steal work in the scan"
                       : plan.whole_frames ? "process whole frames, and divide rows in the scan"
                                           : "divide the rows of each frame";
    if (with_prediction && plan.by_rows > 0)
        text +=
            fmt::format("; whole frames are predicted to take {:.0f} % of the time that rows take",
                        100 * plan.by_frames / plan.by_rows);
    return text;
}

namespace {

Json json_of_rows(const RegistrationResult& result) {
    return {{"jitter", result.rows->jitter},   {"drift_x", result.rows->drift_x},
            {"drift_y", result.rows->drift_y}, {"sigma", result.rows->sigma},
            {"flyback", result.flyback},       {"recognised", result.jitter_recognised}};
}

Json json_of_static(const StaticPattern* pattern) {
    if (pattern == nullptr)
        return {};
    return {{"deviation", pattern->deviation}, {"constant_pixels", pattern->constant.size()}};
}

} // namespace

Record record_of_area(const PixelArea& area) {
    return {
        {"x", area.x}, {"y", area.y}, {"width", area.shape.width}, {"height", area.shape.height}};
}

Record record_of(const RegistrationResult& result) {
    const RegistrationResult::Times& seconds = result.seconds;
    const FrameThreadUse::Scan& scan = result.thread_use.scan;
    Record threads = {{"work", result.thread_plan.whole_frames ? "frames" : "rows"},
                      {"reason", describe_threads(result, true)}};
    if (result.thread_plan.whole_frames)
        threads.add_result("registrations", Json(result.thread_use.registrations));
    if (scan.applications > 0)
        threads.include({{"scan",
                          {{"applications", scan.applications},
                           {"stolen", scan.stolen},
                           {"seconds", scan.seconds},
                           {"idle", scan.idle}}}});
    Record record = {
        {"reference", result.reference},
        {"reference_reason", result.reference_reason},
        {"defects", result.defects},
        {"resumed", result.resumed},
        {"seconds",
         {{"look", seconds.inspection},
          {"register", seconds.registration},
          {"stages", seconds.stages},
          {"combine", seconds.average},
          {"write", seconds.writing}}},
        {"stages", result.stages},
        {"not_averaged", result.not_averaged},
        {"model_reason", result.model_reason},
        {"threads", std::move(threads)},
        {"static_bias", result.static_bias},
        {"flattened", result.flattened},
        {"static", json_of_static(result.static_pattern.get())},
        {"compared", record_of_area(result.matched).include({{"pixels", result.matched_pixels}})},
        {"canvas", record_of_area(result.canvas)},
        {"resolution",
         {{"side", result.resolution.side},
          {"resolved", result.resolution.resolved},
          {"highest", result.resolution.highest},
          {"correlation", Json(result.resolution.values)}}},
        {"misfit",
         {{"significant", result.misfit.significant},
          {"of_rows", result.misfit.of_rows},
          {"pixels", result.misfit.pixels},
          {"deviations", result.misfit.deviations}}},
        {"inverted", result.inverted},
        {"frames_per_sum", result.frames_per_sum}};
    if (const auto& rows = result.bidirectional)
        record.include({{"bidirectional", {{"shift", rows->shift}, {"sigma", rows->sigma}}}});
    if (result.rows)
        record.add_result("rows", json_of_rows(result));
    return record;
}

} // namespace sextant
