// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/line_simplification.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/scratch_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

/// The points of all contours, one bit per pixel, in square blocks. Blocks without points take no
/// memory; the others are moved to a scratch file if they exceed the memory limit.
class PointMask {
  public:
    PointMask(ImageShape image, const MaskStorage& storage)
        : columns_((image.width + side - 1) / side),
          blocks_(static_cast<std::size_t>(columns_ * ((image.height + side - 1) / side))),
          most_(std::max<Bytes>(storage.memory / scratch_size<Words>, 2)),
          scratch_(storage.scratch) {}

    void flip(Elements x, Elements y) { block(x, y)[index(x, y)] ^= std::uint64_t{1} << (x % 64); }
    bool at(Elements x, Elements y) { return any(x, x, y); }
    /// True if there is a point in row y from column `first` to column `last`.
    bool any(Elements first, Elements last, Elements y) {
        while (first <= last) {
            const Elements end = std::min(last, first | 63); // within a word
            const std::uint64_t wanted =
                ~std::uint64_t{0} << (first % 64) & ~std::uint64_t{0} >> (63 - end % 64);
            if ((block(first, y)[index(first, y)] & wanted) != 0)
                return true;
            first = end + 1;
        }
        return false;
    }

  private:
    static constexpr Elements side = 256;
    using Words = std::array<std::uint64_t, side * side / 64>;
    struct Block {
        std::unique_ptr<Words> words;
        bool stored = false; ///< the scratch file has an earlier state
        bool used = false;   ///< true if used since it was last considered for removal
    };

    static std::size_t index(Elements x, Elements y) {
        return static_cast<std::size_t>(y % side * (side / 64) + x % side / 64);
    }
    Words& block(Elements x, Elements y) {
        const Elements number = y / side * columns_ + x / side;
        Block& found = blocks_[static_cast<std::size_t>(number)];
        if (!found.words)
            load(number);
        found.used = true;
        return *found.words;
    }

    void load(Elements number) {
        if (static_cast<Bytes>(resident_.size()) >= most_)
            remove_one();
        Block& block = blocks_[static_cast<std::size_t>(number)];
        block.words = std::make_unique<Words>();
        if (block.stored)
            file_->read(number * scratch_size<Words>,
                        std::as_writable_bytes(std::span(*block.words)));
        resident_.push_back(number);
    }
    /// Moves a block that was not used recently to the scratch file (clock algorithm).
    void remove_one() {
        for (;; ++hand_) {
            hand_ = hand_ < resident_.size() ? hand_ : 0;
            Block& block = blocks_[static_cast<std::size_t>(resident_[hand_])];
            if (!std::exchange(block.used, false))
                break;
        }
        const Elements number = resident_[hand_];
        Block& block = blocks_[static_cast<std::size_t>(number)];
        if (!file_)
            file_.emplace(scratch_);
        file_->write(number * scratch_size<Words>, std::as_bytes(std::span(*block.words)));
        block.stored = true;
        block.words.reset();
        resident_[hand_] = resident_.back();
        resident_.pop_back();
    }

    const Elements columns_;
    std::vector<Block> blocks_;
    const Bytes most_;               ///< number of blocks in memory
    std::vector<Elements> resident_; ///< numbers of the blocks in memory
    std::size_t hand_ = 0;
    const std::string scratch_;
    std::optional<ScratchFile> file_;
};

/// A point of a piece of a contour.
struct PiecePoint {
    std::int64_t x, y;
};

/// A crossing of the boundary of an area and a row: all columns greater than `column` are to the
/// right of it.
struct RowCrossing {
    std::int64_t y, column;
    bool operator<(const RowCrossing& other) const {
        return y != other.y ? y < other.y : column < other.column;
    }
};

std::int64_t squared(std::int64_t value) {
    return value * value;
}

std::int64_t floor_of_ratio(std::int64_t a, std::int64_t positive) {
    return a >= 0 ? a / positive : -((-a + positive - 1) / positive);
}

/// Simplifies one piece of a contour.
class PieceSimplification {
  public:
    PieceSimplification(PointMask& mask, double tolerance) : mask_(mask), tolerance_(tolerance) {}

    /// Chooses the points to keep: the first and last one, and those between them that are needed.
    /// `closed`: the last point is the first one.
    void simplify(std::vector<PiecePoint>&& points, bool closed) {
        points_ = std::move(points);
        kept_.assign(points_.size(), false);
        kept_.front() = kept_.back() = true;
        if (closed)
            close();
        else
            divide(0, points_.size() - 1);
    }
    /// Calls `take(point, last)` with each kept point except the first.
    template <class Take>
    void each_kept(Take&& take) const {
        for (std::size_t i = 1; i < points_.size(); ++i) {
            if (kept_[i])
                take(points_[i], i + 1 == points_.size());
        }
    }

  private:
    /// Divides the stretch between two kept points as far as necessary.
    void divide(std::size_t first, std::size_t last) {
        stretches_.assign(1, {first, last});
        while (!stretches_.empty()) {
            const auto [begin, end] = stretches_.back();
            stretches_.pop_back();
            if (end - begin < 2)
                continue;
            check_cancelled(static_cast<Elements>(end - begin));
            const Farthest farthest = farthest_of(begin, end);
            if (!replaceable(begin, end, farthest))
                divide_at(begin, farthest.index, end);
        }
    }

    void close() {
        std::size_t opposite = 0;
        const auto from_head = [&](std::size_t i) {
            return squared(points_[i].x - points_[0].x) + squared(points_[i].y - points_[0].y);
        };
        for (std::size_t i = 1; i < points_.size(); ++i) {
            if (from_head(i) > from_head(opposite))
                opposite = i;
        }
        const std::size_t last = points_.size() - 1;
        kept_[opposite] = true;
        divide(0, opposite);
        divide(opposite, last);
        if (last < 3 || std::count(kept_.begin(), kept_.end(), true) > 3)
            return;
        // Only two points are kept: also keep the point farthest from the segment between them.
        const Farthest one = farthest_of(0, opposite), other = farthest_of(opposite, last);
        const bool there = other.score > one.score;
        const std::size_t begin = there ? opposite : 0, end = there ? last : opposite;
        const std::size_t third = there ? other.index : one.index;
        kept_[third] = true;
        divide(begin, third);
        divide(third, end);
    }

    /// The point of a stretch that is farthest from the segment between its ends.
    struct Farthest {
        std::size_t index = 0;
        std::int64_t score = -1; ///< squared distance times squared length of the segment
    };

    Farthest farthest_of(std::size_t first, std::size_t last) const {
        const PiecePoint a = points_[first], b = points_[last];
        const std::int64_t dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
        Farthest farthest;
        for (std::size_t i = first + 1; i < last; ++i) {
            const std::int64_t x = points_[i].x - a.x, y = points_[i].y - a.y;
            const std::int64_t along = x * dx + y * dy;
            std::int64_t score = squared(x * dy - y * dx);
            if (along < 0)
                score = (x * x + y * y) * length;
            else if (along > length)
                score = (squared(x - dx) + squared(y - dy)) * length;
            if (score > farthest.score)
                farthest = {i, score};
        }
        return farthest;
    }

    bool replaceable(std::size_t first, std::size_t last, const Farthest& farthest) {
        if (farthest.score <= 0)
            return true; // a straight run, which covers all pixels of the segment
        const PiecePoint a = points_[first], b = points_[last];
        const auto length = static_cast<double>(squared(b.x - a.x) + squared(b.y - a.y));
        return static_cast<double>(farthest.score) <= tolerance_ * tolerance_ * length &&
               sweeps_no_point(first, last);
    }

    /// True if no point outside the stretch is on the segment between its ends or in the area
    /// between both.
    bool sweeps_no_point(std::size_t first, std::size_t last) {
        flip(first, last);
        const bool free = segment_is_free(first, last) && area_is_free(first, last);
        flip(first, last);
        return free;
    }

    /// Removes the points of a stretch from the mask, or inserts them again.
    void flip(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i <= last; ++i)
            mask_.flip(points_[i].x, points_[i].y);
    }

    /// True if no other point is on the segment. Also lists the segment's crossings with rows.
    bool segment_is_free(std::size_t first, std::size_t last) {
        PiecePoint a = points_[first], b = points_[last];
        crossings_.clear();
        if (a.y > b.y)
            std::swap(a, b);
        const std::int64_t dx = b.x - a.x, dy = b.y - a.y;
        if (dy == 0)
            return !mask_.any(std::min(a.x, b.x), std::max(a.x, b.x), a.y);
        for (std::int64_t y = a.y; y < b.y; ++y) {
            const std::int64_t right = dx * (y - a.y), column = a.x + floor_of_ratio(right, dy);
            if ((column - a.x) * dy == right && mask_.at(column, y))
                return false;
            crossings_.push_back({y, column});
        }
        return true;
    }

    /// True if no other point is in the area between the stretch and the segment.
    /// Requires  the segment's crossings.
    bool area_is_free(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            if (points_[i].y != points_[i + 1].y) {
                const PiecePoint& upper =
                    points_[i].y < points_[i + 1].y ? points_[i] : points_[i + 1];
                crossings_.push_back({upper.y, upper.x});
            }
        }
        std::sort(crossings_.begin(), crossings_.end());
        for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2) {
            if (mask_.any(crossings_[i].column + 1, crossings_[i + 1].column, crossings_[i].y))
                return false;
        }
        return true;
    }

    void divide_at(std::size_t first, std::size_t at, std::size_t last) {
        kept_[at] = true;
        stretches_.emplace_back(first, at);
        stretches_.emplace_back(at, last);
    }

    PointMask& mask_;
    double tolerance_;
    std::vector<PiecePoint> points_;
    std::vector<bool> kept_;
    std::vector<std::pair<std::size_t, std::size_t>> stretches_;
    std::vector<RowCrossing> crossings_;
};

/// Simplifies one contour after another.
class ContourSimplification {
  public:
    ContourSimplification(LineReader& contours, double tolerance, const KeepPoint& keep,
                          const MaskStorage& storage)
        : contours_(contours),
          keep_(keep),
          width_(contours.image().width),
          mask_(contours.image(), storage),
          piece_(mask_, tolerance) {}

    void run() {
        ContourLine line;
        while (contours_.next(line)) {
            check_cancelled(line.points);
            for (Elements i = 0; i < line.points; ++i) {
                const PiecePoint point = next_point();
                mask_.flip(point.x, point.y);
            }
        }
        contours_.rewind();
        while (contours_.next(line))
            simplify_line(line);
    }

  private:
    PiecePoint next_point() {
        const Elements pixel = contours_.next_pixel();
        return {pixel % width_, pixel / width_};
    }

    /// Simplifies a contour piece by piece. The end of a piece is the beginning of the next one.
    void simplify_line(const ContourLine& line) {
        const Elements links = line.points - (line.closed ? 0 : 1);
        const bool whole = links <= links_per_piece;
        // At least three pieces, so that at least three points are kept.
        const Elements most = line.closed && !whole ? links_per_piece / 2 : links_per_piece;
        const PiecePoint head = next_point();
        Elements index = 0;
        keep_(line, index++, head.y * width_ + head.x);
        PiecePoint begin = head;
        for (Elements done = 0; done < links;) {
            const Elements end = std::min(done + most, links);
            std::vector<PiecePoint> points{begin};
            points.reserve(static_cast<std::size_t>(end - done + 1));
            for (++done; done <= end; ++done)
                points.push_back(done < line.points ? next_point() : head);
            done = end;
            begin = points.back();
            piece_.simplify(std::move(points), line.closed && whole);
            piece_.each_kept([&](const PiecePoint& point, bool last) {
                if (!(last && done == line.points))
                    keep_(line, index++, point.y * width_ + point.x);
            });
        }
    }

    LineReader& contours_;
    const KeepPoint& keep_;
    const Elements width_;
    PointMask mask_;
    PieceSimplification piece_;
};

} // namespace

void simplify(LineReader& contours, double tolerance, const KeepPoint& keep,
              const MaskStorage& storage) {
    if (!(tolerance >= 0 && tolerance <= most_tolerance))
        throw InvalidTask(
            fmt::format("simplify {}: expected a number from 0 to {}", tolerance, most_tolerance));
    ContourSimplification(contours, tolerance, keep, storage).run();
}

} // namespace sextant::kernel
