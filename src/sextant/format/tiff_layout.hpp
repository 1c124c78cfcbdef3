// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

/// The first lines of a file of ImageJ's: number and axis of the images, unit, frame interval.
std::string imagej_description(const FrameHeader& header, const SinkOptions& options);

/// OME-XML of one image: its axes, samples, pixel size and frame interval.
std::string ome_description(const FrameHeader& header, const SinkOptions& options);

/// A positive number as TIFF stores it; both parts are below 2^31, since ImageJ reads signed ones.
struct TiffRational {
    std::uint32_t numerator = 0, denominator = 1;
};

/// The rational next to a number; 0 if none is within a millionth of it.
TiffRational tiff_rational(double number);

/// A pixel size in a unit in which one over it is a rational as above: its own unit if possible,
/// otherwise another unit of length. Not known where there is none.
PixelSize in_storable_unit(const PixelSize& pixel);

/// The same in centimetres, TIFF's own unit; not known where its unit is no length.
PixelSize in_centimetres(const PixelSize& pixel);

/// The bytes of a TIFF file around its samples: a header, the first directory and its texts, then
/// the samples of all frames without gaps, then the directories of the other frames.
///
/// Kinds     u8, u16 and f32 are described for ImageJ (`ImageJ=1.53t`, `images=N`); other samples,
///           and what ImageJ cannot hold, in OME-XML. Files below 4 GiB are classic TIFF. Longer
///           series for ImageJ are classic TIFF as well if each frame is below 4 GiB, and have the
///           first directory alone, as ImageJ writes and reads them. All others are BigTIFF.
/// Requires  a header that check_sink and checked_frames accept.
class TiffLayout {
  public:
    TiffLayout(FrameHeader header, const SinkOptions& options);

    bool big() const { return big_; }
    bool for_imagej() const { return imagej_; }
    /// How many frames have a directory: all, or the first.
    std::int64_t directories() const { return directories_; }

    /// What precedes the samples.
    const std::vector<std::byte>& start() const { return start_; }
    /// Zeros between the samples and the other directories.
    Bytes padding() const;
    /// The directory of a frame.
    std::vector<std::byte> directory(std::int64_t frame) const;

  private:
    Bytes frame_bytes() const;
    Bytes directory_bytes(bool first) const;
    Bytes header_bytes() const { return big_ ? 16 : 8; }
    Bytes end_of_samples() const;
    Bytes position_of(std::int64_t frame) const;
    void choose_kind();
    void place_parts();
    bool fits_classic() const;

    FrameHeader header_;
    SinkOptions options_;
    bool imagej_ = false, big_ = false;
    std::int64_t directories_ = 1;
    std::string text_;
    PixelSize pixel_ = {}; ///< for the tags of the resolution; their unit is cm, or in the text
    Bytes text_at_ = 0, resolution_at_ = 0, samples_at_ = 0;
    std::vector<std::byte> start_;
};

} // namespace sextant::format
