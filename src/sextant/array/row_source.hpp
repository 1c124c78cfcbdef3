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
    /// For computation: u8 samples, and u16 and f32 samples near 0, as stored; other samples as the
    /// nearest floats after offset() is subtracted (OffsetFor::computation); colours as luminance.
    floats,
    /// For comparison: samples as stored, except f16, which becomes float. Colours of 8 or 16 bits
    /// per channel are packed into one number per pixel, without alpha; other colours are converted
    /// to luminance.
    values,
    /// As `floats`, but f64 samples that floats cannot hold are also divided by scale().
    scaled
};

/// Reads rows on demand from one frame of a series as a grey image, which need not fit in memory,
/// or from all frames as the planes of a volume. Not thread-safe: each thread opens its own source.
class RowSource {
  public:
    /// Requires  `frame` to be a frame of the series (InvalidTask).
    RowSource(std::unique_ptr<FrameSource> frames, std::int64_t frame,
              ReadAs read_as = ReadAs::floats);
    /// Reads all frames, for computation: ReadAs::floats or ReadAs::scaled.
    explicit RowSource(std::unique_ptr<FrameSource> frames, ReadAs read_as = ReadAs::floats);

    const std::string& path() const { return frames_->path(); }
    const FrameHeader& header() const { return frames_->header(); }
    ImageShape shape() const { return header().shape; } ///< of the image, or of each plane
    /// The number of planes of a volume; 1 for an image.
    Elements planes() const { return planes_; }
    /// The offset subtracted from samples for computation (array/sample_offset.hpp); usually 0.
    double offset() const { return scaled_ ? scaled_->offset() : 0; }
    /// The power of two by which samples are divided after the offset is subtracted
    /// (ReadAs::scaled); usually 1.
    double scale() const { return scaled_ ? scaled_->scale() : 1; }
    /// The type of the samples in the file or array.
    Sample stored() const { return scaled_ ? scaled_->stored() : header().sample; }
    /// The number of samples per row that became 0 although they differ from the offset, for the
    /// rows read so far (ScaledFrames::vanished).
    std::map<std::int64_t, Elements> vanished() const;
    /// The format of the values: gray_f32, gray_u8 or gray_u16; for comparison also value_u32,
    /// value_u64 or value_f64.
    const ElementFormat& element() const { return element_; }

    /// Reads `rows` rows from row `first` on, of the given plane if the source is a volume.
    /// Requires  rows within the image, and a buffer of exactly the size of the rows, aligned for
    ///           the samples (std::logic_error).
    /// Throws    InvalidFile if the file no longer contains these rows.
    void read(Elements first, Elements rows, std::span<std::byte> to, Elements plane = 0);

  private:
    void set_offset();
    void read_packed(std::int64_t frame, Rows rows, std::span<std::byte> to);

    std::unique_ptr<FrameSource> frames_;
    const ScaledFrames* scaled_ = nullptr; ///< the frames, if they have an offset or a scale
    std::int64_t frame_;                   ///< the frame that is read, or the first plane
    Elements planes_ = 1;
    ElementFormat element_;
    enum class How : std::uint8_t { as_stored, as_floats, packed } how_;
    std::vector<std::byte> stored_; ///< multi-channel pixels before packing
};

} // namespace sextant
