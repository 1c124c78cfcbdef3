// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_sources.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

void correct_samples(Sample sample, bool swapped, bool boolean, std::span<std::byte> samples) {
    if (swapped)
        swap_bytes(sample, samples);
    if (boolean)
        std::ranges::transform(samples, samples.begin(),
                               [](std::byte b) { return std::byte{b != std::byte{0}}; });
}

namespace {

/// The maximum number of bytes read at once to gather single pixels.
constexpr Bytes gathered_bytes = Bytes{1} << 20;

StoredBytes bytes_of(SourceFile opened) {
    const auto file = std::make_shared<const SourceFile>(std::move(opened));
    return {file->path(), [file](Bytes position, std::span<std::byte> to) {
                const Bytes got = file->read_at(position, to);
                if (got < std::ssize(to))
                    throw InvalidFile(file->path(),
                                      fmt::format("ends after {} bytes, before its last samples: "
                                                  "the file shrank while it was read",
                                                  position + got));
            }};
}

/// Returns the number of pixels in a run: part of a block that is contiguous in the file, too.
Elements run_of(const ArrayBlock& block, std::span<const Elements> steps) {
    Elements run = 1;
    for (std::size_t axis = steps.size();
         axis > 0 && (block.count[axis - 1] == 1 || steps[axis - 1] == run);)
        run *= block.count[--axis];
    return run;
}

class StoredArray final : public ArraySource {
  public:
    StoredArray(StoredBytes bytes, ArrayHeader header, StoredLayout layout)
        : ArraySource(bytes.path, std::move(header), Checked()),
          bytes_(std::move(bytes)),
          layout_(std::move(layout)) {}

    ScratchPlace share() override { return bytes_.share ? bytes_.share() : ScratchPlace(); }

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const Bytes size = header().element_bytes();
        const Elements run = run_of(block, layout_.steps);
        if (run == 1 && block.elements() > 1)
            load_lines(block, to);
        else
            for_each_part(block, run, [&](const ArrayBlock& part, Elements offset) {
                bytes_.read(layout_.start + index_of(part.start, layout_.steps) * size,
                            to.subspan(static_cast<std::size_t>(offset * size),
                                       static_cast<std::size_t>(run * size)));
            });
        correct_samples(header().sample, layout_.swapped, layout_.boolean, to);
    }

    /// Gathers single pixels along the axis with the smallest step.
    void load_lines(const ArrayBlock& block, std::span<std::byte> to) {
        std::optional<std::size_t> line;
        for (std::size_t axis = 0; axis < block.count.size(); ++axis) {
            if (block.count[axis] > 1 && (!line || layout_.steps[axis] < layout_.steps[*line]))
                line = axis;
        }
        ArrayBlock starts = block;
        starts.count[*line] = 1;
        const std::vector<Elements> steps = steps_of(block.count);
        const Elements first = index_of(block.start, steps);
        for_each_part(starts, 1, [&](const ArrayBlock& start, Elements) {
            const Elements offset = index_of(start.start, steps) - first;
            gather(index_of(start.start, layout_.steps), block.count[*line], *line,
                   steps[*line] * header().element_bytes(),
                   to.subspan(static_cast<std::size_t>(offset * header().element_bytes())));
        });
    }

    /// Reads `count` pixels along an axis with gaps between the pixels.
    void gather(Elements pixel, std::int64_t count, std::size_t axis, Bytes to_step,
                std::span<std::byte> to) {
        const Bytes size = header().element_bytes(), step = layout_.steps[axis] * size;
        const std::int64_t most = std::max<std::int64_t>(1, gathered_bytes / step);
        for (std::int64_t done = 0; done < count; done += most) {
            const std::int64_t some = std::min(most, count - done);
            gathered_.resize(static_cast<std::size_t>((some - 1) * step + size));
            bytes_.read(layout_.start + pixel * size + done * step, gathered_);
            for (std::int64_t i = 0; i < some; ++i)
                std::memcpy(to.data() + (done + i) * to_step, gathered_.data() + i * step,
                            static_cast<std::size_t>(size));
        }
    }

    StoredBytes bytes_;
    StoredLayout layout_;
    std::vector<std::byte> gathered_;
};

/// Returns the header of the array that is read as frames, and completes the layout.
ArrayHeader stored_header(const FrameHeader& frames, StoredLayout& layout) {
    std::vector<std::int64_t> lengths = layout.lengths;
    if (lengths.size() == 3 && !layout.axes.frames.empty() && layout.axes.frames.front() == 0)
        lengths.front() = frames.frames; // fewer if the file is truncated
    ArrayHeader header = array_header_of(frames, std::move(lengths));
    if (layout.lengths.empty()) {
        layout.steps = steps_of(header.lengths);
        layout.axes = frame_axes_of(header);
    }
    return header;
}

/// Returns the number of frames before the first one that ends beyond `size` bytes, by bisection.
std::int64_t complete_frames(const FrameHeader& header, const StoredLayout& layout, Bytes size) {
    std::int64_t complete = 0, others = header.frames; // frames from `others` on are incomplete
    while (complete < others) {
        const std::int64_t middle = complete + (others - complete) / 2;
        if (end_of_frame(header, layout, middle) <= size)
            complete = middle + 1;
        else
            others = middle;
    }
    return complete;
}

/// Removes incomplete frames from the header, with a remark.
void leave_out(const std::string& path, std::int64_t complete, FrameHeader& header) {
    header.stated_frames = std::max(header.stated_frames, header.frames);
    if (complete < header.frames)
        header.remarks.push_back(truncated(complete, header.frames));
    header.frames = complete;
    require_frames(path, header);
}

} // namespace

std::vector<Elements> stored_steps(const std::string& path, std::span<const std::int64_t> lengths,
                                   Sample sample, bool fortran) {
    std::vector<Elements> steps(lengths.size());
    constexpr Bytes most = Bytes{1} << 60;
    Elements step = 1;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::size_t axis = fortran ? i : lengths.size() - 1 - i;
        steps[axis] = step;
        if (lengths[axis] > most / step / size_of(sample))
            throw InvalidFile(
                path, fmt::format("has axes whose product exceeds {} bytes: damaged", most));
        step *= lengths[axis];
    }
    return steps;
}

Bytes end_of_frame(const FrameHeader& header, const StoredLayout& layout, std::int64_t frame) {
    const Bytes pixel = header.channels * size_of(header.sample);
    if (layout.lengths.empty())
        return layout.start + (frame + 1) * header.shape.elements() * pixel;
    const std::size_t axes = layout.lengths.size();
    std::vector<std::int64_t> position = layout.axes.position_of(frame, layout.lengths);
    position[axes - 2] = header.shape.height - 1;
    position[axes - 1] = header.shape.width - 1;
    return layout.start + (index_of(position, layout.steps) + 1) * pixel;
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

std::unique_ptr<FrameSource> stored_frames(StoredBytes bytes, FrameHeader header,
                                           StoredLayout layout) {
    ArrayHeader array = stored_header(header, layout);
    FrameAxes axes = layout.axes;
    return std::make_unique<FrameSource>(
        stored_array(std::move(bytes), std::move(array), std::move(layout)), std::move(header),
        std::move(axes));
}

std::unique_ptr<ArraySource> stored_array(StoredBytes bytes, ArrayHeader header,
                                          StoredLayout layout) {
    return std::make_unique<StoredArray>(std::move(bytes), std::move(header), std::move(layout));
}

std::unique_ptr<FrameSource> stored_frames(SourceFile file, FrameHeader header,
                                           StoredLayout layout) {
    leave_out(file.path(), complete_frames(header, layout, file.size()), header);
    return stored_frames(bytes_of(std::move(file)), std::move(header), std::move(layout));
}

std::unique_ptr<FrameSource> stored_pages(SourceFile file, FrameHeader header,
                                          std::vector<Bytes> starts, std::vector<FrameHeader> each,
                                          bool swapped) {
    const std::string path = file.path();
    const Bytes last = file.size() - header.shape.height * header.row_bytes();
    const auto whole =
        std::ranges::find_if(starts, [&](Bytes start) { return start < 0 || start > last; });
    leave_out(path, std::min<std::int64_t>(header.frames, whole - starts.begin()), header);
    remark_on_others(each, header);
    FrameReading reading{[bytes = bytes_of(std::move(file)), starts = std::move(starts),
                          each = std::move(each), header,
                          swapped](std::int64_t frame, Rows rows, std::span<std::byte> to) {
        const auto i = static_cast<std::size_t>(frame);
        check_alike(bytes.path, frame, each[i], header);
        bytes.read(starts[i] + rows.first * header.row_bytes(), to);
        correct_samples(header.sample, swapped, false, to);
    }};
    return std::make_unique<FrameSource>(path, std::move(header), std::move(reading));
}

std::unique_ptr<FrameSource> converted_frames(
    std::unique_ptr<FrameSource> source, FrameHeader header,
    std::function<void(std::span<const std::byte> from, std::span<std::byte> to)> convert) {
    const std::shared_ptr<FrameSource> stored = std::move(source);
    FrameReading reading{[stored, convert = std::move(convert), samples = std::vector<std::byte>()](
                             std::int64_t frame, Rows rows, std::span<std::byte> to) mutable {
        samples.resize(static_cast<std::size_t>(rows.count() * stored->header().row_bytes()));
        stored->read_samples(frame, rows, samples);
        convert(samples, to);
    }};
    reading.share = [stored] { return stored->share(); };
    return std::make_unique<FrameSource>(stored->path(), std::move(header), std::move(reading));
}

std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start) {
    ArrayHeader array{{header.frames, header.shape.height, header.shape.width}};
    array.sample = header.sample;
    return std::make_unique<FrameSink>(stored_array_sink(path, std::move(array), start), header);
}

namespace {

ArrayHeader without_chunks(ArrayHeader header) {
    header.chunk.clear();
    header.fill.clear();
    return header;
}

class StoredArraySink final : public ArraySink {
  public:
    StoredArraySink(const std::string& path, ArrayHeader header, std::span<const std::byte> start)
        : ArraySink(path, without_chunks(std::move(header))),
          steps_(steps_of(this->header().lengths)),
          file_(path),
          start_(std::ssize(start)) {
        file_.write(start);
        written_ = start_;
    }

    void commit() override {
        const Bytes end =
            start_ + steps_.front() * header().lengths.front() * size_of(header().sample);
        if (written_ < end) {
            file_.seek(end - 1);
            file_.write(std::array{std::byte{0}});
        }
        file_.commit();
    }

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        const Bytes size = size_of(header().sample);
        const Elements run = run_of(block, steps_);
        for_each_part(block, run, [&](const ArrayBlock& part, Elements offset) {
            const Bytes at = start_ + index_of(part.start, steps_) * size;
            if (at != file_.position())
                file_.seek(at);
            file_.write(from.subspan(static_cast<std::size_t>(offset * size),
                                     static_cast<std::size_t>(run * size)));
            written_ = std::max(written_, at + run * size);
        });
    }

    std::vector<Elements> steps_;
    AtomicFile file_;
    Bytes start_;
    Bytes written_ = 0; ///< the end of the written bytes
};

} // namespace

std::unique_ptr<ArraySink> stored_array_sink(const std::string& path, ArrayHeader header,
                                             std::span<const std::byte> start) {
    return std::make_unique<StoredArraySink>(path, std::move(header), start);
}

} // namespace sextant::format
