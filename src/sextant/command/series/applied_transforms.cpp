// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/series/transforms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

namespace sextant::command {

using registration::DisplacementField;
using registration::RowMotion;
using registration::Transform;

namespace {

/// Opens a file in the folder of the transforms. Throws InvalidFile unless the file has this number
/// of planes of this shape; `planes` is what messages call them.
std::unique_ptr<FrameSource> open_beside(const std::string& transforms, const std::string& name,
                                         std::string_view planes, std::int64_t count,
                                         ImageShape shape) {
    const std::string path = (std::filesystem::path(transforms).parent_path() / name).string();
    std::unique_ptr<FrameSource> source = format::open_frames(path);
    const FrameHeader& header = source->header();
    if (header.shape != shape || header.frames != count)
        throw InvalidFile(path, fmt::format("has {} {} of {}, expected {} of {} as stated in {}",
                                            header.frames, planes, format::to_text(header.shape),
                                            count, format::to_text(shape), transforms));
    return source;
}

} // namespace

AppliedTransforms::AppliedTransforms(const std::string& path)
    : path_(path), all_(read_transforms(path)) {
    for (std::size_t place = 0; place < all_.frames.size(); ++place) {
        const FrameRegistration& frame = all_.frames[place];
        places_.emplace(frame.frame, Standing{place, registered_});
        registered_ += frame.left_out.empty() ? 1 : 0;
    }
    if (const auto& file = all_.fields)
        fields_ = open_beside(path, file->path, "planes", 4 * registered_, file->nodes);
    if (const auto& file = all_.rows)
        rows_ = open_beside(path, file->path, "tables", registered_, {3, file->rows});
}

std::vector<std::string> AppliedTransforms::files() const {
    std::vector<std::string> paths;
    for (const auto* file : {&fields_, &rows_}) {
        if (*file)
            paths.push_back((*file)->path());
    }
    return paths;
}

Transform AppliedTransforms::of(std::int64_t frame) {
    const auto at = places_.find(frame);
    if (at == places_.end())
        throw InvalidTask(fmt::format("{} has no frame {}, expected one of {}", path_, frame,
                                      all_.frames.size()));
    const FrameRegistration& place = all_.frames[at->second.place];
    if (!place.left_out.empty())
        throw InvalidData(
            fmt::format("{}: frame {} was left out: {}", path_, frame, place.left_out));
    if (place.affine)
        return *place.affine;
    if (rows_)
        return rows(at->second.registered, place.result.motion);
    return fields_ ? Transform(field(at->second.registered)) : place.result.motion;
}

DisplacementField AppliedTransforms::field(std::int64_t number) {
    const FieldFile& file = *all_.fields;
    DisplacementField field{all_.shape, file.spacing, file.nodes, {}, {}, {}, {}};
    std::int64_t plane = 4 * number;
    for (std::vector<float>* to : {&field.x, &field.y}) {
        to->resize(field.count());
        fields_->read_frame(plane, *to);
        const auto gap =
            std::find_if(to->begin(), to->end(), [](float value) { return !std::isfinite(value); });
        if (gap != to->end())
            throw InvalidFile(fields_->path(),
                              fmt::format("plane {}: node {} is {}, expected a finite number",
                                          plane, gap - to->begin(), *gap));
        ++plane;
    }
    return field;
}

RowMotion AppliedTransforms::rows(std::int64_t number, const registration::RigidMotion& motion) {
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
                fmt::format("table {}: row {} is displaced by ({}, {}), expected finite numbers",
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

std::vector<std::int64_t> AppliedTransforms::frames_of(const std::string& path,
                                                       std::int64_t count) const {
    if (count != std::ssize(all_.frames))
        throw InvalidTask(fmt::format("{} has {} frames, expected the {} that were registered in "
                                      "{}, or one frame with --frame N",
                                      path, count, all_.frames.size(), path_));
    std::vector<std::int64_t> frames;
    for (const FrameRegistration& place : all_.frames) {
        if (place.frame >= count)
            throw InvalidData(fmt::format("{} has frames 0 to {}, but frame {} was registered",
                                          path, count - 1, place.frame));
        if (place.left_out.empty())
            frames.push_back(place.frame);
    }
    return frames;
}

void AppliedTransforms::require_shape(const std::string& path, ImageShape shape) const {
    if (shape != all_.shape)
        throw InvalidFile(path,
                          fmt::format("is {}, expected {}, the size of the frames that were "
                                      "registered in {}",
                                      format::to_text(shape), format::to_text(all_.shape), path_));
}

} // namespace sextant::command
