// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/array_formats.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

ArrayHeader header_of_planes(const FrameSource& planes, std::vector<std::int64_t> chunk) {
    const FrameHeader& frames = planes.header();
    ArrayHeader header;
    header.lengths = frames.axes.lengths;
    if (header.lengths.empty())
        header.lengths = {frames.frames, frames.shape.height, frames.shape.width};
    const std::string names = frames.axes.lengths.empty() ? "TYX" : frames.axes.names;
    for (const char letter : names)
        header.names.emplace_back(
            1, static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
    if (header.names.empty())
        header.names = frames.axes.labels;
    std::int64_t stated = 1;
    for (std::size_t axis = 0; axis + 2 < header.lengths.size(); ++axis)
        stated *= header.lengths[axis];
    if (stated != frames.frames && header.lengths.size() == 3)
        header.lengths.front() = frames.frames; // truncated, as a remark says
    else if (stated != frames.frames)
        throw InvalidFile(planes.path(), fmt::format("is truncated: {} of {} planes are complete",
                                                     frames.frames, stated));
    header.sample = frames.sample;
    header.colours = frames.channels > 1;
    header.pixel = frames.pixel;
    header.slice_distance = frames.slice_distance;
    header.frame_interval = frames.frame_interval;
    header.remarks = frames.remarks;
    header.chunk = std::move(chunk);
    if (header.chunk.empty()) {
        header.chunk.assign(header.lengths.size(), 1);
        if (header.lengths.size() == 3)
            header.chunk.front() = frames.frames_per_chunk;
    }
    return header;
}

class PlanesAsArray final : public ArraySource {
  public:
    PlanesAsArray(std::unique_ptr<FrameSource> planes, std::vector<std::int64_t> chunk)
        : ArraySource(planes->path(), header_of_planes(*planes, std::move(chunk))),
          planes_(std::move(planes)) {}

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        const std::size_t axes = block.start.size(), rows = axes - 2, columns = axes - 1;
        const Bytes size = size_of(header().sample);
        const Rows wanted{block.start[rows], block.start[rows] + block.count[rows]};
        const std::int64_t width = header().lengths[columns];
        const bool whole = block.count[columns] == width;
        const auto plane = static_cast<std::size_t>(wanted.count() * block.count[columns] * size);
        std::vector<std::int64_t> at(rows, 0);
        for (std::size_t offset = 0; offset < to.size(); offset += plane) {
            std::int64_t frame = 0;
            for (std::size_t axis = 0; axis < rows; ++axis)
                frame = frame * header().lengths[axis] + block.start[axis] + at[axis];
            const std::span<std::byte> part = to.subspan(offset, plane);
            if (whole) {
                planes_->read_samples(frame, wanted, part);
            } else {
                rows_.resize(static_cast<std::size_t>(wanted.count() * width * size));
                planes_->read_samples(frame, wanted, rows_);
                const std::vector<std::int64_t> count{wanted.count(), block.count[columns]};
                copy_block(count, size, rows_.data() + block.start[columns] * size,
                           std::vector<Elements>{width, 1}, part.data(), steps_of(count));
            }
            for (std::size_t axis = rows; axis-- > 0;) {
                if (++at[axis] < block.count[axis])
                    break;
                at[axis] = 0;
            }
        }
    }

    std::unique_ptr<FrameSource> planes_;
    std::vector<std::byte> rows_; ///< whole rows, of which some columns are read
};

ArrayHeader header_for_planes(ArrayHeader header) {
    header.chunk.clear();
    header.fill.clear();
    return header;
}

class ArrayOfPlanes final : public ArraySink {
  public:
    ArrayOfPlanes(std::unique_ptr<FrameSink> planes, ArrayHeader header)
        : ArraySink(planes->path(), header_for_planes(std::move(header))),
          planes_(std::move(planes)) {}

    bool in_order() const override { return true; }
    void commit() override { planes_->commit(); }

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        const std::size_t columns = block.start.size() - 1;
        if (block.count[columns] != header().lengths[columns])
            throw std::logic_error("blocks of planes consist of whole rows");
        const auto row = static_cast<std::size_t>(block.count[columns] * size_of(header().sample));
        const std::size_t plane = row * static_cast<std::size_t>(block.count[columns - 1]);
        for (std::size_t offset = 0; offset < from.size(); offset += plane)
            planes_->write_samples(from.subspan(offset, plane));
    }

    std::unique_ptr<FrameSink> planes_;
};

} // namespace

std::unique_ptr<ArraySource> planes_as_array(std::unique_ptr<FrameSource> planes,
                                             std::vector<std::int64_t> chunk) {
    return std::make_unique<PlanesAsArray>(std::move(planes), std::move(chunk));
}

std::unique_ptr<ArraySink> array_of_planes(std::unique_ptr<FrameSink> planes, ArrayHeader header) {
    return std::make_unique<ArrayOfPlanes>(std::move(planes), std::move(header));
}

} // namespace sextant::format
