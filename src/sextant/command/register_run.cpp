// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/command/register_run.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/registration/field_series.hpp"
#include "sextant/registration/partition.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <list>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using registration::FrameLook;
using registration::FramePlace;

/// A hash of the frames' statistics, to recognise the series.
std::string fingerprint(const std::vector<FrameLook>& frames) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const FrameLook& frame : frames) {
        for (const double value :
             {frame.mean, frame.least, frame.largest, static_cast<double>(frame.at_largest),
              static_cast<double>(frame.gaps)}) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            sum = (sum ^ bits) * 0x100000001b3;
            sum ^= sum >> 29;
        }
    }
    return fmt::format("{:016x}", sum);
}

/// The part of a frame's result with fixed size, exchanged between ranks.
struct PlaceTold {
    std::int64_t frame;
    registration::RigidResult result;
    std::optional<registration::FieldFit> field;
    bool mended, in_doubt;
    std::int64_t gaps;
    Seconds seconds;
};

} // namespace

RegisterRun::RegisterRun(const Values& values, Communicator communicator, int threads)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0) {
    options_.threads = stage_options_.threads = summary_.team = threads;
    hooks_.progress = [this](std::string_view part, std::int64_t done, std::int64_t all) {
        const std::string whose =
            communicator_.size() == 1
                ? std::string(part)
                : fmt::format("{}, rank 0 of {}, which divide {} frames:", part,
                              communicator_.size(), source_->header().frames);
        progress_.say(whose, done, all);
    };
}

void RegisterRun::run() {
    agree(communicator_, [&] { open(); });
    registration::SeriesLook look;
    timed(summary_.look, [&] { look = look_at_series(communicator_, *source_, options_, hooks_); });
    agree(communicator_, [&] { require_two(look.fit.size(), look.mine); });
    open_checkpoint(look);
    timed(summary_.registered, [&] { register_first(std::move(look)); });
    timed(summary_.stages, [&] {
        for (std::uint32_t stage = 2; stage <= stages_; ++stage)
            refine(stage);
    });
    progress_.say("average and median");
    registration::Combined combined;
    timed(summary_.combine, [&] {
        combined = combine(communicator_, *source_, registered_.frames, transform_of(stages_),
                           {true, stage_options_.memory, stage_options_.threads});
    });
    gather_places();
    if (values_.has("report"))
        gather_shown(combined);
    timed(summary_.write, [&] {
        agree(communicator_, [&] {
            if (tells())
                write(combined);
        });
    });
    log_.reset();
    checkpoint_.reset();
    agree(communicator_, [] {}); // all ranks have closed their files
    if (tells())
        report();
}

std::string RegisterRun::path_of(const std::string& name) const {
    return (std::filesystem::path(summary_.output) / name).string();
}

/// Checks the parameters before any frame is examined.
void RegisterRun::open() {
    SeriesTransforms& transforms = summary_.transforms;
    Centred centred =
        less_offset(format::open_frames(values_.text("series"), source_options(values_)));
    source_ = std::move(centred.frames);
    options_.offset = centred.offset;
    const FrameHeader& header = source_->header();
    summary_.output = values_.text("output");
    summary_.ranks = communicator_.size();
    summary_.transport = transport_of(communicator_);
    for (const std::string& remark : header.remarks)
        summary_.warnings.push_back(fmt::format("{}: {}", source_->path(), remark));
    if (options_.offset != 0)
        summary_.warnings.push_back(
            fmt::format("{}: {}", source_->path(),
                        offset_remark(options_.offset, "average." + values_.text("format"))));
    transforms.series = values_.text("series");
    transforms.model = values_.text("model");
    transforms.shape = header.shape;
    transforms.pixel = header.pixel;
    transforms.with_seconds = !values_.flag("reproducible");
    stages_ = static_cast<std::uint32_t>(values_.integer("stages"));
    transforms.stages = static_cast<int>(stages_);
    if (values_.has("reference"))
        options_.reference = values_.integer("reference");
    if (!values_.flag("reproducible"))
        options_.scan.association = Association::by_arrival;
    stage_options_.memory = values_.integer("memory") << 20;
    if (header.frames < 2)
        throw InvalidTask(
            fmt::format("{} has {} frame{}{}, expected at least two to register", source_->path(),
                        header.frames, header.frames == 1 ? "" : "s",
                        header.hyperstack.channels > 1
                            ? fmt::format(" of {} channels", header.hyperstack.channels)
                            : ""));
    if (options_.reference && *options_.reference >= header.frames)
        throw InvalidTask(fmt::format("--reference {}: expected 0 to {}, as {} has {} frames",
                                      *options_.reference, header.frames - 1, source_->path(),
                                      header.frames));
    check_memory();
    if (!tells())
        return;
    check_folder();
    if (nonrigid())
        check_disk();
    check_reports();
}

void RegisterRun::require_two(std::size_t fit, const Places& mine) const {
    if (fit >= 2)
        return;
    const auto bad = std::find_if(mine.begin(), mine.end(),
                                  [](const FramePlace& place) { return !place.left_out.empty(); });
    throw InvalidTask(fmt::format(
        "{}: of {} frames {} can be registered, expected at least two{}", source_->path(),
        source_->header().frames, fit,
        bad == mine.end() ? "" : fmt::format("; frame {}: {}", bad->frame, bad->left_out)));
}

Checkpoint::Identity RegisterRun::identity_of(const registration::SeriesLook& look) const {
    const FrameHeader& header = source_->header();
    const bool fixed = values_.flag("reproducible");
    return {{"sextant", version()},
            {"frames", std::to_string(header.frames)},
            {"shape", fmt::format("{}x{}", header.shape.width, header.shape.height)},
            {"samples", std::string(name(header.sample))},
            {"content", fingerprint(look.frames)},
            {"model", values_.text("model")},
            {"reference", options_.reference ? std::to_string(*options_.reference) : "the first"},
            {"stages", std::to_string(stages_)},
            {"bracketing", fixed ? fmt::format("reproducible on {} ranks", communicator_.size())
                                 : std::string("any")}};
}

void RegisterRun::open_checkpoint(const registration::SeriesLook& look) {
    const Checkpoint::Identity identity = identity_of(look);
    agree(communicator_, [&] {
        if (!tells())
            return;
        std::error_code failed;
        std::filesystem::create_directory(summary_.output, failed);
        if (failed)
            throw InvalidFile(summary_.output, "cannot be made: " + failed.message());
        if (values_.flag("anew"))
            Checkpoint::remove(summary_.output);
        Checkpoint::check(summary_.output, identity);
    });
    agree(communicator_, [&] {
        checkpoint_ = std::make_unique<Checkpoint>(summary_.output, communicator_.rank(), identity);
        summary_.resumed = checkpoint_->size();
    });
    if (values_.has("report"))
        clocks_.emplace(communicator_);
    log_ = std::make_unique<WorkLog>(*checkpoint_, communicator_.rank());
    hooks_.ledger = log_.get();
    if (tells() && summary_.resumed > 0)
        print_note(
            fmt::format("goes on with an earlier run: {} results are known", summary_.resumed));
}

void RegisterRun::register_first(registration::SeriesLook look) {
    registration::FieldSeries series;
    if (nonrigid()) {
        series = register_series_by_fields(communicator_, *source_, std::move(look), options_,
                                           stage_options_.nonrigid, hooks_);
        mine_ = series.mine;
    } else {
        mine_ = register_series(communicator_, *source_, std::move(look), options_, hooks_);
    }
    registration::leave_out_strangers(mine_);
    registered_ = everyones(communicator_, mine_);
    agree(communicator_, [&] { require_two(registered_.frames.size(), mine_); });
    summary_.transforms.reference = options_.reference.value_or(registered_.frames.front());
    if (!nonrigid())
        return;
    const std::int64_t reference = summary_.transforms.reference;
    agree(communicator_, [&] {
        register_by_fields(*source_, registration::whole_frame(*source_, reference), reference,
                           mine_, 1, stage_options_, hooks_,
                           starts_from_motions(series, source_->header().shape));
    });
}

/// The transforms of all frames after a stage. Collective.
registration::TransformOf RegisterRun::transform_of(std::uint32_t stage) {
    if (!nonrigid())
        return registration::transforms(registered_);
    agree(communicator_, [&] { checkpoint_->refresh(); });
    const std::int64_t reference =
        stage == 1 ? summary_.transforms.reference : registration::the_average;
    return registration::transforms_by_fields(*checkpoint_, reference, stage);
}

void RegisterRun::refine(std::uint32_t stage) {
    const registration::TransformOf before = transform_of(stage - 1);
    const std::vector<float> average =
        average_of(communicator_, *source_, registered_, before, stage_options_);
    agree(communicator_, [&] {
        if (nonrigid())
            register_by_fields(*source_, average, registration::the_average, mine_, stage,
                               stage_options_, hooks_,
                               starts_from(before, source_->header().shape));
        else
            register_to_average(*source_, average, mine_, stage, stage_options_, hooks_);
    });
    registration::leave_out_strangers(mine_);
    registered_ = everyones(communicator_, mine_);
}

void RegisterRun::gather_places() {
    std::vector<PlaceTold> told;
    std::string reasons;
    for (const FramePlace& place : mine_) {
        told.push_back({place.frame, place.result, place.field, place.mended, place.in_doubt,
                        place.gaps, place.seconds});
        reasons += place.left_out + '\0';
    }
    std::string all_reasons;
    for (const std::string& text : all_gather_texts(communicator_, reasons))
        all_reasons += text;
    std::size_t at = 0;
    for (const PlaceTold& one : all_gather_lists(communicator_, std::span<const PlaceTold>(told))) {
        const std::size_t end = all_reasons.find('\0', at);
        summary_.transforms.frames.push_back({one.frame, all_reasons.substr(at, end - at),
                                              one.result, one.field, one.mended, one.in_doubt,
                                              one.gaps, one.seconds});
        at = end + 1;
    }
}

void RegisterRun::report() {
    Checkpoint::remove(summary_.output);
    progress_.clear();
    for (const FramePlace& place : summary_.transforms.frames) {
        if (!place.left_out.empty())
            summary_.warnings.push_back(fmt::format("{}: frame {} is left out: {}",
                                                    summary_.transforms.series, place.frame,
                                                    place.left_out));
    }
    if (values_.has("json"))
        write_text(values_.text("json"), to_json(summary_) + "\n");
    if (values_.has("report"))
        write_text(values_.text("report"), to_page(summary_));
    print_warnings(summary_.warnings);
    const bool taken =
        std::any_of(report_names.begin(), report_names.end(), [this](const char* name) {
            return values_.has(name) && values_.text(name) == standard_output;
        });
    if (!taken)
        print_text(to_text(summary_));
}

namespace {

TextSink into(AtomicFile& file) {
    return [&file](std::string_view part) { file.write(part); };
}

} // namespace

std::unique_ptr<FrameSink> RegisterRun::sink(const std::string& name, std::int64_t frames,
                                             double offset, Seconds interval) {
    FrameHeader header;
    header.frames = frames;
    header.shape = source_->header().shape;
    header.pixel = source_->header().pixel;
    header.frame_interval = interval;
    const std::string path = path_of(fmt::format("{}.{}", name, values_.text("format")));
    header.sample = sample_with_offset(path, offset);
    summary_.files.push_back(path);
    return format::create_frames(path, header);
}

/// An image with the series' offset added again, but 0 at pixels without data.
std::unique_ptr<FrameSink> RegisterRun::image(const std::string& name,
                                              const std::vector<float>& pixels,
                                              const std::vector<float>& count) {
    std::unique_ptr<FrameSink> image = sink(name, 1, options_.offset);
    if (image->header().sample == Sample::f32) {
        image->write(pixels);
        return image;
    }
    std::vector<double> wide(pixels.size());
    for (std::size_t pixel = 0; pixel < pixels.size(); ++pixel) {
        if (count[pixel] > 0)
            wide[pixel] = static_cast<double>(pixels[pixel]) + options_.offset;
    }
    image->write_samples(std::as_bytes(std::span(wide)));
    return image;
}

std::unique_ptr<FrameSink> RegisterRun::count_of(const registration::Combined& combined) {
    std::unique_ptr<FrameSink> image = sink("count", 1, 0);
    image->write(combined.count);
    return image;
}

std::unique_ptr<FrameSink> RegisterRun::aligned() {
    const ImageShape shape = source_->header().shape;
    const auto count = static_cast<std::int64_t>(registered_.frames.size());
    std::unique_ptr<FrameSink> stack =
        sink("aligned", count, options_.offset,
             frame_interval_of(source_->header(), registered_.frames));
    const registration::TransformOf transform =
        nonrigid()
            ? registration::transforms_by_fields(
                  *checkpoint_,
                  stages_ == 1 ? summary_.transforms.reference : registration::the_average, stages_)
            : registration::transforms(registered_);
    Team team(stage_options_.threads);
    registration::Resampler resampler(*source_, &team);
    std::vector<float> shown(static_cast<std::size_t>(shape.elements()));
    std::int64_t done = 0;
    for (const std::int64_t frame : registered_.frames) {
        progress_.say("write aligned frames", done++, count);
        resampler.show(frame, transform(frame), {0, shape.height}, shown);
        write_with_offset(*stack, shown, options_.offset);
    }
    return stack;
}

std::unique_ptr<FrameSink> RegisterRun::fields() {
    FrameHeader header;
    header.frames = 4 * static_cast<std::int64_t>(registered_.frames.size());
    header.shape = registration::nodes_of_fields(source_->header().shape);
    std::unique_ptr<FrameSink> planes = format::create_frames(path_of("fields.npy"), header);
    const registration::TransformOf transform = registration::transforms_by_fields(
        *checkpoint_, stages_ == 1 ? summary_.transforms.reference : registration::the_average,
        stages_);
    for (const std::int64_t frame : registered_.frames) {
        const auto field = std::get<registration::DisplacementField>(transform(frame));
        const std::vector<float> known(field.known.begin(), field.known.end());
        for (const std::vector<float>* plane : {&field.x, &field.y, &field.sigma, &known})
            planes->write(*plane);
        summary_.transforms.fields = {"fields.npy", field.spacing, field.nodes};
    }
    summary_.files.push_back(path_of("fields.npy"));
    return planes;
}

/// All files are complete on disk before any appears under its name.
void RegisterRun::write(const registration::Combined& combined) {
    std::vector<std::unique_ptr<FrameSink>> sinks;
    sinks.push_back(image("average", combined.mean, combined.count));
    sinks.push_back(image("median", combined.median, combined.count));
    sinks.push_back(count_of(combined));
    if (values_.flag("aligned"))
        sinks.push_back(aligned());
    if (nonrigid())
        sinks.push_back(fields());
    std::list<AtomicFile> tables;
    write_csv(summary_.transforms, into(tables.emplace_back(path_of("transforms.csv"))));
    write_json(summary_.transforms, into(tables.emplace_back(path_of("transforms.json"))));
    for (const auto& sink : sinks)
        sink->commit();
    for (AtomicFile& table : tables) {
        table.commit();
        summary_.files.push_back(table.path());
    }
}

} // namespace sextant::command
