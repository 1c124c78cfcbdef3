// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_sources.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// The maximum number of bytes read at once to gather scattered samples.
constexpr Bytes gathered_bytes = Bytes{1} << 20;

/// Returns the number of bytes from the start of a frame to its end.
Bytes extent(const FrameHeader& header, const StoredLayout& layout) {
    const ImageShape shape = header.shape;
    const Elements last = (shape.height - 1) * layout.row + (shape.width - 1) * layout.column;
    return (last + header.channels) * size_of(header.sample);
}

std::int64_t whole_frames(const FrameHeader& header, const StoredLayout& layout, Bytes size) {
    const Bytes needed = extent(header, layout);
    if (layout.frame == 0) {
        const auto whole =
            std::find_if(layout.starts.begin(), layout.starts.end(),
                         [&](Bytes start) { return start < 0 || start > size - needed; });
        return std::min<std::int64_t>(header.frames, whole - layout.starts.begin());
    }
    const Bytes start = layout.starts.front();
    if (start < 0 || start > size)
        return 0;
    const Bytes room = size - start - needed;
    const Bytes step = std::max<Bytes>(1, layout.frame * size_of(header.sample));
    return room < 0 ? 0 : std::min(header.frames, room / step + 1);
}

class RowsOfFile : public FrameFile {
  public:
    RowsOfFile(SourceFile file, FrameHeader header, StoredLayout layout)
        : FrameFile(file.path(), std::move(header)),
          file_(std::move(file)),
          layout_(std::move(layout)) {}

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (!layout_.each.empty())
            check_alike(path(), frame, layout_.each[static_cast<std::size_t>(frame)], header());
        const Bytes size = size_of(header().sample);
        const Bytes start = layout_.start(frame, header().sample);
        const Elements width = header().shape.width * header().channels;
        if (layout_.column != header().channels) {
            gather(frame, start, rows, to);
        } else if (layout_.row == width) {
            read(frame, start + rows.first * layout_.row * size, to);
        } else {
            const auto row = static_cast<std::size_t>(row_bytes());
            for (std::int64_t y = rows.first; y < rows.last; ++y) {
                read(frame, start + y * layout_.row * size,
                     to.subspan(static_cast<std::size_t>(y - rows.first) * row, row));
            }
        }
        if (layout_.swapped)
            swap_bytes(header().sample, to);
        if (layout_.boolean)
            std::ranges::transform(to, to.begin(),
                                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    }

  private:
    void read(std::int64_t frame, Bytes position, std::span<std::byte> to) const {
        if (file_.read_at(position, to) < static_cast<Bytes>(to.size())) {
            throw InvalidFile(path(), fmt::format("ends inside frame {}: the file shrank while it "
                                                  "was read",
                                                  frame));
        }
    }

    /// Reads column by column, for frames whose samples are closer along columns than along rows.
    void gather(std::int64_t frame, Bytes start, Rows rows, std::span<std::byte> to) {
        const Bytes size = size_of(header().sample);
        const Bytes step = layout_.row * size;
        const std::int64_t at_once = std::max<std::int64_t>(1, gathered_bytes / step);
        for (std::int64_t x = 0; x < header().shape.width; ++x) {
            for (std::int64_t y = rows.first; y < rows.last; y += at_once) {
                const std::int64_t count = std::min(at_once, rows.last - y);
                column_.resize(static_cast<std::size_t>((count - 1) * step + size));
                read(frame, start + (y * layout_.row + x * layout_.column) * size, column_);
                for (std::int64_t i = 0; i < count; ++i) {
                    std::memcpy(to.data() + (y + i - rows.first) * row_bytes() + x * size,
                                column_.data() + i * step, static_cast<std::size_t>(size));
                }
            }
        }
    }

    SourceFile file_;
    StoredLayout layout_;
    std::vector<std::byte> column_;
};

} // namespace

StoredLayout dense_layout(const FrameHeader& header, Bytes start, bool swapped) {
    const Elements row = header.shape.width * header.channels;
    return {{start}, row * header.shape.height, row, header.channels, swapped};
}

void checked_frames(const std::string& path, const FrameHeader& header) {
    checked_shape(path, header.shape.width, header.shape.height);
    const Bytes frame = header.shape.elements() * header.channels * size_of(header.sample);
    if (header.frames < 1 || header.frames > std::numeric_limits<Bytes>::max() / 4 / frame) {
        throw InvalidFile(path, fmt::format("has {} frames of {}, expected at least one and a "
                                            "total size that does not overflow",
                                            header.frames, to_text(header.shape)));
    }
}

std::unique_ptr<FrameSource> stored_frames(SourceFile file, FrameHeader header,
                                           StoredLayout layout) {
    const std::int64_t stated = header.frames;
    header.stated_frames = std::max(header.stated_frames, stated);
    header.frames = whole_frames(header, layout, file.size());
    if (header.frames < stated)
        header.remarks.push_back(truncated(header.frames, stated));
    require_frames(file.path(), header);
    if (!layout.each.empty())
        remark_on_others(layout.each, header);
    return frames_of(
        std::make_unique<RowsOfFile>(std::move(file), std::move(header), std::move(layout)));
}

std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start) {
    ArrayHeader array{{header.frames, header.shape.height, header.shape.width}};
    array.sample = header.sample;
    return std::make_unique<FrameSink>(stored_array_sink(path, std::move(array), start), header);
}

// Arrays of any axes.

namespace {

/// Calls visit(element, offset, count) for each contiguous run of a block: its position in the
/// array and in the block, and its length, in samples.
template <class Visit>
void for_each_run(std::span<const std::int64_t> lengths, const ArrayBlock& block,
                  const Visit& visit) {
    const std::vector<Elements> steps = steps_of(lengths);
    std::size_t axes = lengths.size();
    Elements run = 1;
    while (axes > 0) { // the last axes that are whole, and a part of the one before them
        --axes;
        run *= block.count[axes];
        if (block.count[axes] != lengths[axes])
            break;
    }
    std::vector<std::int64_t> at(axes, 0);
    const Elements all = block.elements();
    for (Elements offset = 0; offset < all; offset += run) {
        Elements element = 0;
        for (std::size_t axis = 0; axis < lengths.size(); ++axis)
            element += (block.start[axis] + (axis < axes ? at[axis] : 0)) * steps[axis];
        visit(element, offset, run);
        for (std::size_t axis = axes; axis-- > 0;) {
            if (++at[axis] < block.count[axis])
                break;
            at[axis] = 0;
        }
    }
}

class StoredArray final : public ArraySource {
  public:
    StoredArray(SourceFile file, ArrayHeader header, Bytes start, bool swapped, bool boolean)
        : ArraySource(file.path(), std::move(header)),
          file_(std::move(file)),
          start_(start),
          swapped_(swapped),
          boolean_(boolean) {
        Bytes bytes = size_of(this->header().sample);
        for (const std::int64_t length : this->header().lengths)
            bytes *= length;
        if (file_.size() < start || file_.size() - start < bytes)
            throw InvalidFile(path(), fmt::format("is truncated: it has {} bytes, expected {}",
                                                  file_.size(), start + bytes));
    }

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const Bytes size = size_of(header().sample);
        for_each_run(header().lengths, block, [&](Elements element, Elements offset, Elements run) {
            const auto part = to.subspan(static_cast<std::size_t>(offset * size),
                                         static_cast<std::size_t>(run * size));
            if (file_.read_at(start_ + element * size, part) < std::ssize(part))
                throw InvalidFile(path(), "shrank while it was read");
        });
        if (swapped_)
            swap_bytes(header().sample, to);
        if (boolean_)
            std::ranges::transform(to, to.begin(),
                                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    }

    SourceFile file_;
    Bytes start_;
    bool swapped_, boolean_;
};

/// Frames at the end that are not complete are left out, with a remark; only those of a series of
/// images, as where frames are read.
ArrayHeader whole_frames(ArrayHeader header, Bytes stored) {
    if (header.lengths.size() != 3)
        return header;
    std::int64_t& frames = header.lengths.front();
    const Bytes frame = size_of(header.sample) * header.lengths[1] * header.lengths[2];
    const std::int64_t whole = frame > 0 ? stored / frame : 0;
    if (whole > 0 && whole < frames) {
        header.remarks.push_back(truncated(whole, frames));
        frames = whole;
    }
    return header;
}

ArrayHeader stored_header(ArrayHeader header) {
    header.chunk.clear();
    header.fill.clear();
    return header;
}

class StoredArraySink final : public ArraySink {
  public:
    StoredArraySink(const std::string& path, ArrayHeader header, std::span<const std::byte> start)
        : ArraySink(path, stored_header(std::move(header))),
          file_(path),
          start_(std::ssize(start)) {
        file_.write(start);
        written_ = start_;
    }

    void commit() override {
        Bytes end = start_ + size_of(header().sample);
        for (std::size_t axis = 0; axis < header().lengths.size(); ++axis)
            end += (header().lengths[axis] - 1) * steps_of(header().lengths)[axis] *
                   size_of(header().sample);
        if (written_ < end) {
            file_.seek(end - 1);
            file_.write(std::array{std::byte{0}});
        }
        file_.commit();
    }

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        const Bytes size = size_of(header().sample);
        for_each_run(header().lengths, block, [&](Elements element, Elements offset, Elements run) {
            const Bytes at = start_ + element * size;
            if (at != file_.position())
                file_.seek(at);
            file_.write(from.subspan(static_cast<std::size_t>(offset * size),
                                     static_cast<std::size_t>(run * size)));
            written_ = std::max(written_, at + run * size);
        });
    }

    AtomicFile file_;
    Bytes start_;
    Bytes written_ = 0; ///< the end of the last byte written
};

} // namespace

std::unique_ptr<ArraySource> stored_array(SourceFile file, ArrayHeader header, Bytes start,
                                          bool swapped, bool boolean) {
    header = whole_frames(std::move(header), file.size() - start);
    return std::make_unique<StoredArray>(std::move(file), std::move(header), start, swapped,
                                         boolean);
}

std::unique_ptr<ArraySink> stored_array_sink(const std::string& path, ArrayHeader header,
                                             std::span<const std::byte> start) {
    return std::make_unique<StoredArraySink>(path, std::move(header), start);
}

} // namespace sextant::format
