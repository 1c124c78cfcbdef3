// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"
#include "sextant/format/tiff/hyperstack.hpp"
#include "sextant/format/tiff/layout.hpp"
#include "sextant/format/tiff/page.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// An open file: its bytes, libtiff's handle and its pages. Must not be moved, because libtiff
/// keeps a pointer to this object.
struct OpenTiff {
    explicit OpenTiff(const std::string& path)
        : file(path),
          bytes{path, file.size(), 0,
                [this](Bytes position, std::span<std::byte> to) {
                    return file.read_at(position, to);
                }},
          tiff(open_tiff_library(bytes, "rm")) {}

    SourceFile file;
    TiffBytes bytes;
    Tiff tiff;
    std::vector<TiffPage> pages;
    std::string end; ///< reason why the list of pages ends early; "" if it is complete
};

/// Reads the directories of all pages except thumbnails and masks. Sets `open.end` if the list of
/// pages is damaged.
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
            open.pages.push_back({}); // placeholder that is unlike any frame
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
    // libtiff resets this setting with every page.
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}

class TiffFrames : public FrameFile {
  public:
    /// Reads `header.channels` samples of each pixel, starting at index `sample`.
    TiffFrames(std::unique_ptr<OpenTiff> open, FrameHeader header, int sample)
        : FrameFile(open->file.path(), std::move(header)),
          open_(std::move(open)),
          sample_(sample) {}

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        const TiffPage& page = open_->pages[static_cast<std::size_t>(frame)];
        check_alike(path(), frame, page.frame, header());
        go_to(*open_, page, frame);
        open_->bytes.complaint.clear();
        if (page.tile.width > 0)
            load_tiles(frame, page, rows, to);
        else
            load_strips(frame, page, rows, to);
        if (page.inverted && integers())
            std::transform(to.begin(), to.end(), to.begin(), [](std::byte b) { return ~b; });
    }

  private:
    bool integers() const {
        return visit_sample(header().sample, [](auto type) {
            return std::is_integral_v<typename decltype(type)::type>;
        });
    }

    /// The number of planes to read one after another.
    int planes(const TiffPage& page) const { return page.planes ? header().channels : 1; }
    /// The number of samples per pixel that are stored interleaved.
    int together(const TiffPage& page) const { return page.planes ? 1 : page.samples; }

    /// Copies the samples of a plane, or the selected interleaved samples, into pixels.
    void place(const std::byte* from, std::byte* to, std::int64_t pixels, const TiffPage& page,
               int plane) const {
        const auto size = static_cast<std::size_t>(size_of(header().sample));
        const auto channels = static_cast<std::size_t>(header().channels);
        const auto count = static_cast<std::size_t>(pixels);
        if (!page.planes && page.samples == header().channels) {
            std::memcpy(to, from, count * channels * size);
            return;
        }
        const std::size_t step = static_cast<std::size_t>(together(page)) * size;
        const std::size_t copied = page.planes ? size : channels * size;
        from += page.planes ? 0 : static_cast<std::size_t>(sample_) * size;
        to += static_cast<std::size_t>(plane) * size;
        for (std::size_t x = 0; x < count; ++x)
            std::memcpy(to + x * channels * size, from + x * step, copied);
    }

    void load_strips(std::int64_t frame, const TiffPage& page, Rows rows, std::span<std::byte> to) {
        TIFF* const tiff = open_->tiff.get();
        const Bytes line = header().shape.width * together(page) * size_of(header().sample);
        if (static_cast<Bytes>(TIFFScanlineSize64(tiff)) != line)
            fail_tiff(open_->bytes, fmt::format("the rows of frame {} do not have the length that "
                                                "the width of the frame requires",
                                                frame));
        line_.resize(static_cast<std::size_t>(line));
        for (int plane = 0; plane < planes(page); ++plane) {
            std::byte* row = to.data();
            for (std::int64_t y = rows.first; y < rows.last; ++y, row += row_bytes()) {
                read_line({frame, sample_ + plane, y}, page);
                place(line_.data(), row, header().shape.width, page, plane);
            }
        }
    }

    /// A row of one plane of a frame.
    struct Line {
        std::int64_t frame = -1;
        int plane = 0;
        std::int64_t row = 0;
        bool operator==(const Line&) const = default;
    };

    /// Reads a row of a strip. Codecs decode a strip sequentially, so skipped rows are decoded,
    /// too.
    void read_line(const Line& wanted, const TiffPage& page) {
        const bool goes_on = !page.compressed || wanted == next_;
        std::int64_t y = goes_on ? wanted.row : wanted.row / page.strip * page.strip;
        next_ = {}; // invalid until the row is decoded
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

    /// Reads the row of tiles whose first image row is `first`.
    void read_band(std::int64_t frame, const TiffPage& page, std::int64_t first) {
        band_frame_ = -1; // invalid until the band is complete
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
        const Bytes line = page.tile.width * together(page) * size_of(header().sample);
        if (static_cast<Bytes>(TIFFTileSize64(tiff)) != line * page.tile.height)
            fail_tiff(open_->bytes, fmt::format("the tiles of frame {} do not have the size that "
                                                "their width and height require",
                                                frame));
        tile_.resize(static_cast<std::size_t>(line * page.tile.height));
        if (TIFFReadTile(tiff, tile_.data(), static_cast<std::uint32_t>(x),
                         static_cast<std::uint32_t>(y), 0,
                         static_cast<std::uint16_t>(sample_ + plane)) < 0) {
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
    int sample_; ///< index of the first sample of each pixel that is read
    std::vector<std::byte> line_, tile_;
    std::vector<std::byte> band_; ///< the row of tiles of the last read
    std::int64_t band_frame_ = -1, band_row_ = 0;
    Line next_; ///< the line that the codec decodes next
};

/// Returns the number of pages before the first incomplete one.
std::int64_t whole_pages(const std::vector<TiffPage>& pages) {
    const auto broken = std::find_if(pages.begin(), pages.end(), [](const TiffPage& page) {
        return page.frame.shape.elements() > 0 && !page.whole;
    });
    return broken - pages.begin();
}

std::unique_ptr<FrameSource> open_pages(std::unique_ptr<OpenTiff> open, FrameHeader header,
                                        const PlaneChoice& choice) {
    const std::string& path = open->file.path();
    const std::int64_t stated = header.frames;
    header.frames = whole_pages(open->pages);
    if (header.frames < stated)
        header.remarks.push_back(truncated(header.frames, stated));
    if (!open->end.empty())
        header.remarks.push_back("the list of pages is damaged: " + open->end);
    require_frames(path, header);
    open->pages.resize(static_cast<std::size_t>(header.frames));
    const bool stored =
        std::all_of(open->pages.begin(), open->pages.end(), [](const TiffPage& page) {
            return page.start >= 0 || page.frame.shape.elements() == 0;
        });
    std::vector<FrameHeader> each;
    std::vector<Bytes> starts;
    for (const TiffPage& page : open->pages) {
        const bool alike = page.frame.shape == header.shape && page.frame.sample == header.sample &&
                           page.frame.channels == header.channels;
        each.push_back(page.frame);
        starts.push_back(alike ? page.start : 0); // other pages cause an error when they are read
    }
    if (stored)
        return stored_pages(SourceFile(path), std::move(header), std::move(starts), std::move(each),
                            TIFFIsByteSwapped(open->tiff.get()) != 0);
    remark_on_others(each, header);
    return frames_of(
        std::make_unique<TiffFrames>(std::move(open), std::move(header), choice.sample));
}

/// Opens an ImageJ stack, in which all images follow a single page. Null if the file has another
/// layout.
std::unique_ptr<FrameSource> open_stack(OpenTiff& open, FrameHeader header,
                                        const PlaneChoice& choice, std::int64_t images) {
    const TiffPage& first = open.pages.front();
    go_to(open, first, 0);
    FrameHeader whole = header;
    whole.frames = images;
    checked_frames(open.file.path(), whole);
    const Bytes start = start_of_stack(open.tiff.get(), open.bytes, first, images);
    if (start < 0)
        return nullptr;
    const bool swapped = TIFFIsByteSwapped(open.tiff.get()) != 0;
    StoredLayout layout{start, swapped, false, choice.array.lengths, {}, choice.axes};
    const PageAxes& pages = choice.pages;
    const PlanePosition steps{pages.channels.step, pages.slices.step, pages.frames.step};
    for (std::size_t axis = 0; axis < choice.array.row_axis; ++axis)
        layout.steps.push_back(choice.position_on(axis, steps) * header.shape.elements());
    layout.steps.insert(layout.steps.end(), {header.shape.width, 1});
    return stored_frames(SourceFile(open.file.path()), std::move(header), std::move(layout));
}

} // namespace

std::unique_ptr<FrameSource> open_tiff(const std::string& path, const SourceOptions& options) {
    auto open = std::make_unique<OpenTiff>(path);
    find_pages(*open);
    if (open->pages.empty())
        throw InvalidFile(path, "has no page that is a full image");
    const TiffPage first = open->pages.front();
    go_to(*open, first, 0);
    const auto found = static_cast<std::int64_t>(open->pages.size());
    TiffNotes notes = read_notes(open->tiff.get(), path, found, first.samples);
    FrameHeader header = first.frame;
    header.remarks = std::move(notes.remarks);
    header.pixel = believable(notes.pixel, header.remarks);
    header.frame_interval = notes.frame_interval;
    const PlaneChoice choice = choose_planes(path, notes, first, found, options, header);
    if (std::ranges::any_of(choice.axes.frames,
                            [&](std::size_t axis) { return choice.array.names[axis] == 'z'; }))
        header.slice_distance = believable_distance(notes.slice_distance, header.pixel);
    if (first.unread > 0) {
        header.remarks.emplace_back(
            "the fourth sample of each pixel is ignored because the file does "
            "not state its meaning");
    }
    if (notes.images > found) {
        if (auto stack = open_stack(*open, header, choice, notes.images))
            return stack;
    }
    keep_frames(open->pages, notes, choice, header);
    return open_pages(std::move(open), std::move(header), choice);
}

namespace {

class TiffSink : public FrameFile {
  public:
    TiffSink(const std::string& path, const FrameHeader& header, const SinkOptions& options)
        : FrameFile(path, header), layout_(header, options), file_(path) {
        file_.write(layout_.start());
    }

    void append(std::int64_t, Rows, std::span<const std::byte> samples) { file_.write(samples); }

    void finish() {
        constexpr std::array<std::byte, 8> zeros{};
        file_.write(std::span(zeros).first(static_cast<std::size_t>(layout_.padding())));
        for (std::int64_t frame = 1; frame < layout_.directories(); ++frame)
            file_.write(layout_.directory(frame));
        file_.commit();
    }

  private:
    TiffLayout layout_;
    AtomicFile file_;
};

} // namespace

bool tiff_keeps_pixel(const FrameHeader& header, const SinkOptions& options) {
    SinkOptions without_labels = options;
    without_labels.labels.clear();
    return TiffLayout(header, without_labels).keeps_pixel();
}

std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    if (std::max(header.shape.width, header.shape.height) > longest) {
        throw InvalidFile(path,
                          fmt::format("cannot hold frames of {}, expected sides of at most {}",
                                      to_text(header.shape), longest));
    }
    return sink_of(std::make_unique<TiffSink>(path, header, options));
}

} // namespace sextant::format
