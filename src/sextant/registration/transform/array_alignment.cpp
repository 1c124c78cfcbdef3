// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/array_alignment.hpp"

#include "sextant/array/frame_source.hpp"
#include "sextant/array/memory_frames.hpp"
#include "sextant/array/sample_offset.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/transform/row_interpolation.hpp"
#include "sextant/registration/transform/row_positions.hpp"
#include "sextant/registration/transform/sample_strips.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr Bytes positions_at_a_time = Bytes{8} << 20; ///< memory for pixel positions
constexpr Bytes usual_block = Bytes{6} << 20;         ///< larger blocks are not faster

/// Memory that grows and is not initialised.
class Buffer {
  public:
    std::span<std::byte> bytes(Bytes size) {
        if (size > size_) {
            data_.reset();
            data_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size));
            size_ = size;
        }
        return {data_.get(), static_cast<std::size_t>(size)};
    }

    void release() {
        data_.reset();
        size_ = 0;
    }

  private:
    std::unique_ptr<std::byte[]> data_;
    Bytes size_ = 0;
};

/// Locks for the resources that the aligning threads share.
struct Locks {
    std::mutex source, sink, caller;
    std::mutex large; ///< held by a thread while its block exceeds its part of the memory
};

/// Assigns every n-th block to one of n threads.
struct Lane {
    int number = 0, count = 1;
    Locks* locks = nullptr; ///< null if there is one thread

    /// Calls body() while holding one of the locks.
    template <class Body>
    auto alone(std::mutex Locks::*which, const Body& body) const {
        std::unique_lock<std::mutex> held;
        if (locks)
            held = std::unique_lock(locks->*which);
        return body();
    }
};

/// Writes blocks. With a single computing thread, a second thread writes a block while the next
/// block is computed.
class BlockWriter {
  public:
    BlockWriter(ArraySink& sink, const Lane& lane) : sink_(sink), lane_(lane) {}
    ~BlockWriter() {
        if (writing_.valid())
            writing_.wait();
    }
    BlockWriter(const BlockWriter&) = delete;
    BlockWriter& operator=(const BlockWriter&) = delete;

    /// Returns memory for the next block; write() writes the block.
    std::span<std::byte> buffer(Bytes size) { return buffers_[next_].bytes(size); }
    void write(ArrayBlock block, std::span<const std::byte> samples) {
        if (lane_.locks)
            return lane_.alone(&Locks::sink, [&] { sink_.write(block, samples); });
        finish();
        next_ = 1 - next_;
        writing_ = std::async(std::launch::async, [this, block = std::move(block), samples] {
            sink_.write(block, samples);
        });
    }
    void finish() {
        if (writing_.valid())
            writing_.get();
    }

  private:
    ArraySink& sink_;
    Lane lane_;
    Buffer buffers_[2];
    int next_ = 0;
    std::future<void> writing_;
};

/// True if f64 samples differ by less than the resolution of floats, for example values near 10⁹.
/// Examines middle rows of some frames, at some positions along the other axes.
bool is_far_from_zero(ArraySource& source, const MovedAxes& axes) {
    const std::vector<std::int64_t>& lengths = source.header().lengths;
    if (source.header().sample != Sample::f64)
        return false;
    constexpr int positions = 3;
    constexpr std::int64_t most_rows = 16;
    const auto at = [](std::int64_t length, int position) {
        return (length - 1) * position / (positions - 1);
    };
    for (int number = 0; number < positions * positions; ++number) {
        ArrayBlock block{std::vector<std::int64_t>(lengths.size(), 0),
                         std::vector<std::int64_t>(lengths.size(), 1)};
        for (std::size_t axis = 0; axis < lengths.size(); ++axis)
            block.start[axis] =
                at(lengths[axis], axis == axes.frame ? number / positions : number % positions);
        block.count[axes.row] = std::min(lengths[axes.row], most_rows);
        block.start[axes.row] = (lengths[axes.row] - block.count[axes.row]) / 2;
        block.count[axes.column] = lengths[axes.column];
        block.start[axes.column] = 0;
        std::vector<std::byte> samples(static_cast<std::size_t>(
            block.count[axes.row] * block.count[axes.column] * size_of(Sample::f64)));
        source.read(block, samples);
        MemoryFrames frame({.frames = 1, .shape = {block.elements(), 1}, .sample = Sample::f64},
                           samples);
        if (offset_of(frame, std::array<std::int64_t, 1>{0}) != 0)
            return true;
    }
    return false;
}

std::size_t sink_axis(const MovedAxes& axes, bool has_frames, std::size_t axis) {
    return axes.frame && !has_frames && axis > *axes.frame ? axis - 1 : axis;
}

bool keeps_frames(const MovedAxes& axes, const AlignOptions& options) {
    return axes.frame && !options.sum;
}

/// Moves a position in an array to the next one, the last axis first, in steps along each axis.
/// Returns false after the last position. An axis whose step is its length stays at 0.
bool advance(std::vector<std::int64_t>& at, std::span<const std::int64_t> lengths,
             std::span<const std::int64_t> steps) {
    for (std::size_t axis = at.size(); axis-- > 0;) {
        at[axis] += steps[axis];
        if (at[axis] < lengths[axis])
            return true;
        at[axis] = 0;
    }
    return false;
}

/// A block of the carried axes, with a range of rows of the result.
struct AlignedBlock {
    std::vector<std::int64_t> start, count; ///< by axis of the source
    Rows rows;
    Elements outer = 1, inner = 1; ///< samples before the rows and after the columns
};

class ArrayAligner {
  public:
    ArrayAligner(ArraySource& source, const MovedAxes& axes, std::span<const MovedFrame> frames,
                 const TransformOf& transform_of, ArraySink& sink, const AlignOptions& options,
                 Team* team, const RunControl& control, Lane lane)
        : source_(source),
          axes_(axes),
          frames_(frames),
          transform_of_(transform_of),
          sink_(sink),
          options_(options),
          team_(team),
          control_(control),
          shape_{source.header().lengths[axes.column], source.header().lengths[axes.row]},
          from_(source.header().sample),
          to_(sink.header().sample),
          writer_(sink, lane),
          lane_(lane) {
        check();
        plan();
        if (options.sum)
            counts_.assign(static_cast<std::size_t>(options.area.shape.elements()), 0);
    }

    /// True if the memory is sufficient for a block.
    static bool fits(ArraySource& source, const MovedAxes& axes, std::span<const MovedFrame> frames,
                     ArraySink& sink, const AlignOptions& options) {
        const TransformOf none;
        const RunControl control;
        try {
            ArrayAligner(source, axes, frames, none, sink, options, nullptr, control, {});
            return true;
        } catch (const InvalidTask&) {
            return false;
        }
    }

    AlignResult run() {
        if (options_.sum)
            add_up();
        else if (sink_.in_order())
            align_in_order();
        else
            align_in_groups();
        writer_.finish();
        result_.count.assign(counts_.begin(), counts_.end());
        result_.total += result_.outside;
        result_.vanished = losses_.vanished;
        result_.clamped = losses_.clamped;
        if (is_integer(from_) && (options_.by == AlignBy::shift || size_of(from_) > 2))
            result_.rounded = losses_.whole;
        else if ((options_.by == AlignBy::shift && !options_.sum) ||
                 (losses_.rounded > 0 && is_far_from_zero(source_, axes_)))
            result_.rounded = losses_.rounded;
        return std::move(result_);
    }

  private:
    bool splats() const { return options_.by == AlignBy::splat; }
    /// True if frames are added up without rounding.
    bool adds_integers() const {
        return options_.sum && options_.by == AlignBy::shift && is_integer(from_) &&
               is_integer(to_);
    }
    const ArrayHeader& header() const { return source_.header(); }
    bool is_carried(std::size_t axis) const {
        return axis != axes_.row && axis != axes_.column && axis != axes_.frame;
    }

    void check() {
        if (std::min(shape_.width, shape_.height) < 2)
            throw InvalidData(fmt::format("{}: the frames have {}x{} pixels, expected at least 2x2",
                                          source_.path(), shape_.width, shape_.height));
        if (sink_.header().lengths !=
            aligned_lengths(header(), axes_, std::ssize(frames_), options_))
            throw std::logic_error(
                "the lengths of the sink differ from those of the aligned frames");
    }

    /// Returns the memory in bytes for a block of these lengths. The length along the row axis
    /// counts rows of the result.
    double bytes_for(std::span<const std::int64_t> block) const {
        double samples = 1;
        for (std::size_t axis = 0; axis < block.size(); ++axis)
            samples *=
                axis == axes_.column || axis == axes_.frame ? 1. : static_cast<double>(block[axis]);
        const double sums = splats() || options_.sum ? sizeof(double) : 0;
        return samples *
               (static_cast<double>(shape_.width) * 1.5 * static_cast<double>(size_of(from_)) +
                static_cast<double>(options_.area.shape.width) *
                    (2 * static_cast<double>(size_of(to_)) + sums));
    }

    /// Chooses the lengths of blocks: multiples of chunks, as large as the memory allows.
    void plan() {
        const std::vector<std::int64_t>& lengths = header().lengths;
        const auto sink_chunk = [&](std::size_t axis) {
            return sink_.header().chunk[sink_axis(axes_, keeps_frames(axes_, options_), axis)];
        };
        block_.assign(lengths.size(), 1);
        std::vector<std::int64_t> unit(lengths.size(), 1), most = lengths;
        most[axes_.row] = options_.area.shape.height;
        for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
            if (axis == axes_.frame || axis == axes_.column)
                continue;
            const std::int64_t wanted = axis == axes_.row ? 1 : header().chunk[axis];
            unit[axis] = wanted % sink_chunk(axis) == 0 ? wanted : sink_chunk(axis);
            if (sink_.in_order() && axis < axes_.row)
                unit[axis] = most[axis] = 1;
            if (sink_.in_order() && axis > axes_.column)
                unit[axis] = most[axis];
            block_[axis] = std::min(unit[axis], most[axis]);
        }
        const auto limit = static_cast<double>(options_.memory) * .6;
        const double wanted = options_.sum ? limit : std::min<double>(limit, usual_block);
        for (std::size_t axis = 0; axis < lengths.size() && bytes_for(block_) > limit; ++axis) {
            // Smaller blocks decode chunks of the source several times.
            if (is_carried(axis) && !sink_.in_order())
                block_[axis] = std::min(sink_chunk(axis), most[axis]);
        }
        if (bytes_for(block_) > limit)
            throw InvalidTask(
                fmt::format("a block of {} needs {} of memory, expected --memory of at least {}",
                            source_.path(), text_of_memory(static_cast<Bytes>(bytes_for(block_))),
                            text_of_memory(static_cast<Bytes>(bytes_for(block_) / .3))));
        const auto grow = [&](std::size_t axis) {
            while (block_[axis] < most[axis]) {
                std::vector<std::int64_t> larger = block_;
                larger[axis] = std::min(2 * block_[axis], most[axis]);
                if (bytes_for(larger) > wanted)
                    return;
                block_ = larger;
            }
        };
        for (std::size_t axis = lengths.size(); axis-- > axes_.column + 1;)
            grow(axis);
        grow(axes_.row);
        for (std::size_t axis = axes_.row; axis-- > 0;) {
            if (is_carried(axis))
                grow(axis);
        }
    }

    // Order of blocks.

    /// Calls visit(work) for each band of rows in a block of the carried axes.
    template <class Visit>
    void for_each_band(std::span<const std::int64_t> start, const Visit& visit) {
        const std::int64_t height = options_.area.shape.height;
        AlignedBlock work{{start.begin(), start.end()}, block_, {}};
        for (std::size_t axis = 0; axis < block_.size(); ++axis) {
            if (!is_carried(axis))
                continue;
            work.count[axis] = std::min(block_[axis], header().lengths[axis] - start[axis]);
            (axis < axes_.row ? work.outer : work.inner) *= work.count[axis];
        }
        for (std::int64_t row = 0; row < height; row += block_[axes_.row]) {
            work.rows = {row, std::min(row + block_[axes_.row], height)};
            control_.check();
            visit(work);
        }
    }

    /// Calls visit(work) for each band of rows of all blocks.
    template <class Visit>
    void for_each_work(const Visit& visit) {
        std::vector<std::int64_t> start(block_.size(), 0), steps = header().lengths;
        for (std::size_t axis = 0; axis < steps.size(); ++axis)
            steps[axis] = is_carried(axis) ? block_[axis] : steps[axis];
        do
            for_each_band(start, visit);
        while (advance(start, header().lengths, steps));
    }

    /// Returns the number of blocks of all frames.
    std::int64_t count_work() {
        std::int64_t of_frame = 0;
        for_each_work([&](const AlignedBlock&) { ++of_frame; });
        return of_frame * std::ssize(frames_);
    }

    void step(std::int64_t all) { control_.report("apply", done_++, all); }

    /// Aligns blocks in an order in which frames that share chunks are consecutive within each
    /// block.
    void align_in_groups() {
        const std::int64_t depth = axes_.frame ? header().chunk[*axes_.frame] : 1;
        const std::int64_t all = count_work();
        for (std::size_t first = 0; first < frames_.size();) {
            std::size_t end = first + 1;
            while (end < frames_.size() &&
                   frames_[end].position / depth == frames_[first].position / depth)
                ++end;
            for_each_work([&](const AlignedBlock& work) {
                for (std::size_t frame = first; frame < end; ++frame) {
                    step(all);
                    align(frame, work);
                }
            });
            first = end;
        }
    }

    /// Aligns blocks in C order of the result. Blocks have one position on each axis before the
    /// rows.
    void align_in_order() {
        const std::int64_t all = count_work();
        std::vector<std::int64_t> at(block_.size(), 0), lengths = header().lengths;
        if (axes_.frame)
            lengths[*axes_.frame] = std::ssize(frames_);
        std::vector<std::int64_t> steps = lengths;
        std::fill_n(steps.begin(), axes_.row, 1);
        do {
            const std::size_t frame = axes_.frame ? static_cast<std::size_t>(at[*axes_.frame]) : 0;
            for_each_band(at, [&](const AlignedBlock& work) {
                step(all);
                align(frame, work);
            });
        } while (advance(at, lengths, steps));
    }

    void add_up() {
        const std::int64_t all = count_work();
        for_each_work([&](const AlignedBlock& work) {
            bool touched = false;
            counting_ = std::ranges::all_of(work.start, [](auto at) { return at == 0; });
            begin_sums();
            for (std::size_t frame = 0; frame < frames_.size(); ++frame) {
                step(all);
                control_.check();
                set_frame(frame);
                touched = (splats() ? splat(work) : interpolate(work, {})) || touched;
                if (integers_.overflowed)
                    refuse(fmt::format("a sum of the first {} frames exceeds 64 bits", frame + 1));
            }
            if (touched || !starts_as_zeros())
                store_sums(work, 0);
        });
    }

    /// True if values may be too large or too small for the result's sample type. Integer sums that
    /// are out of range throw instead.
    bool may_lose() const {
        if (is_integer(to_))
            return !options_.sum && to_ != from_ && !has_range_of(to_, from_);
        if (to_ == Sample::f64)
            return is_integer(from_) && size_of(from_) == 8;
        const bool is_float = to_ == Sample::f16 || to_ == Sample::f32;
        return is_float && (to_ != from_ || options_.sum || splats());
    }
    void require_no_infinity() const {
        if (losses_.exceed)
            refuse(fmt::format("a sample of the result exceeds the range of {}", name(to_)));
    }

    [[noreturn]] void refuse(const std::string& found) const {
        throw InvalidTask(fmt::format("{}: {}, expected another output type, such as f64",
                                      source_.path(), found));
    }

    // Processing of one block.

    void set_frame(std::size_t frame) {
        if (frame == frame_)
            return;
        transform_ =
            lane_.alone(&Locks::caller, [&] { return transform_of_(frames_[frame].registered); });
        check_transform(transform_, shape_);
        if (options_.by == AlignBy::shift) {
            const RigidMotion whole = whole_shift(transform_, shape_);
            note_distance(whole);
            transform_ = whole;
        }
        reverse_.reset();
        frame_ = frame;
    }

    void note_distance(const RigidMotion& whole) {
        for (const std::int64_t x : {std::int64_t{0}, shape_.width - 1}) {
            for (const std::int64_t y : {std::int64_t{0}, shape_.height - 1}) {
                const Point from{static_cast<double>(x), static_cast<double>(y)};
                const Point to = apply(transform_, from, shape_);
                result_.farthest = std::max(result_.farthest, std::hypot(to.x - from.x - whole.tx,
                                                                         to.y - from.y - whole.ty));
            }
        }
    }

    void align(std::size_t frame, const AlignedBlock& work) {
        if (block_number_++ % lane_.count != lane_.number)
            return;
        control_.check();
        set_frame(frame);
        if (splats()) {
            begin_sums();
            if (splat(work) || !starts_as_zeros())
                store_sums(work, frame);
            return;
        }
        const std::span<std::byte> samples = writer_.buffer(
            work.outer * work.rows.count() * options_.area.shape.width * work.inner * size_of(to_));
        const bool written = interpolate(work, samples);
        require_no_infinity();
        if (written)
            writer_.write(block_of_sink(work, frame), samples);
    }

    ArrayBlock block_of_sink(const AlignedBlock& work, std::size_t frame) const {
        ArrayBlock block =
            block_of(work, static_cast<std::int64_t>(frame), work.rows, options_.area.shape.width);
        if (axes_.frame && !keeps_frames(axes_, options_)) {
            for (std::vector<std::int64_t>* numbers : {&block.start, &block.count})
                numbers->erase(numbers->begin() + static_cast<std::ptrdiff_t>(*axes_.frame));
        }
        return block;
    }

    ArrayBlock block_of_source(const AlignedBlock& work, Rows rows) const {
        return block_of(work, axes_.frame ? frames_[frame_].position : 0, rows, shape_.width);
    }

    /// Returns a block of whole rows of a frame.
    ArrayBlock block_of(const AlignedBlock& work, std::int64_t frame, Rows rows,
                        std::int64_t width) const {
        ArrayBlock block{work.start, work.count};
        const auto set = [&](std::size_t axis, std::int64_t start, std::int64_t count) {
            block.start[axis] = start;
            block.count[axis] = count;
        };
        if (axes_.frame)
            set(*axes_.frame, frame, 1);
        set(axes_.row, rows.first, rows.count());
        set(axes_.column, 0, width);
        return block;
    }

    bool is_fill(const ArrayBlock& block) const {
        return lane_.alone(&Locks::source, [&] { return source_.is_fill(block); });
    }
    std::span<std::byte> read_block(const AlignedBlock& work, Rows rows) {
        const std::span<std::byte> read = read_.bytes(bytes_of(work, rows));
        lane_.alone(&Locks::source, [&] { source_.read(block_of_source(work, rows), read); });
        return read;
    }

    Bytes bytes_of(const AlignedBlock& work, Rows rows) const {
        return work.outer * rows.count() * shape_.width * work.inner * size_of(from_);
    }

    [[noreturn]] void refuse_rows(const AlignedBlock& work, Rows rows) const {
        throw InvalidTask(fmt::format("{}: the motion of frame {} requires {} rows at once, which "
                                      "take {} MiB, expected --memory of at least {} MiB",
                                      source_.path(), frames_[frame_].position, rows.count(),
                                      bytes_of(work, rows) / (1 << 20) + 1,
                                      bytes_of(work, rows) / (1 << 19) + 1));
    }

    /// Returns the source's fill value, converted to a sample of the result.
    std::vector<std::byte> fill() const {
        if (from_ == to_)
            return header().fill;
        if (is_integer(from_) && is_integer(to_)) {
            std::vector<std::byte> sample(static_cast<std::size_t>(size_of(to_)));
            convert_integers(from_, header().fill.data(), 1, to_, sample.data());
            return sample;
        }
        return sample_of(visit_sample(from_, [&]<class T>(std::type_identity<T>) {
            return value_of<T>(header().fill.data());
        }));
    }
    std::vector<std::byte> sample_of(double value) const {
        std::vector<std::byte> sample(static_cast<std::size_t>(size_of(to_)));
        store_samples(to_, &value, 1, sample.data());
        return sample;
    }
    static bool is_zero(std::span<const std::byte> sample) {
        return std::ranges::all_of(sample, [](std::byte b) { return b == std::byte{0}; });
    }
    /// True if blocks that consist of the fill value of the source add nothing to sums.
    bool fill_adds_nothing() const { return is_zero(header().fill); }
    /// True if sums that nothing was added to need not be written.
    bool starts_as_zeros() const { return is_zero(sink_.header().fill) && may_skip(); }
    /// True if samples may be left unwritten, because the sink fills them with its fill value.
    bool may_skip() const { return !options_.overwrites && !sink_.in_order(); }

    /// Interpolates a block into `samples` or, for sums, adds it to the sums. Returns false if
    /// nothing needs to be written, because all samples are the fill value or nothing was added.
    bool interpolate(const AlignedBlock& work, std::span<std::byte> samples) {
        bool written = false;
        for (Rows rows{work.rows.first, work.rows.first}; rows.first < work.rows.last;
             rows.first = rows.last) {
            const Bytes row_of_positions =
                shifts_rows(transform_) ? 64 : options_.area.shape.width * Bytes{sizeof(Point)};
            std::int64_t height =
                std::min(std::max<std::int64_t>(1, positions_at_a_time / row_of_positions),
                         work.rows.last - rows.first);
            for (;; height = (height + 1) / 2) {
                rows.last = rows.first + height;
                const RowPositions positions(transform_, options_.area, shape_, rows);
                const Rows needed = rows_for(positions, options_.by, shape_.height);
                if (needed.count() > 0 && bytes_of(work, needed) > options_.memory / 4) {
                    if (height > 1)
                        continue;
                    if (bytes_of(work, needed) > options_.memory * lane_.count)
                        refuse_rows(work, needed);
                }
                std::unique_lock<std::mutex> alone;
                if (lane_.locks && bytes_of(work, needed) > options_.memory)
                    alone = std::unique_lock(lane_.locks->large);
                written = interpolate_rows(work, positions, needed, samples) || written;
                if (alone.owns_lock())
                    read_.release();
                break;
            }
        }
        return written;
    }

    bool interpolate_rows(const AlignedBlock& work, const RowPositions& positions, Rows needed,
                          std::span<std::byte> samples) {
        Interpolated to{
            options_.area.shape.width,      options_.gap, to_, nullptr, nullptr, nullptr, nullptr,
            may_lose() ? &losses_ : nullptr};
        const bool empty = needed.count() == 0;
        const bool fill_may_lose = is_integer(from_) && may_lose() && !fill_adds_nothing();
        const bool plain = !empty && !fill_may_lose && is_fill(block_of_source(work, needed));
        if (options_.sum) {
            if (!empty && !(plain && fill_adds_nothing()))
                need_sums(work);
            if (adds_integers())
                to.integers = &integers_;
            else
                to.sums = sums_.data();
            to.counts =
                counting_ ? counts_.data() + work.rows.first * options_.area.shape.width : nullptr;
        } else {
            to.samples = samples.data();
        }
        const InterpolationSource from{nullptr,          from_,     shape_, needed,
                                       options_.flyback, work.inner};
        const RowInterpolation interpolation(options_.by, positions, from, to, work.rows);
        if (options_.sum && (empty || (plain && fill_adds_nothing()))) {
            if (counting_)
                interpolation.count();
            return false;
        }
        if (!options_.sum && (empty || plain)) {
            const bool whole = positions.rows().count() == work.rows.count();
            const std::vector<std::byte> here = fill();
            const bool same = here == sample_of(options_.gap);
            const bool skips = may_skip() && here == sink_.header().fill &&
                               (same || (!empty && interpolation.covers_all()));
            if (skips && whole)
                return false;
            run_rows(work, positions.rows(),
                     [&](Elements outer, Rows part) { interpolation.fill(outer, part, here); });
            return !skips;
        }
        const std::span<std::byte> read = read_block(work, needed);
        RowInterpolation reading = interpolation;
        reading.set_source(read.data());
        if (counting_)
            reading.count();
        run_rows(work, positions.rows(),
                 [&](Elements outer, Rows part) { reading.interpolate(outer, part); });
        return true;
    }

    /// Runs body(outer, rows) in parallel, for each position along the outer axes and for parts of
    /// the rows.
    template <class Body>
    void run_rows(const AlignedBlock& work, Rows rows, const Body& body) {
        constexpr int wanted_parts = 32;
        const std::int64_t per_outer = std::clamp<std::int64_t>(
            wanted_parts / std::max<Elements>(1, work.outer), 1, rows.count());
        const std::int64_t height = (rows.count() + per_outer - 1) / per_outer;
        const std::int64_t pieces = (rows.count() + height - 1) / height;
        constexpr std::int64_t most_parts = 1 << 20;
        const Elements together = work.outer * pieces / most_parts + 1; // positions per part
        const auto parts = static_cast<int>((work.outer + together - 1) / together * pieces);
        run_parts(team_, parts, [&](int part, int) {
            const std::int64_t first = rows.first + part % pieces * height;
            const Elements outer = part / pieces * together;
            for (Elements i = outer; i < std::min(work.outer, outer + together); ++i)
                body(i, Rows{first, std::min(first + height, rows.last)});
        });
    }

    // Splats and sums of frames.

    /// Sets the sums of a block to 0, unless something was added since begin_sums().
    void need_sums(const AlignedBlock& work) {
        if (std::exchange(has_sums_, true))
            return;
        const auto count = static_cast<std::size_t>(work.outer * work.rows.count() *
                                                    options_.area.shape.width * work.inner);
        if (adds_integers())
            integers_.values.assign(count, 0);
        else
            sums_.assign(count, 0);
    }
    void begin_sums() { has_sums_ = false; }

    /// Adds a frame. Returns false if nothing was added.
    bool splat(const AlignedBlock& work) {
        if (!reverse_) {
            const Bytes bytes =
                (shifts_rows(transform_) ? 1 : shape_.width) * shape_.height * Bytes{sizeof(Point)};
            if (bytes > options_.memory / 2)
                throw InvalidTask(fmt::format(
                    "{}: the pixel positions of a frame take {} MiB, expected --memory of "
                    "at least {} MiB",
                    source_.path(), bytes >> 20, (bytes >> 18) + 1));
            reverse_.emplace(transform_, options_.area, shape_, Rows{0, shape_.height});
        }
        const FrameSplat frame_splat(*reverse_, options_.area.shape, shape_, options_.flyback,
                                     work.rows);
        if (counting_)
            frame_splat.count(std::span(counts_).subspan(
                static_cast<std::size_t>(work.rows.first * options_.area.shape.width)));
        bool added = false;
        const Bytes most = std::max(options_.memory / 4, bytes_of(work, {0, 1}));
        for (std::int64_t row = 0; row < shape_.height;) {
            if (!frame_splat.reaches(row)) {
                ++row;
                continue;
            }
            Rows rows{row, row + 1};
            while (rows.last < shape_.height && frame_splat.reaches(rows.last) &&
                   bytes_of(work, {rows.first, rows.last + 1}) <= most)
                ++rows.last;
            row = rows.last;
            if (fill_adds_nothing() && is_fill(block_of_source(work, rows)))
                continue;
            const std::span<std::byte> read = read_block(work, rows);
            need_sums(work);
            add_rows(work, frame_splat, rows, read.data());
            added = true;
        }
        return added;
    }

    void add_rows(const AlignedBlock& work, const FrameSplat& frame_splat, Rows rows,
                  const std::byte* read) {
        const Bytes plane = rows.count() * shape_.width * work.inner * size_of(from_);
        const Elements sums = work.rows.count() * options_.area.shape.width * work.inner;
        std::vector<double> outside(static_cast<std::size_t>(work.outer * work.rows.count()),
                                    0); // indexed by the first row of a part
        run_rows(work, work.rows, [&](Elements outer, Rows part) {
            outside[static_cast<std::size_t>(outer * work.rows.count() + part.first -
                                             work.rows.first)] =
                frame_splat.add(from_, read + outer * plane, rows, work.inner, part,
                                sums_.data() + outer * sums);
        });
        for (const double each : outside)
            result_.outside += each;
    }

    /// sum_at() and text_at() return a sum as a number and as text.
    double sum_at(Elements index) const {
        const auto at = static_cast<std::size_t>(index);
        if (!adds_integers())
            return sums_[at];
        return is_signed() ? static_cast<double>(static_cast<std::int64_t>(integers_.values[at]))
                           : static_cast<double>(integers_.values[at]);
    }
    std::string text_at(Elements index) const {
        const auto at = static_cast<std::size_t>(index);
        if (!adds_integers())
            return fmt::format("{:.17g}", sums_[at]);
        return is_signed() ? fmt::format("{}", static_cast<std::int64_t>(integers_.values[at]))
                           : fmt::format("{}", integers_.values[at]);
    }
    bool is_signed() const { return name(from_).front() == 'i'; }

    /// Rounds sums [first, last) to samples. Returns the index of the first sum that the sample
    /// type cannot represent, or `last`.
    Elements round_sums(Elements first, Elements last, std::byte* to) {
        const auto count = static_cast<std::size_t>(last - first);
        if (adds_integers())
            return first + static_cast<Elements>(store_integers(
                               from_, integers_.values.data() + first, count, to_, to));
        store_samples(to_, sums_.data() + first, count, to);
        if (may_lose())
            note_losses(to_, sums_.data() + first, count, to, losses_);
        if (is_integer(from_)) {
            // Beyond this number, the sums themselves are rounded.
            const Elements inexact =
                std::count_if(sums_.data() + first, sums_.data() + last,
                              [](double sum) { return std::abs(sum) > largest_exact; });
            if (inexact > 0)
                losses_.whole += inexact;
        }
        if (!options_.sum || !is_integer(to_))
            return last;
        // Cubic and Lanczos interpolation may overshoot below 0, as in single frames.
        const bool overshoots = options_.by == AlignBy::cubic || options_.by == AlignBy::lanczos;
        for (Elements i = first; i < last; ++i) {
            const double sum = sums_[static_cast<std::size_t>(i)];
            if (!(overshoots && sum < 0) && !std::isnan(sum) && !is_in_range(to_, sum))
                return i;
        }
        return last;
    }

    /// Rounds the sums of a block to samples and writes them.
    void store_sums(const AlignedBlock& work, std::size_t frame) {
        need_sums(work);
        const Elements count = adds_integers() ? std::ssize(integers_.values) : std::ssize(sums_);
        const std::span<std::byte> samples = writer_.buffer(count * size_of(to_));
        constexpr Elements at_a_time = Elements{1} << 15;
        const auto parts = static_cast<int>((count + at_a_time - 1) / at_a_time);
        std::vector<double> totals(static_cast<std::size_t>(parts), 0);
        std::vector<Elements> refused(static_cast<std::size_t>(parts), count);
        run_parts(team_, parts, [&](int part, int) {
            const Elements first = part * at_a_time, last = std::min(first + at_a_time, count);
            const Elements end = round_sums(first, last, samples.data() + first * size_of(to_));
            if (end < last)
                refused[static_cast<std::size_t>(part)] = end;
            double total = 0;
            for (Elements i = first; i < last; ++i)
                total += sum_at(i);
            totals[static_cast<std::size_t>(part)] = total;
        });
        if (const Elements at = *std::ranges::min_element(refused); at < count)
            refuse(
                fmt::format("a sum of frames is {}, which {} cannot hold", text_at(at), name(to_)));
        require_no_infinity();
        for (const double total : totals)
            result_.total += total;
        writer_.write(block_of_sink(work, frame), samples);
    }

    ArraySource& source_;
    MovedAxes axes_;
    std::span<const MovedFrame> frames_;
    const TransformOf& transform_of_;
    ArraySink& sink_;
    AlignOptions options_;
    Team* team_;
    const RunControl& control_;
    ImageShape shape_;
    Sample from_, to_;
    BlockWriter writer_;
    Lane lane_;
    std::int64_t block_number_ = 0; ///< number of the next block, counted over all lanes
    /// By axis of the source; along the row axis, rows of the result.
    std::vector<std::int64_t> block_;
    Buffer read_;
    std::vector<double> sums_, counts_;
    IntegerSums integers_; ///< used instead of sums_ if adds_integers()
    Losses losses_;
    bool has_sums_ = false; ///< true if sums_ belong to the current block
    bool counting_ = false; ///< true while frames of the first block of the carried axes are added
    std::size_t frame_ = static_cast<std::size_t>(-1);
    Transform transform_;
    std::optional<ReversePositions> reverse_; ///< positions for frame_
    AlignResult result_;
    std::int64_t done_ = 0;
};

} // namespace

std::vector<std::int64_t> aligned_lengths(const ArrayHeader& source, const MovedAxes& axes,
                                          std::int64_t frames, const AlignOptions& options) {
    std::vector<std::int64_t> lengths = source.lengths;
    lengths[axes.row] = options.area.shape.height;
    lengths[axes.column] = options.area.shape.width;
    if (axes.frame)
        lengths[*axes.frame] = frames;
    if (axes.frame && !keeps_frames(axes, options))
        lengths.erase(lengths.begin() + static_cast<std::ptrdiff_t>(*axes.frame));
    return lengths;
}

std::vector<std::int64_t> aligned_chunks(const ArrayHeader& source, const MovedAxes& axes,
                                         std::span<const std::int64_t> lengths, Sample sample,
                                         const AlignOptions& options) {
    constexpr Bytes wanted = Bytes{1} << 20, most = Bytes{1} << 24;
    const bool frames = keeps_frames(axes, options);
    std::vector<std::int64_t> chunk;
    for (std::size_t axis = 0; axis < source.lengths.size(); ++axis) {
        if (axis != axes.frame)
            chunk.push_back(source.chunk[axis]);
        else if (frames)
            chunk.push_back(1);
    }
    const std::size_t row = sink_axis(axes, frames, axes.row);
    const auto bytes = [&](std::size_t except) {
        double all = static_cast<double>(size_of(sample));
        for (std::size_t axis = 0; axis < chunk.size(); ++axis)
            all *= axis == except ? 1. : static_cast<double>(chunk[axis]);
        return all;
    };
    for (std::size_t axis = 0; axis < chunk.size(); ++axis)
        chunk[axis] = std::clamp<std::int64_t>(chunk[axis], 1, lengths[axis]);
    // Several rows of chunks, as wide as the array, must fit in memory.
    const auto width = static_cast<double>(lengths[row + 1]);
    const auto too_large = [&] {
        const double sums = options.sum || options.by == AlignBy::splat ? sizeof(double) : 0;
        const double size = static_cast<double>(size_of(sample));
        return bytes(row + 1) * width * (4 + sums / size) >
                   .4 * static_cast<double>(options.memory) ||
               bytes(chunk.size()) > most;
    };
    const auto grow = [&](std::size_t axis) {
        while (chunk[axis] < lengths[axis] && bytes(chunk.size()) < wanted) {
            const std::int64_t before = chunk[axis];
            chunk[axis] = std::min(2 * chunk[axis], lengths[axis]);
            if (too_large()) {
                chunk[axis] = before;
                return;
            }
        }
    };
    for (std::size_t axis = 0; axis < chunk.size() && too_large(); ++axis) {
        while (chunk[axis] > 1 && too_large())
            chunk[axis] = (chunk[axis] + 1) / 2;
    }
    for (std::size_t axis = chunk.size(); axis-- > 0;) {
        if (!frames || axis != sink_axis(axes, frames, *axes.frame))
            grow(axis);
    }
    return chunk;
}

AlignResult align_array(ArraySource& source, const MovedAxes& axes,
                        std::span<const MovedFrame> frames, const TransformOf& transform_of,
                        ArraySink& sink, const AlignOptions& options, Team* team,
                        const RunControl& control) {
    // Each thread takes whole blocks, which stay in its cache. Exceptions are sums, blocks that
    // must be written in order, and splats, which need positions of whole frames: all threads share
    // one block at a time.
    constexpr Bytes least_memory_of_lane = Bytes{64} << 20;
    const bool together = sink.in_order() || options.sum || options.by == AlignBy::splat || !team;
    int lanes = together ? 1
                         : static_cast<int>(std::clamp<Bytes>(options.memory / least_memory_of_lane,
                                                              1, team->size()));
    AlignOptions part = options;
    part.memory /= lanes;
    if (lanes > 1 && !ArrayAligner::fits(source, axes, frames, sink, part))
        lanes = 1;
    if (lanes == 1)
        return ArrayAligner(source, axes, frames, transform_of, sink, options, team, control, {})
            .run();
    Locks locks;
    std::atomic<bool> failed{false};
    std::vector<AlignResult> results(static_cast<std::size_t>(lanes));
    team->run(lanes, [&](int lane, int) {
        RunControl here;
        here.cancelled = [&] {
            const std::scoped_lock held(locks.caller);
            return failed || (control.cancelled && control.cancelled());
        };
        if (lane == 0)
            here.progress = control.progress;
        try {
            results[static_cast<std::size_t>(lane)] =
                ArrayAligner(source, axes, frames, transform_of, sink, part, nullptr, here,
                             {lane, lanes, &locks})
                    .run();
        } catch (...) {
            if (failed.exchange(true))
                return; // another thread already reports a failure
            throw;
        }
    });
    AlignResult all;
    for (const AlignResult& each : results) {
        all.total += each.total;
        all.outside += each.outside;
        all.vanished += each.vanished;
        all.rounded += each.rounded;
        all.clamped += each.clamped;
        all.farthest = std::max(all.farthest, each.farthest);
    }
    return all;
}

} // namespace sextant::registration
