// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/transforms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/registration/combined.hpp"
#include "sextant/registration/flyback.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

namespace sextant::command {

namespace {

struct ApplyCommand {
    std::string transforms, output;
    /// Images or coordinates; for a single image, also the frame whose transform is applied to it.
    SourceChoice source;
    bool from_reference = false, pyramid = false;
};

Record record_of(ApplyCommand& command) {
    Record record;
    record
        .add("transforms", command.transforms, "FILE",
             "transforms.json written by sextant register")
        .file()
        .positional()
        .required();
    Record source = record_of(command.source,
                              "series with as many frames as registered, or a .csv of frame, x, y");
    Field& data = source["image"];
    data.name = "data";
    data.value_name = "DATA";
    source["frame"].meaning = "DATA is one image, to be transformed like frame N";
    record.include(std::move(source));
    record
        .add("output", command.output, "OUT",
             "aligned frames (float32, NaN outside the data), or points (.csv)")
        .file()
        .letter('o')
        .required();
    record.add("from_reference", command.from_reference,
               "map points from the average to the frames, instead of the reverse");
    record.add("pyramid", command.pyramid,
               "OME-Zarr: also write levels of half the resolution, for viewers");
    return record;
}

using registration::DisplacementField;
using registration::RowMotion;
using registration::Transform;

/// The transforms of a file; displacement fields and those of rows are read when needed.
class Applied {
  public:
    explicit Applied(const std::string& path) : path_(path), all_(read_transforms(path)) {
        number_frames();
        if (all_.fields)
            open_fields();
        if (all_.rows)
            open_rows();
    }

    const SeriesTransforms& all() const { return all_; }

    /// The files that the transforms file refers to.
    std::vector<std::string> files() const {
        std::vector<std::string> paths;
        for (const auto* file : {&fields_, &rows_}) {
            if (*file)
                paths.push_back((*file)->path());
        }
        return paths;
    }

    /// The transform of a frame. Throws InvalidTask, naming the frame, if the file does not list
    /// the frame or lists it as left out.
    Transform of(std::int64_t frame) {
        const auto at = places_.find(frame);
        if (at == places_.end())
            throw InvalidTask(fmt::format("{} has no frame {}, expected one of {}", path_, frame,
                                          all_.frames.size()));
        const FrameRegistration& place = all_.frames[at->second.place];
        if (!place.left_out.empty())
            throw InvalidTask(
                fmt::format("{}: frame {} was left out: {}", path_, frame, place.left_out));
        if (place.affine)
            return *place.affine;
        if (rows_)
            return rows(at->second.registered, place.result.motion);
        return fields_ ? Transform(field(at->second.registered)) : place.result.motion;
    }

  private:
    /// A frame's index in the file, and the number of registered frames before it.
    struct Standing {
        std::size_t place = 0;
        std::int64_t registered = 0;
    };

    void number_frames() {
        for (std::size_t place = 0; place < all_.frames.size(); ++place) {
            const FrameRegistration& frame = all_.frames[place];
            places_.emplace(frame.frame, Standing{place, registered_});
            registered_ += frame.left_out.empty() ? 1 : 0;
        }
    }

    void open_fields() {
        const FieldFile& file = *all_.fields;
        const auto path = std::filesystem::path(path_).parent_path() / file.path;
        fields_ = format::open_frames(path.string());
        const FrameHeader& header = fields_->header();
        if (header.shape != file.nodes || header.frames != 4 * registered_)
            throw InvalidFile(path.string(),
                              fmt::format("has {} planes of {}, expected {} of {} as stated in {}",
                                          header.frames, format::to_text(header.shape),
                                          4 * registered_, format::to_text(file.nodes), path_));
    }

    DisplacementField field(std::int64_t number) {
        const FieldFile& file = *all_.fields;
        DisplacementField field{all_.shape, file.spacing, file.nodes, {}, {}, {}, {}};
        std::int64_t plane = 4 * number;
        for (std::vector<float>* to : {&field.x, &field.y}) {
            to->resize(field.count());
            fields_->read_frame(plane, *to);
            const auto gap = std::find_if(to->begin(), to->end(),
                                          [](float value) { return !std::isfinite(value); });
            if (gap != to->end())
                throw InvalidFile(fields_->path(),
                                  fmt::format("plane {}: node {} is {}, expected a finite number",
                                              plane, gap - to->begin(), *gap));
            ++plane;
        }
        return field;
    }

    void open_rows() {
        const auto path = std::filesystem::path(path_).parent_path() / all_.rows->path;
        rows_ = format::open_frames(path.string());
        const FrameHeader& header = rows_->header();
        const ImageShape expected{3, all_.rows->rows};
        if (header.shape != expected || header.frames != registered_)
            throw InvalidFile(path.string(),
                              fmt::format("has {} tables of {}, expected {} of {} as stated in {}",
                                          header.frames, format::to_text(header.shape), registered_,
                                          format::to_text(expected), path_));
    }

    RowMotion rows(std::int64_t number, const registration::RigidMotion& motion) {
        const auto height = static_cast<std::size_t>(all_.rows->rows);
        std::vector<float> numbers(3 * height);
        rows_->read_frame(number, numbers);
        RowMotion rows{motion, std::vector<float>(height), std::vector<float>(height), {}};
        for (std::size_t row = 0; row < height; ++row) {
            rows.dx[row] = numbers[3 * row];
            rows.dy[row] = numbers[3 * row + 1];
            if (!std::isfinite(rows.dx[row]) || !std::isfinite(rows.dy[row]))
                throw InvalidFile(
                    rows_->path(),
                    fmt::format(
                        "table {}: row {} is displaced by ({}, {}), expected finite numbers",
                        number, row, rows.dx[row], rows.dy[row]));
            if (row > 0 && !(std::abs(rows.dy[row] - rows.dy[row - 1]) < 1))
                throw InvalidFile(
                    rows_->path(),
                    fmt::format("table {}: rows {} and {} are displaced downward by {} and {}, "
                                "expected a difference of less than a pixel",
                                number, row - 1, row, rows.dy[row - 1], rows.dy[row]));
        }
        return rows;
    }

    std::string path_;
    SeriesTransforms all_;
    std::unordered_map<std::int64_t, Standing> places_; ///< indexed by frame number
    std::int64_t registered_ = 0;
    std::unique_ptr<FrameSource> fields_, rows_;
};

void check_shape(const FrameSource& source, const SeriesTransforms& transforms) {
    if (source.header().shape != transforms.shape)
        throw InvalidFile(source.path(),
                          fmt::format("is {}, expected {}, the size of the registered frames",
                                      format::to_text(source.header().shape),
                                      format::to_text(transforms.shape)));
}

/// A frame of the image to transform, and the frame of the series whose transform is applied to it.
struct Shown {
    std::int64_t frame = 0, registered = 0;
};

/// The frames to transform, each with the frame whose transform applies. `only`: the registered
/// frame whose transform is applied to a single image.
std::vector<Shown> frames_to_show(std::optional<std::int64_t> only, const FrameSource& source,
                                  const SeriesTransforms& transforms) {
    const std::int64_t count = source.header().frames;
    if (only) {
        if (count != 1)
            throw InvalidTask(
                fmt::format("{} has {} frames, expected one frame because --frame is given",
                            source.path(), count));
        return {{0, *only}};
    }
    if (count != std::ssize(transforms.frames))
        throw InvalidTask(fmt::format(
            "{} has {} frames, expected the {} that were registered, or one frame with --frame N",
            source.path(), count, transforms.frames.size()));
    std::vector<Shown> shown;
    for (const FrameRegistration& place : transforms.frames) {
        if (place.frame >= count)
            throw InvalidTask(fmt::format("{} has frames 0 to {}, but frame {} was registered",
                                          source.path(), count - 1, place.frame));
        if (place.left_out.empty())
            shown.push_back({place.frame, place.frame});
    }
    return shown;
}

void apply_to_images(const ApplyCommand& command, Applied& applied) {
    const auto [source, offset] =
        less_offset(format::open_frames(command.source.image, command.source.options()));
    print_remarks(*source);
    check_shape(*source, applied.all());
    const std::vector<Shown> shown = frames_to_show(command.source.frame, *source, applied.all());
    FrameHeader header;
    header.frames = std::ssize(shown);
    const registration::PixelArea area = applied.all().area();
    header.shape = area.shape;
    header.pixel = source->header().pixel;
    header.sample = sample_with_offset(command.output, offset);
    if (offset != 0)
        print_warnings(std::array{
            fmt::format("{}: {}", source->path(), offset_remark(offset, command.output))});
    std::vector<std::int64_t> numbers;
    for (const Shown& one : shown)
        numbers.push_back(one.frame);
    header.frame_interval = frame_interval_of(source->header(), numbers);
    format::SinkOptions options;
    options.pyramid = command.pyramid;
    const std::unique_ptr<FrameSink> sink = format::create_frames(command.output, header, options);
    registration::FlybackGaps without_flyback(*source,
                                              applied.all().rows ? applied.all().rows->flyback : 0);
    registration::Resampler resampler(without_flyback);
    std::vector<float> pixels(static_cast<std::size_t>(header.shape.elements()));
    Progress progress(true);
    std::int64_t done = 0;
    for (const Shown& one : shown) {
        progress.say("apply", done++, header.frames);
        resampler.show(one.frame, applied.of(one.registered), area, pixels);
        write_with_offset(*sink, pixels, offset);
    }
    sink->commit();
    progress.clear();
    print_text(fmt::format("{}: {} of {}x{} {}, NaN outside the data\n", command.output,
                           report::counted(header.frames, "frame"), header.shape.width,
                           header.shape.height, name(header.sample)));
}

void apply_to_coordinates(const ApplyCommand& command, const Call& call, Applied& applied) {
    if (command.source.frame)
        throw InvalidTask(
            "--frame has no effect: a table of coordinates states the frame of each point");
    call.refuse({"channel", "slice"}, "a file of coordinates has no channels or slices");
    const std::string& path = command.source.image;
    std::vector<FramePoint> points = read_coordinates(path);
    std::optional<std::int64_t> frame;
    Transform transform;
    const registration::PixelArea area = applied.all().area();
    const ImageShape shape = applied.all().shape;
    const auto left = static_cast<double>(area.x), top = static_cast<double>(area.y);
    for (FramePoint& point : points) {
        try {
            if (frame != point.frame)
                transform = applied.of(point.frame);
            frame = point.frame;
            if (command.from_reference) {
                point.at = apply(transform, {point.at.x + left, point.at.y + top}, shape);
            } else {
                const registration::Point at = apply_inverse(transform, point.at, shape);
                point.at = {at.x - left, at.y - top};
            }
        } catch (const InvalidTask& error) {
            throw InvalidFile(path, fmt::format("line {}: {}", point.line, error.what()));
        }
    }
    write_text(command.output, to_csv(points));
    print_text(
        fmt::format("{}: {} in {}\n", command.output, report::counted(std::ssize(points), "point"),
                    command.from_reference ? "pixels of their frames" : "pixels of the average"));
}

bool is_table(const std::string& path) {
    return std::filesystem::path(path).extension() == ".csv";
}

int run_apply(const ApplyCommand& command, const Call& call) {
    const std::string& path = command.source.image;
    const bool coordinates = is_table(path);
    if (command.from_reference && !coordinates)
        throw InvalidTask(
            fmt::format("--from-reference: {} is not a table of coordinates (.csv)", path));
    const std::array outputs{command.output};
    if (command.pyramid && coordinates)
        throw InvalidTask(fmt::format("--pyramid: {} is a table of coordinates", path));
    if (coordinates && !is_table(outputs[0]))
        throw InvalidTask(fmt::format("{}: coordinates are written as .csv", outputs[0]));
    if (!coordinates)
        check_frames_name(outputs[0], Sample::f32);
    std::vector<std::string> read = coordinates ? std::vector{path} : format::files_of_frames(path);
    read.push_back(command.transforms);
    keep_inputs(read, outputs);
    check_outputs(outputs);
    Applied applied(command.transforms);
    keep_inputs(applied.files(), outputs);
    if (coordinates)
        apply_to_coordinates(command, call, applied);
    else
        apply_to_images(command, applied);
    return 0;
}

} // namespace

constexpr std::string_view notes_of_apply =
    "Aligned frames have the area of the average (register --canvas). Points are mapped from "
    "pixels of\n"
    "their frames to pixels of the average, so that each is at the feature that the average shows.";

Operation apply_operation() {
    Operation operation = declare_command<ApplyCommand>(
        "apply", "apply the transforms of a registered series to other images or points",
        "  sextant apply out/transforms.json second-channel.mrc -o aligned.tif\n"
        "  sextant apply out/transforms.json particles.csv -o in-reference.csv",
        run_apply, RunOn::one_rank);
    operation.notes = notes_of_apply;
    return operation;
}

} // namespace sextant::command
