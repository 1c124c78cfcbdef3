// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample_offset.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// Formats of samples that are only compared. Signed integers are stored as their bit patterns.
inline constexpr ElementFormat value_u32{"value u32", 4};
inline constexpr ElementFormat value_u64{"value u64", 8};
inline constexpr ElementFormat value_f64{"value f64", 8};

/// The purpose of reading rows, which determines the format of the values.
enum class ReadAs : std::uint8_t {
    /// For computation: u8, and u16 and f32 near 0, as stored; other samples as the nearest floats
    /// after offset() is subtracted (OffsetFor::computation); colours as luminance.
    floats,
    /// For comparison: samples as stored, but f16 as floats. The channels of a colour, without
    /// alpha, are packed into one number if they have 8 or 16 bits each; other colours are
    /// converted to luminance.
    values,
    /// As floats, but f64 samples that floats cannot hold are divided by scale(), too.
    scaled
};

/// A frame of a series as a grey image whose rows are read on demand, so that it need not fit in
/// memory; or all frames as the planes of a volume. Not thread-safe: each thread opens its own.
class RowSource {
  public:
    /// Requires  `frame` to be a frame of the series (InvalidTask).
    RowSource(std::unique_ptr<FrameSource> frames, std::int64_t frame,
              ReadAs read_as = ReadAs::floats);
    /// All frames, for computation: ReadAs::floats or ReadAs::scaled.
    explicit RowSource(std::unique_ptr<FrameSource> frames, ReadAs read_as = ReadAs::floats);

    const std::string& path() const { return frames_->path(); }
    const FrameHeader& header() const { return frames_->header(); }
    ImageShape shape() const { return header().shape; } ///< of the image, or of each plane
    /// The number of planes of a volume; 1 for an image.
    Elements planes() const { return planes_; }
    /// The offset subtracted from samples for computation (array/frame_source.hpp); usually 0.
    double offset() const { return scaled_ ? scaled_->offset() : 0; }
    /// The power of two by which samples less the offset are divided (ReadAs::scaled); usually 1.
    double scale() const { return scaled_ ? scaled_->scale() : 1; }
    /// The type of the samples in the file or array.
    Sample stored() const { return scaled_ ? scaled_->stored() : header().sample; }
    /// The samples in the rows that were read, per row, that became 0 although they differ from the
    /// offset (ScaledFrames::vanished).
    std::map<std::int64_t, Elements> vanished() const;
    /// The format of the values: gray_f32, gray_u8 or gray_u16; for comparison also value_u32,
    /// value_u64 or value_f64.
    const ElementFormat& element() const { return element_; }

    /// Reads rows first ... first + rows − 1, of a plane if this is a volume.
    /// Requires  rows within the image, and a buffer of exactly their size, aligned for their
    ///           samples (std::logic_error).
    /// Throws    InvalidFile if the file no longer contains these rows.
    void read(Elements first, Elements rows, std::span<std::byte> to, Elements plane = 0);

  private:
    void set_offset();
    void read_packed(std::int64_t frame, Rows rows, std::span<std::byte> to);

    std::unique_ptr<FrameSource> frames_;
    const ScaledFrames* scaled_ = nullptr; ///< the frames, if they have an offset or a scale
    std::int64_t frame_;                   ///< the first plane
    Elements planes_ = 1;
    ElementFormat element_;
    enum class How : std::uint8_t { as_stored, as_floats, packed } how_;
    std::vector<std::byte> stored_; ///< multi-channel pixels before packing
};

} // namespace sextant
