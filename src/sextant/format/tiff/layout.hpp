// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

/// Returns an image description for ImageJ: number and axis of the images, unit and frame interval.
std::string imagej_description(const FrameHeader& header, const SinkOptions& options);

/// Returns an image description in OME-XML: axes, samples, pixel size and frame interval.
std::string ome_description(const FrameHeader& header, const SinkOptions& options);

/// A positive rational as TIFF stores it. Both numbers are below 2^31, because ImageJ reads them as
/// signed integers.
struct TiffRational {
    std::uint32_t numerator = 0, denominator = 1;
};

/// Returns the rational nearest to a number; 0 if the relative error would exceed 10⁻⁶.
TiffRational tiff_rational(double number);

/// Converts a pixel size to a unit in which its inverse is a TiffRational: its own unit if
/// possible, otherwise another unit of length. Unknown if there is no such unit.
PixelSize in_storable_unit(const PixelSize& pixel);

/// Converts a pixel size to centimetres, TIFF's own unit; unknown if its unit is not a length.
PixelSize in_centimetres(const PixelSize& pixel);

/// Produces all bytes of a TIFF file except the samples. The file has a header, the first directory
/// with its strings, the samples of all frames without gaps, and the directories of the other
/// frames.
///
/// Kinds     u8, u16 and f32 are described for ImageJ (`ImageJ=1.53t`, `images=N`), with frame
/// labels in ImageJ's private tags 50838 and 50839. Other samples, and files that ImageJ cannot
/// hold, are described in OME-XML. Files below 4 GiB are classic TIFF. Longer series for ImageJ are
/// also classic TIFF if each frame is below 4 GiB; they have only the first directory, as ImageJ
/// writes and reads them. All other files are BigTIFF.
///
/// Requires  a header that check_sink and checked_frames accept; no labels, or one per frame
///           (std::logic_error).
class TiffLayout {
  public:
    TiffLayout(FrameHeader header, const SinkOptions& options);

    bool big() const { return big_; }
    bool for_imagej() const { return imagej_; }
    /// True if the file states the pixel size of the header.
    bool keeps_pixel() const;
    /// The number of frames with a directory: all frames, or only the first one.
    std::int64_t directories() const { return directories_; }

    /// The bytes before the samples.
    const std::vector<std::byte>& start() const { return start_; }
    /// The number of zeros between the samples and the other directories.
    Bytes padding() const;
    /// Returns the directory of a frame.
    std::vector<std::byte> directory(std::int64_t frame) const;

  private:
    Bytes frame_bytes() const;
    Bytes label_bytes() const; ///< size of the labels in ImageJ's metadata
    Bytes directory_bytes(bool first) const;
    Bytes header_bytes() const { return big_ ? 16 : 8; }
    Bytes end_of_samples() const;
    Bytes position_of(std::int64_t frame) const;
    void choose_kind();
    void place_parts();
    bool fits_classic() const;
    bool has_labels() const { return imagej_ && !options_.labels.empty(); }
    void put_labels();

    FrameHeader header_;
    SinkOptions options_;
    bool imagej_ = false, big_ = false;
    std::int64_t directories_ = 1;
    std::string text_;
    PixelSize pixel_ = {}; ///< pixel size for the resolution tags, in cm or in the unit of `text_`
    std::vector<std::vector<char16_t>> labels_;
    Bytes text_at_ = 0, resolution_at_ = 0, label_lengths_at_ = 0, labels_at_ = 0, samples_at_ = 0;
    std::vector<std::byte> start_;
};

} // namespace sextant::format
