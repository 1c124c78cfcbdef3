// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/frame_source.hpp"

#include "sextant/array/sample.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sextant {

Seconds frame_interval_of(const FrameHeader& series, std::span<const std::int64_t> frames) {
    if (frames.size() < 2)
        return 0;
    const std::int64_t step = frames[1] - frames[0];
    const auto uneven = [step](std::int64_t a, std::int64_t b) { return b - a != step; };
    const bool even =
        std::adjacent_find(frames.begin(), frames.end(), uneven) == frames.end() && step > 0;
    return even ? static_cast<double>(step) * series.frame_interval : 0;
}

std::vector<std::int64_t> FrameAxes::position_of(std::int64_t frame,
                                                 std::span<const std::int64_t> lengths) const {
    std::vector<std::int64_t> position = fixed;
    for (std::size_t i = frames.size(); i-- > 0;) {
        position[frames[i]] = frame % lengths[frames[i]];
        frame /= lengths[frames[i]];
    }
    return position;
}

std::int64_t FrameAxes::frame_of(std::span<const std::int64_t> position,
                                 std::span<const std::int64_t> lengths) const {
    std::int64_t frame = 0;
    for (const std::size_t axis : frames)
        frame = frame * lengths[axis] + position[axis];
    return frame;
}

ArrayHeader array_header_of(const FrameHeader& frames, std::vector<std::int64_t> lengths) {
    ArrayHeader header;
    const ImageShape shape = frames.shape;
    header.lengths = {frames.frames, shape.height, shape.width};
    header.names = {"t", "y", "x"};
    const ArrayAxes& axes = frames.axes;
    std::vector<std::int64_t> own = axes.lengths;
    if (own.size() == 3)
        own.front() = frames.frames; // fewer if the series is truncated
    const std::size_t leading = own.size() < 2 ? 0 : own.size() - 2;
    std::int64_t stated = 1;
    for (std::size_t axis = 0; axis < leading; ++axis)
        stated *= own[axis];
    if (own.size() >= 2 && stated == frames.frames && own[leading] == shape.height &&
        own[leading + 1] == shape.width) {
        header.lengths = std::move(own);
        header.names = axes.labels;
        if (!axes.names.empty())
            header.names.clear();
        for (const char letter : axes.names)
            header.names.emplace_back(
                1, static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
    }
    if (!lengths.empty() && lengths != header.lengths) {
        header.lengths = std::move(lengths);
        header.names.clear();
    }
    header.sample = frames.sample;
    header.channels = frames.channels;
    header.pixel = frames.pixel;
    header.slice_distance = frames.slice_distance;
    header.frame_interval = frames.frame_interval;
    header.remarks = frames.remarks;
    header.chunk.assign(header.lengths.size(), 1);
    if (header.lengths.size() == 3)
        header.chunk.front() = frames.frames_per_chunk;
    return header;
}

FrameAxes frame_axes_of(const ArrayHeader& header) {
    FrameAxes axes{{}, std::vector<std::int64_t>(header.lengths.size(), 0)};
    for (std::size_t axis = 0; axis + 2 < header.lengths.size(); ++axis)
        axes.frames.push_back(axis);
    return axes;
}

namespace {

/// An array that reads its samples through the functions of a FrameReading.
class ArrayOfFrames final : public ArraySource {
  public:
    ArrayOfFrames(std::string path, ArrayHeader header, FrameReading reading)
        : ArraySource(std::move(path), std::move(header), Checked()),
          axes_(frame_axes_of(this->header())),
          reading_(std::move(reading)) {}

    ScratchPlace share() override { return reading_.share ? reading_.share() : ScratchPlace(); }
    const FrameReading& reading() const { return reading_; }

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const std::size_t columns = block.start.size() - 1, rows = columns - 1;
        const Rows wanted{block.start[rows], block.start[rows] + block.count[rows]};
        const bool whole_rows = block.count[columns] == header().lengths[columns];
        const Elements plane = wanted.count() * block.count[columns];
        const Bytes size = header().element_bytes();
        for_each_part(block, plane, [&](const ArrayBlock& part, Elements offset) {
            const std::int64_t frame = axes_.frame_of(part.start, header().lengths);
            const auto rows_of_frame = to.subspan(static_cast<std::size_t>(offset * size),
                                                  static_cast<std::size_t>(plane * size));
            if (whole_rows)
                reading_.rows(frame, wanted, rows_of_frame);
            else
                load_columns(frame, wanted, block, rows_of_frame);
        });
    }

    void load_columns(std::int64_t frame, Rows rows, const ArrayBlock& block,
                      std::span<std::byte> to) {
        const Bytes size = header().element_bytes();
        const std::int64_t width = header().lengths.back();
        rows_.resize(static_cast<std::size_t>(rows.count() * width * size));
        reading_.rows(frame, rows, rows_);
        const std::array count{rows.count(), block.count.back()};
        copy_block(count, size, rows_.data() + block.start.back() * size,
                   std::array<Elements, 2>{width, 1}, to.data(), steps_of(count));
    }

    FrameAxes axes_;
    FrameReading reading_;
    std::vector<std::byte> rows_; ///< whole rows, from which load_columns() copies some columns
};

} // namespace

std::unique_ptr<ArraySource> array_of_frames(std::string path, const FrameHeader& header,
                                             FrameReading reading) {
    return std::make_unique<ArrayOfFrames>(std::move(path), array_header_of(header),
                                           std::move(reading));
}

FrameSource::FrameSource(std::unique_ptr<ArraySource> array, FrameHeader header, FrameAxes axes)
    : array_(std::move(array)),
      header_(std::move(header)),
      axes_(std::move(axes)),
      block_{axes_.fixed, std::vector<std::int64_t>(axes_.fixed.size(), 1)} {
    const std::size_t count = array_->header().lengths.size();
    if (count < 2 || axes_.fixed.size() != count)
        throw std::logic_error("the axes of the frames do not match those of the array");
    block_.start[count - 1] = 0;
    block_.count[count - 1] = header_.shape.width;
}

FrameSource::FrameSource(std::string path, FrameHeader header, FrameReading reading)
    : array_(array_of_frames(std::move(path), header, std::move(reading))),
      reading_(&static_cast<const ArrayOfFrames&>(*array_).reading()),
      header_(std::move(header)),
      axes_(frame_axes_of(array_->header())),
      block_{axes_.fixed, std::vector<std::int64_t>(axes_.fixed.size(), 1)} {
    block_.count.back() = header_.shape.width;
}

void FrameSource::check(std::int64_t frame, Rows rows, std::size_t given, Bytes expected) const {
    if (frame < 0 || frame >= header_.frames || rows.first < 0 || rows.first > rows.last ||
        rows.last > header_.shape.height) {
        throw std::logic_error("attempt to read rows or frames that the source does not have");
    }
    if (static_cast<Bytes>(given) != expected)
        throw std::logic_error("the size of the buffer differs from that of the rows to read");
}

/// Reads the same rows of consecutive frames.
void FrameSource::load(std::int64_t frame, std::int64_t frames, Rows rows,
                       std::span<std::byte> to) {
    const std::vector<std::int64_t>& lengths = array_->header().lengths;
    const std::size_t row_axis = lengths.size() - 2;
    // Reads a single frame directly: setting up a block takes longer than copying a small row.
    if (frames == 1 && reading_)
        return reading_->rows(frame, rows, to);
    block_.start[row_axis] = rows.first;
    block_.count[row_axis] = rows.count();
    while (frames > 0) {
        // The largest block: a range of positions along one axis, and all positions along the
        // faster axes.
        std::int64_t together = 1, rest = frame;
        bool faster_are_whole = true;
        for (std::size_t i = axes_.frames.size(); i-- > 0;) {
            const std::size_t axis = axes_.frames[i];
            const std::int64_t at = rest % lengths[axis];
            rest /= lengths[axis];
            block_.start[axis] = at;
            block_.count[axis] =
                faster_are_whole ? std::min(lengths[axis] - at, frames / together) : 1;
            together *= block_.count[axis];
            faster_are_whole = faster_are_whole && block_.count[axis] == lengths[axis];
        }
        const std::size_t bytes =
            to.size() / static_cast<std::size_t>(frames) * static_cast<std::size_t>(together);
        array_->read(block_, to.first(bytes));
        to = to.subspan(bytes);
        frame += together;
        frames -= together;
    }
}

void FrameSource::read_samples(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    check(frame, rows, to.size(), rows.count() * row_bytes());
    if (rows.count() > 0)
        load(frame, 1, rows, to);
}

void FrameSource::read_frames(std::int64_t first, std::int64_t count, std::span<std::byte> to) {
    const Rows rows{0, header_.shape.height};
    if (first < 0 || count < 0 || first > header_.frames - count ||
        static_cast<Bytes>(to.size()) != count * rows.count() * row_bytes())
        throw std::logic_error("attempt to read frames that the source does not have");
    if (count > 0)
        load(first, count, rows, to);
}

void FrameSource::to_grey(std::span<const float> pixels, std::span<float> to) const {
    const auto channels = static_cast<std::size_t>(header_.channels);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const float* pixel = pixels.data() + i * channels;
        to[i] = channels < 3 ? pixel[0] : luminance(pixel[0], pixel[1], pixel[2]);
    }
}

void FrameSource::read_rows(std::int64_t frame, Rows rows, std::span<float> to) {
    check(frame, rows, to.size(), rows.count() * header_.shape.width);
    const auto width = static_cast<std::size_t>(header_.shape.width);
    const bool is_grey = header_.channels == 1;
    if (is_grey && header_.sample == Sample::f32)
        return load(frame, 1, rows, std::as_writable_bytes(to));
    const std::int64_t step = std::max<std::int64_t>(1, converted_bytes / header_.row_bytes());
    for (std::int64_t first = rows.first; first < rows.last; first += step) {
        const Rows some{first, std::min(first + step, rows.last)};
        const auto count = static_cast<std::size_t>(some.count());
        const auto grey =
            to.subspan(static_cast<std::size_t>(first - rows.first) * width, count * width);
        stored_.resize(count * static_cast<std::size_t>(row_bytes()));
        load(frame, 1, some, stored_);
        if (!is_grey)
            wide_.resize(grey.size() * static_cast<std::size_t>(header_.channels));
        const std::span<float> floats = is_grey ? grey : wide_;
        to_floats(header_.sample, stored_, floats);
        if (header_.sample == Sample::f64)
            check_range(stored_, floats, 1, !is_grey, path(), frame);
        if (!is_grey)
            to_grey(wide_, grey);
    }
}

void FrameSource::read_frame(std::int64_t frame, std::span<float> to) {
    read_rows(frame, {0, header_.shape.height}, to);
}

namespace {

/// An array sink that writes its planes to a FrameSink.
class SinkOfFrames final : public ArraySink {
  public:
    SinkOfFrames(std::string path, ArrayHeader header, FrameWriting writing)
        : ArraySink(std::move(path), std::move(header), Checked()), writing_(std::move(writing)) {}

    bool in_order() const override { return true; }
    void commit() override {
        ArrayBlock all{std::vector<std::int64_t>(header().lengths.size(), 0), header().lengths};
        all.count.back() = 1;
        if (frame_ * height() + row_ != all.elements())
            throw std::logic_error("a sink was committed before all its frames were written");
        writing_.finish();
    }

  private:
    std::int64_t height() const { return header().lengths[header().lengths.size() - 2]; }

    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        const std::size_t columns = block.start.size() - 1;
        if (block.count[columns] != header().lengths[columns] ||
            frame_axes_of(header()).frame_of(block.start, header().lengths) != frame_ ||
            block.start[columns - 1] != row_)
            throw std::logic_error(
                "a block must consist of whole rows and continue the previous block");
        const std::int64_t rows = block.count[columns - 1];
        const auto bytes =
            static_cast<std::size_t>(rows * header().lengths[columns] * header().element_bytes());
        for (; !from.empty(); from = from.subspan(bytes)) {
            writing_.rows(frame_, {row_, row_ + rows}, from.first(bytes));
            row_ += rows;
            if (row_ == height()) {
                row_ = 0;
                ++frame_;
            }
        }
    }

    FrameWriting writing_;
    std::int64_t frame_ = 0, row_ = 0; ///< the next row to be written
};

std::unique_ptr<ArraySink> sink_of_frames(std::string path, const FrameHeader& header,
                                          FrameWriting writing) {
    ArrayHeader array{{header.frames, header.shape.height, header.shape.width}};
    array.sample = header.sample;
    return std::make_unique<SinkOfFrames>(std::move(path), std::move(array), std::move(writing));
}

} // namespace

FrameSink::FrameSink(std::string path, FrameHeader header, FrameWriting writing)
    : FrameSink(sink_of_frames(std::move(path), header, std::move(writing)), header) {}

FrameSink::FrameSink(std::unique_ptr<ArraySink> array, FrameHeader header, std::int64_t first,
                     TakeRows also)
    : header_(std::move(header)), array_(std::move(array)), also_(std::move(also)), first_(first) {
    const ArrayHeader& all = array_->header();
    const std::size_t axes = all.lengths.size();
    if (header_.channels != 1 || axes < 2 || axes > 3)
        throw std::logic_error("a sink accepts only grey frames along a single axis");
    block_ = {std::vector<std::int64_t>(axes, 0), std::vector<std::int64_t>(axes, 1)};
    block_.count.back() = header_.shape.width;
    chunk_frames_ = axes == 3 ? all.chunk.front() : 1;
    chunk_rows_ = all.chunk[axes - 2];
}

std::unique_ptr<ArraySink> array_of(std::unique_ptr<FrameSink> frames, ArrayHeader header) {
    header.chunk.clear();
    header.fill.clear();
    const std::shared_ptr<FrameSink> shared = std::move(frames);
    return std::make_unique<SinkOfFrames>(
        shared->path(), std::move(header),
        FrameWriting{[shared](std::int64_t, Rows, std::span<const std::byte> samples) {
                         shared->write_samples(samples);
                     },
                     [shared] { shared->commit(); }});
}

/// Returns the number of rows in a buffer of size `given`. `row` is the size of a row in the same
/// unit, samples or bytes. Throws std::logic_error for partial rows and for more rows than remain.
std::int64_t FrameSink::checked_rows(std::size_t given, std::size_t row) const {
    const auto count = static_cast<std::int64_t>(given / row);
    if (given % row != 0 || frame_ >= header_.frames || row_ + count > header_.shape.height)
        throw std::logic_error("attempt to write incomplete rows, or rows beyond the last frame");
    return count;
}

/// Writes the same rows of consecutive frames of the array.
void FrameSink::put(std::int64_t frame, std::int64_t frames, Rows rows,
                    std::span<const std::byte> samples) {
    const std::size_t row_axis = block_.start.size() - 2;
    if (row_axis > 0) {
        block_.start[0] = frame;
        block_.count[0] = frames;
    }
    block_.start[row_axis] = rows.first;
    block_.count[row_axis] = rows.count();
    array_->write(block_, samples);
}

/// Writes the rows that complete chunks, and holds the other rows.
void FrameSink::append_rows(std::int64_t count, std::span<const std::byte> samples) {
    if (also_)
        also_(frame_, {row_, row_ + count}, samples);
    const std::int64_t height = header_.shape.height, frame = first_ + frame_;
    const Bytes row_bytes = header_.row_bytes();
    // The frames that share chunks with this frame.
    const std::int64_t layer = frame / chunk_frames_ * chunk_frames_;
    const std::int64_t all = block_.start.size() == 3 ? array_->header().lengths.front() : 1;
    const std::int64_t frames = std::min(chunk_frames_, all - layer);
    while (count > 0) {
        const std::int64_t first = row_ / chunk_rows_ * chunk_rows_;
        const std::int64_t last = std::min(first + chunk_rows_, height);
        std::int64_t end = std::min(row_ + count, last);
        const bool at_once = frames == 1 && row_ == first && end == last;
        if (at_once && row_ + count < height)
            end = (row_ + count) / chunk_rows_ * chunk_rows_; // further complete chunks below
        else if (at_once)
            end = height;
        const auto part = samples.first(static_cast<std::size_t>((end - row_) * row_bytes));
        if (at_once) {
            put(frame, 1, {row_, end}, part);
        } else {
            held_.resize(static_cast<std::size_t>(
                (chunk_frames_ > 1 ? chunk_frames_ * height : chunk_rows_) * row_bytes));
            // The held rows of one row of chunks, frame by frame.
            const auto chunks = std::span(held_).subspan(
                static_cast<std::size_t>(chunk_frames_ > 1 ? frames * first * row_bytes : 0),
                static_cast<std::size_t>(frames * (last - first) * row_bytes));
            std::memcpy(chunks.data() +
                            ((frame - layer) * (last - first) + row_ - first) * row_bytes,
                        part.data(), part.size());
            if (end == last && frame == layer + frames - 1)
                put(layer, frames, {first, last}, chunks);
        }
        samples = samples.subspan(part.size());
        count -= end - row_;
        row_ = end;
    }
    if (row_ == height) {
        row_ = 0;
        ++frame_;
    }
}

void FrameSink::write(std::span<const float> rows) {
    const auto width = static_cast<std::size_t>(header_.shape.width);
    const std::int64_t count = checked_rows(rows.size(), width);
    if (header_.sample == Sample::f32 && count > 0)
        return append_rows(count, std::as_bytes(rows));
    const std::int64_t step = std::max<std::int64_t>(1, converted_bytes / header_.row_bytes());
    for (std::int64_t done = 0; done < count; done += step) {
        const std::int64_t some = std::min(step, count - done);
        stored_.resize(static_cast<std::size_t>(some * header_.row_bytes()));
        from_floats(header_.sample,
                    rows.subspan(static_cast<std::size_t>(done) * width,
                                 static_cast<std::size_t>(some) * width),
                    stored_);
        append_rows(some, stored_);
    }
}

void FrameSink::write_samples(std::span<const std::byte> rows) {
    const std::int64_t count =
        checked_rows(rows.size(), static_cast<std::size_t>(header_.row_bytes()));
    if (count > 0)
        append_rows(count, rows);
}

void FrameSink::commit() {
    if (frame_ != header_.frames)
        throw std::logic_error("a sink was committed before all its frames were written");
    array_->commit();
}

} // namespace sextant
