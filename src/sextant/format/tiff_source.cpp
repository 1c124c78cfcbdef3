// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/stored_frames.hpp"
#include "sextant/format/tiff.hpp"
#include "sextant/format/tiff_page.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// A file, the library's view of it, and its pages. Stays where it is: the library points to it.
struct OpenTiff {
    explicit OpenTiff(const std::string& path)
        : file(path),
          bytes{path,
                file.size(),
                0,
                [this](Bytes position, std::span<std::byte> to) {
                    return file.read_at(position, to);
                },
                {}},
          tiff(open_tiff_library(bytes, "rm")) {}

    SourceFile file;
    TiffBytes bytes;
    Tiff tiff;
    std::vector<TiffPage> pages;
    std::string end; ///< why there are no more pages, where there should be
};

/// Why pages that lie behind one another could not all be found; passes over what is no picture.
void find_pages(OpenTiff& open) {
    TIFF* const tiff = open.tiff.get();
    do {
        if (!is_picture(tiff))
            continue;
        try {
            open.pages.push_back(read_page(tiff, open.bytes));
        } catch (const InvalidFile&) {
            if (open.pages.empty())
                throw;
            open.pages.push_back({}); // of a shape that no frame has
        }
    } while (TIFFReadDirectory(tiff));
    open.end = std::exchange(open.bytes.complaint, {});
}

void go_to(OpenTiff& open, const TiffPage& page, std::int64_t frame) {
    TIFF* const tiff = open.tiff.get();
    if (TIFFCurrentDirOffset(tiff) == page.directory)
        return;
    if (!TIFFSetSubDirectory(tiff, page.directory))
        fail_tiff(open.bytes, fmt::format("frame {} cannot be read", frame));
    // The library forgets with every page that JPEG is to come as colours.
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}

class TiffFrames : public FrameSource {
  public:
    TiffFrames(std::unique_ptr<OpenTiff> open, FrameHeader header)
        : FrameSource(open->file.path(), std::move(header)), open_(std::move(open)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        const TiffPage& page = open_->pages[static_cast<std::size_t>(frame)];
        check_alike(path(), frame, page.frame, header());
        go_to(*open_, page, frame);
        open_->bytes.complaint.clear();
        if (page.tile.width > 0)
            load_tiles(frame, page, rows, to);
        else
            load_strips(frame, page, rows, to);
        if (page.inverted && header().sample != Sample::f32 && header().sample != Sample::f64)
            std::transform(to.begin(), to.end(), to.begin(), [](std::byte b) { return ~b; });
    }

    int planes(const TiffPage& page) const { return page.planes ? header().channels : 1; }

    /// Puts one plane's samples, or all channels where they lie together, into pixels.
    void place(const std::byte* from, std::byte* to, std::int64_t pixels, const TiffPage& page,
               int plane) const {
        const auto size = static_cast<std::size_t>(size_of(header().sample));
        const auto channels = static_cast<std::size_t>(header().channels);
        if (!page.planes) {
            std::memcpy(to, from, static_cast<std::size_t>(pixels) * channels * size);
            return;
        }
        for (std::size_t x = 0; x < static_cast<std::size_t>(pixels); ++x) {
            std::memcpy(to + (x * channels + static_cast<std::size_t>(plane)) * size,
                        from + x * size, size);
        }
    }

    void load_strips(std::int64_t frame, const TiffPage& page, Rows rows, std::span<std::byte> to) {
        TIFF* const tiff = open_->tiff.get();
        const Bytes line = row_bytes() / planes(page);
        if (static_cast<Bytes>(TIFFScanlineSize64(tiff)) != line)
            fail_tiff(open_->bytes, fmt::format("frame {} has rows of another length", frame));
        line_.resize(static_cast<std::size_t>(line));
        for (int plane = 0; plane < planes(page); ++plane) {
            std::byte* row = to.data();
            for (std::int64_t y = rows.first; y < rows.last; ++y, row += row_bytes()) {
                read_line({frame, plane, y}, page);
                place(line_.data(), row, header().shape.width, page, plane);
            }
        }
    }

    /// A row of a plane of a frame.
    struct Line {
        std::int64_t frame = -1;
        int plane = 0;
        std::int64_t row = 0;
        bool operator==(const Line&) const = default;
    };

    /// Codecs only go forward within a strip: rows that were passed over are decoded as well.
    void read_line(const Line& wanted, const TiffPage& page) {
        const bool goes_on = !page.compressed || wanted == next_;
        std::int64_t y = goes_on ? wanted.row : wanted.row / page.strip * page.strip;
        next_ = {}; // until the row is there
        for (; y <= wanted.row; ++y) {
            if (TIFFReadScanline(open_->tiff.get(), line_.data(), static_cast<std::uint32_t>(y),
                                 static_cast<std::uint16_t>(wanted.plane)) < 0) {
                fail_tiff(open_->bytes,
                          fmt::format("frame {}, row {} cannot be read", wanted.frame, y));
            }
        }
        next_ = {wanted.frame, wanted.plane, wanted.row + 1};
    }

    void load_tiles(std::int64_t frame, const TiffPage& page, Rows rows, std::span<std::byte> to) {
        std::byte* row = to.data();
        for (std::int64_t y = rows.first; y < rows.last; ++y, row += row_bytes()) {
            const std::int64_t first = y / page.tile.height * page.tile.height;
            if (band_frame_ != frame || band_row_ != first)
                read_band(frame, page, first);
            std::memcpy(row, band_.data() + (y - first) * row_bytes(),
                        static_cast<std::size_t>(row_bytes()));
        }
    }

    /// The row of tiles that begins with row `first`.
    void read_band(std::int64_t frame, const TiffPage& page, std::int64_t first) {
        band_frame_ = -1; // until it is whole
        const std::int64_t rows = std::min(page.tile.height, header().shape.height - first);
        band_.resize(static_cast<std::size_t>(rows * row_bytes()));
        for (int plane = 0; plane < planes(page); ++plane) {
            for (std::int64_t x = 0; x < header().shape.width; x += page.tile.width)
                read_tile(frame, page, x, first, rows, plane);
        }
        band_frame_ = frame;
        band_row_ = first;
    }

    void read_tile(std::int64_t frame, const TiffPage& page, std::int64_t x, std::int64_t y,
                   std::int64_t rows, int plane) {
        TIFF* const tiff = open_->tiff.get();
        const Bytes pixel = header().channels * size_of(header().sample);
        const Bytes line = page.tile.width * pixel / planes(page);
        if (static_cast<Bytes>(TIFFTileSize64(tiff)) != line * page.tile.height)
            fail_tiff(open_->bytes, fmt::format("frame {} has tiles of another size", frame));
        tile_.resize(static_cast<std::size_t>(line * page.tile.height));
        if (TIFFReadTile(tiff, tile_.data(), static_cast<std::uint32_t>(x),
                         static_cast<std::uint32_t>(y), 0, static_cast<std::uint16_t>(plane)) < 0) {
            fail_tiff(open_->bytes,
                      fmt::format("frame {}, tile at ({}, {}) cannot be read", frame, x, y));
        }
        const std::int64_t width = std::min(page.tile.width, header().shape.width - x);
        for (std::int64_t i = 0; i < rows; ++i) {
            place(tile_.data() + i * line, band_.data() + i * row_bytes() + x * pixel, width, page,
                  plane);
        }
    }

    std::unique_ptr<OpenTiff> open_;
    std::vector<std::byte> line_, tile_;
    std::vector<std::byte> band_; ///< the row of tiles that was read last
    std::int64_t band_frame_ = -1, band_row_ = 0;
    Line next_; ///< where the codec is
};

/// Whole pages up to the first that is not.
std::int64_t whole_pages(const std::vector<TiffPage>& pages) {
    const auto broken = std::find_if(pages.begin(), pages.end(), [](const TiffPage& page) {
        return page.frame.shape.elements() > 0 && !page.whole;
    });
    return broken - pages.begin();
}

void remark_on_pages(const OpenTiff& open, std::int64_t stated, FrameHeader& header) {
    header.frames = whole_pages(open.pages);
    if (header.frames < stated)
        header.remarks.push_back(truncated(header.frames, stated));
    if (!open.end.empty())
        header.remarks.push_back("its list of pages is damaged: " + open.end);
    for (std::int64_t i = 0; i < header.frames; ++i) {
        try {
            check_alike("", i, open.pages[static_cast<std::size_t>(i)].frame, header);
        } catch (const InvalidFile& other) {
            header.remarks.push_back(std::string(other.what()).substr(2));
            return; // one is enough to know
        }
    }
}

} // namespace

std::unique_ptr<FrameSource> open_tiff(const std::string& path, const std::string& detail) {
    refuse_detail(path, detail);
    auto open = std::make_unique<OpenTiff>(path);
    const TiffNotes notes = read_notes(open->tiff.get());
    find_pages(*open);
    if (open->pages.empty())
        throw InvalidFile(path, "has no page that is a picture of its own");
    const TiffPage& first = open->pages.front();
    FrameHeader header = first.frame;
    header.pixel = believable(notes.pixel, header.remarks);
    const auto found = static_cast<std::int64_t>(open->pages.size());
    if (notes.images > found) {
        go_to(*open, first, 0);
        header.frames = notes.images;
        checked_frames(path, header);
        const Bytes start = start_of_stack(open->tiff.get(), open->bytes, first, notes.images);
        if (start >= 0) {
            const bool swapped = TIFFIsByteSwapped(open->tiff.get()) != 0;
            return stored_frames(SourceFile(path), header, dense_layout(header, start, swapped));
        }
    }
    remark_on_pages(*open, std::max(found, notes.images), header);
    require_frames(path, header);
    return std::make_unique<TiffFrames>(std::move(open), std::move(header));
}

} // namespace sextant::format
