// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/command/transforms.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace sextant::command {

/// The transforms of a file; displacement fields and those of rows are read when needed.
class AppliedTransforms {
  public:
    explicit AppliedTransforms(const std::string& path);

    const std::string& path() const { return path_; }
    const SeriesTransforms& all() const { return all_; }
    /// The number of columns at the left edge of frames that are gaps.
    std::int64_t flyback() const { return all_.rows ? all_.rows->flyback : 0; }

    /// The files that the transforms file refers to.
    std::vector<std::string> files() const;

    /// The transform of a frame. Throws InvalidTask, naming the frame, if the file does not list
    /// the frame or lists it as left out.
    registration::Transform of(std::int64_t frame);

    /// The frames of a series of `count` frames that are registered and not left out. Throws
    /// InvalidTask, naming the series `path`, if other frames were registered.
    std::vector<std::int64_t> frames_of(const std::string& path, std::int64_t count) const;

    /// Throws InvalidFile, for the file at `path`, unless its frames have the size of the
    /// registered ones.
    void require_shape(const std::string& path, ImageShape shape) const;

  private:
    /// A frame's index in the file, and the number of registered frames before it.
    struct Standing {
        std::size_t place = 0;
        std::int64_t registered = 0;
    };

    void number_frames();
    void open_fields();
    void open_rows();
    registration::DisplacementField field(std::int64_t number);
    registration::RowMotion rows(std::int64_t number, const registration::RigidMotion& motion);

    std::string path_;
    SeriesTransforms all_;
    std::unordered_map<std::int64_t, Standing> places_; ///< indexed by frame number
    std::int64_t registered_ = 0;
    std::unique_ptr<FrameSource> fields_, rows_;
};

} // namespace sextant::command
