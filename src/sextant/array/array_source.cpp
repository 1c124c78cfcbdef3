// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/array_source.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

std::string ArrayHeader::axis_name(std::size_t axis) const {
    return names.empty() ? fmt::format("axis {}", axis) : names[axis];
}

Bytes ArrayHeader::chunk_bytes() const {
    Bytes bytes = element_bytes();
    for (const std::int64_t length : chunk)
        bytes *= length;
    return bytes;
}

void ArrayHeader::check(const std::string& path) {
    if (lengths.empty() || lengths.size() > most_array_axes)
        throw InvalidFile(
            path, fmt::format("has {} axes, expected 1 to {}", lengths.size(), most_array_axes));
    constexpr Bytes most = Bytes{1} << 60;
    Bytes bytes = element_bytes();
    for (const std::int64_t length : lengths) {
        if (length < 1 || length > most / bytes)
            throw InvalidFile(path, fmt::format("has {} samples of {}, expected axes of positive "
                                                "length and at most 2^60 bytes",
                                                fmt::join(lengths, "×"), name(sample)));
        bytes *= length;
    }
    complete();
}

void ArrayHeader::complete() {
    if (chunk.empty())
        chunk.assign(lengths.size(), 1);
    if (fill.empty())
        fill.assign(static_cast<std::size_t>(element_bytes()), std::byte{0});
    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
        chunk[axis] = std::max<std::int64_t>(1, std::min(chunk[axis], lengths[axis]));
}

Elements ArrayBlock::elements() const {
    Elements all = 1;
    for (const std::int64_t length : count)
        all *= length;
    return all;
}

namespace {

void check_block(const ArrayHeader& header, const ArrayBlock& block, std::size_t given) {
    const std::size_t axes = header.lengths.size();
    bool inside = block.start.size() == axes && block.count.size() == axes;
    for (std::size_t axis = 0; inside && axis < axes; ++axis)
        inside = block.start[axis] >= 0 && block.count[axis] > 0 &&
                 block.count[axis] <= header.lengths[axis] - block.start[axis];
    if (!inside)
        throw std::logic_error("the block is not within the array");
    if (static_cast<Bytes>(given) != block.elements() * header.element_bytes())
        throw std::logic_error("the buffer does not have the size of the block");
}

} // namespace

ArraySource::ArraySource(std::string path, ArrayHeader header)
    : path_(std::move(path)), header_(std::move(header)) {
    header_.check(path_);
}

ArraySource::ArraySource(std::string path, ArrayHeader header, Checked)
    : path_(std::move(path)), header_(std::move(header)) {
    header_.complete();
}

void ArraySource::read(const ArrayBlock& block, std::span<std::byte> to) {
    check_block(header_, block, to.size());
    load(block, to);
}

bool ArraySource::is_fill(const ArrayBlock& block) {
    check_block(header_, block,
                static_cast<std::size_t>(block.elements() * header_.element_bytes()));
    return lacks(block);
}

ArraySink::ArraySink(std::string path, ArrayHeader header)
    : path_(std::move(path)), header_(std::move(header)) {
    header_.check(path_);
}

ArraySink::ArraySink(std::string path, ArrayHeader header, Checked)
    : path_(std::move(path)), header_(std::move(header)) {
    header_.complete();
}

void ArraySink::write(const ArrayBlock& block, std::span<const std::byte> from) {
    check_block(header_, block, from.size());
    for (std::size_t axis = 0; axis < block.start.size(); ++axis) {
        const std::int64_t end = block.start[axis] + block.count[axis];
        if (block.start[axis] % header_.chunk[axis] != 0 ||
            (end % header_.chunk[axis] != 0 && end != header_.lengths[axis]))
            throw std::logic_error("the block does not consist of whole chunks");
    }
    store(block, from);
}

std::vector<Elements> steps_of(std::span<const std::int64_t> lengths) {
    std::vector<Elements> steps(lengths.size());
    Elements step = 1;
    for (std::size_t axis = lengths.size(); axis-- > 0;) {
        steps[axis] = step;
        step *= lengths[axis];
    }
    return steps;
}

namespace {

void copy_line(std::int64_t count, std::size_t size, const std::byte* from, Bytes from_step,
               std::byte* to, Bytes to_step) {
    const auto copy = [&]<std::size_t n>(std::integral_constant<std::size_t, n>) {
        for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(to + i * to_step, from + i * from_step, n);
    };
    switch (size) {
    case 1:
        return copy(std::integral_constant<std::size_t, 1>());
    case 2:
        return copy(std::integral_constant<std::size_t, 2>());
    case 4:
        return copy(std::integral_constant<std::size_t, 4>());
    case 8:
        return copy(std::integral_constant<std::size_t, 8>());
    default: // elements of several channels
        for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(to + i * to_step, from + i * from_step, size);
    }
}

} // namespace

void copy_block(std::span<const std::int64_t> count, Bytes size, const std::byte* from,
                std::span<const Elements> from_steps, std::byte* to,
                std::span<const Elements> to_steps) {
    // Merges the trailing axes that are contiguous in both arrays into one run.
    std::size_t axes = count.size();
    Elements run = 1;
    while (axes > 0 &&
           (count[axes - 1] == 1 || (from_steps[axes - 1] == run && to_steps[axes - 1] == run))) {
        run *= count[axes - 1];
        --axes;
    }
    if (axes == 0) {
        std::memcpy(to, from, static_cast<std::size_t>(run * size));
        return;
    }
    const Bytes from_step = from_steps[axes - 1] * size, to_step = to_steps[axes - 1] * size;
    if (axes == 1) {
        if (run == 1)
            return copy_line(count[0], static_cast<std::size_t>(size), from, from_step, to,
                             to_step);
        for (std::int64_t i = 0; i < count[0]; ++i)
            std::memcpy(to + i * to_step, from + i * from_step,
                        static_cast<std::size_t>(run * size));
        return;
    }
    for (std::int64_t i = 0; i < count[0]; ++i)
        copy_block(count.subspan(1), size, from + i * from_steps[0] * size, from_steps.subspan(1),
                   to + i * to_steps[0] * size, to_steps.subspan(1));
}

Elements index_of(std::span<const std::int64_t> position, std::span<const Elements> steps) {
    return std::inner_product(position.begin(), position.end(), steps.begin(), Elements{0});
}

bool copy_part(const ArrayBlock& block, Bytes size, const std::byte* from, const ArrayBlock& part,
               std::byte* to) {
    std::vector<std::int64_t> at = part.start;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
        at[axis] -= block.start[axis];
        if (at[axis] < 0 || at[axis] + part.count[axis] > block.count[axis])
            return false;
    }
    const std::vector<Elements> steps = steps_of(block.count);
    copy_block(part.count, size, from + index_of(at, steps) * size, steps, to,
               steps_of(part.count));
    return true;
}

void for_each_part(const ArrayBlock& block, Elements most,
                   const std::function<void(const ArrayBlock& part, Elements offset)>& visit) {
    std::size_t inner = block.count.size(); // a part has all positions of the axes from here on
    Elements run = 1;
    while (inner > 0 && run * block.count[inner - 1] <= most)
        run *= block.count[--inner];
    if (inner == 0)
        return visit(block, 0);
    const std::size_t axis = inner - 1; // a part has up to `together` positions of this axis
    const std::int64_t together = std::max<std::int64_t>(1, most / run);
    ArrayBlock part = block;
    std::fill_n(part.count.begin(), axis, 1);
    Elements offset = 0;
    for (bool more = true; more;) {
        for (std::int64_t at = 0; at < block.count[axis]; at += together) {
            part.start[axis] = block.start[axis] + at;
            part.count[axis] = std::min(together, block.count[axis] - at);
            visit(part, offset);
            offset += part.count[axis] * run;
        }
        more = false;
        for (std::size_t outer = axis; outer-- > 0 && !more;) {
            more = ++part.start[outer] < block.start[outer] + block.count[outer];
            if (!more)
                part.start[outer] = block.start[outer];
        }
    }
}

void fill_samples(std::span<const std::byte> sample, std::span<std::byte> to) {
    if (std::ranges::all_of(sample, [&](std::byte b) { return b == sample.front(); })) {
        std::ranges::fill(to, sample.front());
        return;
    }
    std::memcpy(to.data(), sample.data(), std::min(sample.size(), to.size()));
    for (std::size_t done = sample.size(); done < to.size(); done *= 2)
        std::memcpy(to.data() + done, to.data(), std::min(done, to.size() - done));
}

bool consists_of(std::span<const std::byte> sample, std::span<const std::byte> samples) {
    return samples.empty() || (std::memcmp(samples.data(), sample.data(), sample.size()) == 0 &&
                               std::memcmp(samples.data(), samples.data() + sample.size(),
                                           samples.size() - sample.size()) == 0);
}

} // namespace sextant
