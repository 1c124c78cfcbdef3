// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/atomic_file.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/stored_frames.hpp"
#include "sextant/format/tiff.hpp"
#include "sextant/format/tiff_library.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// Strips of about this size, of whole rows.
constexpr Bytes strip_bytes = Bytes{1} << 18;

/// What a page takes beside its samples, generously: its directory, and 16 bytes a strip or tile.
constexpr Bytes directory_bytes(std::int64_t pieces) {
    return 1024 + 16 * pieces;
}

/// How many rows a strip or tile has.
std::int64_t rows_of_band(const FrameHeader& header, const SinkOptions& options) {
    const Bytes row = header.shape.width * size_of(header.sample);
    return options.tile > 0 ? options.tile
                            : std::clamp<std::int64_t>(strip_bytes / row, 1, header.shape.height);
}

/// Rows are gathered into bands: strips, or rows of tiles.
class TiffSink : public FrameSink {
  public:
    TiffSink(const std::string& path, const FrameHeader& header, const SinkOptions& options)
        : FrameSink(path, header),
          tile_(options.tile),
          band_rows_(rows_of_band(header, options)),
          file_(path),
          bytes_{path, 0, 0,
                 [this](Bytes position, std::span<std::byte> to) {
                     return file_.read_at(position, to);
                 },
                 [this](Bytes position, std::span<const std::byte> bytes) {
                     if (position != file_.position())
                         file_.seek(position);
                     file_.write(bytes);
                 }},
          tiff_(open_tiff_library(bytes_, needs_big_tiff(header, options) ? "w8" : "w")),
          band_(static_cast<std::size_t>(band_rows_ * row_bytes())) {}

  private:
    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) override {
        const auto row = static_cast<std::size_t>(row_bytes());
        for (std::int64_t y = rows.first; y < rows.last; ++y) {
            if (y == 0)
                begin_page(frame);
            std::memcpy(band_.data() + static_cast<std::size_t>(y % band_rows_) * row,
                        samples.data() + static_cast<std::size_t>(y - rows.first) * row, row);
            if ((y + 1) % band_rows_ == 0 || y + 1 == header().shape.height)
                write_band(y / band_rows_, y % band_rows_ + 1);
        }
        if (rows.last == header().shape.height && !TIFFWriteDirectory(tiff_.get()))
            fail_tiff(bytes_, "cannot be written");
    }

    void finish() override {
        tiff_.reset();
        if (bytes_.thrown || !bytes_.complaint.empty())
            fail_tiff(bytes_, "cannot be written");
        file_.commit();
    }

    template <class... Values>
    void set(std::uint32_t tag, Values... values) {
        if (!TIFFSetField(tiff_.get(), tag, values...))
            fail_tiff(bytes_, "cannot be written");
    }

    void begin_page(std::int64_t frame) {
        const bool floating = header().sample == Sample::f32;
        set(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(header().shape.width));
        set(TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(header().shape.height));
        set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(header().sample)));
        set(TIFFTAG_SAMPLEFORMAT, floating ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
        set(TIFFTAG_SAMPLESPERPIXEL, 1);
        set(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        if (tile_ > 0) {
            set(TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(tile_));
            set(TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(tile_));
        } else {
            set(TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(band_rows_));
        }
        const PixelSize& pixel = header().pixel;
        if (pixel.known()) {
            set(TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE); // ImageJ's unit is in the description
            set(TIFFTAG_XRESOLUTION, 1 / pixel.x);
            set(TIFFTAG_YRESOLUTION, 1 / pixel.y);
        }
        if (frame == 0)
            set(TIFFTAG_IMAGEDESCRIPTION, description().c_str());
    }

    std::string description() const {
        const std::int64_t frames = header().frames;
        std::string text = fmt::format("ImageJ=1.53t\nimages={}\n", frames);
        if (frames > 1)
            text += fmt::format("slices={}\n", frames);
        if (header().pixel.known() && !header().pixel.unit.empty())
            text += fmt::format("unit={}\n", header().pixel.unit);
        return text;
    }

    void write_band(std::int64_t band, std::int64_t rows) {
        if (tile_ > 0) {
            for (std::int64_t x = 0; x < header().shape.width; x += tile_)
                write_tile(x, band * tile_, rows);
        } else if (TIFFWriteEncodedStrip(tiff_.get(), static_cast<std::uint32_t>(band),
                                         band_.data(), rows * row_bytes()) < 0) {
            fail_tiff(bytes_, "cannot be written");
        }
    }

    /// What a tile reaches beyond the frame is zero.
    void write_tile(std::int64_t x, std::int64_t y, std::int64_t rows) {
        const Bytes size = size_of(header().sample);
        const auto line = static_cast<std::size_t>(tile_ * size);
        const auto used =
            static_cast<std::size_t>(std::min(tile_, header().shape.width - x) * size);
        tile_bytes_.assign(line * static_cast<std::size_t>(tile_), std::byte{0});
        for (std::int64_t i = 0; i < rows; ++i) {
            std::memcpy(tile_bytes_.data() + static_cast<std::size_t>(i) * line,
                        band_.data() + i * row_bytes() + x * size, used);
        }
        if (TIFFWriteTile(tiff_.get(), tile_bytes_.data(), static_cast<std::uint32_t>(x),
                          static_cast<std::uint32_t>(y), 0, 0) < 0)
            fail_tiff(bytes_, "cannot be written");
    }

    std::int64_t tile_, band_rows_;
    AtomicFile file_;
    TiffBytes bytes_;
    Tiff tiff_;
    std::vector<std::byte> band_, tile_bytes_;
};

} // namespace

bool needs_big_tiff(const FrameHeader& header, const SinkOptions& options) {
    const auto pieces = [](std::int64_t length, std::int64_t piece) {
        return (length + piece - 1) / piece;
    };
    const std::int64_t rows = rows_of_band(header, options);
    const std::int64_t columns = options.tile > 0 ? options.tile : header.shape.width;
    const std::int64_t count =
        pieces(header.shape.height, rows) * pieces(header.shape.width, columns);
    const Bytes page = count * rows * columns * size_of(header.sample) + directory_bytes(count);
    return page >= std::numeric_limits<std::uint32_t>::max() / header.frames;
}

std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    check_sink(path, header, {Sample::u8, Sample::u16, Sample::u32, Sample::f32});
    checked_frames(path, header);
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    if (std::max(header.shape.width, header.shape.height) > longest) {
        throw InvalidFile(path,
                          fmt::format("cannot hold frames of {}, expected sides of at most {}",
                                      to_text(header.shape), longest));
    }
    constexpr std::int64_t largest_tile = 4096;
    if (options.tile < 0 || options.tile % 16 != 0 || options.tile > largest_tile) {
        throw InvalidFile(path, fmt::format("cannot have tiles of {}, expected a multiple of 16 up "
                                            "to {}",
                                            options.tile, largest_tile));
    }
    return std::make_unique<TiffSink>(path, header, options);
}

} // namespace sextant::format
