// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_sources.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

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
