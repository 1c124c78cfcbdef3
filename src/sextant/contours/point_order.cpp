// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/point_order.hpp"

#include "sextant/core/scratch_file.hpp"
#include "sextant/kernel/label/line_simplification.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace sextant::distributed {

namespace {

bool comes_before(const RankedPoint& a, const RankedPoint& b) {
    return std::tie(a.head, a.rank) < std::tie(b.head, b.rank);
}

/// The next point of a sorted run during the merge.
struct Front {
    RankedPoint point;
    std::size_t run = 0;
};

/// Writes contours from their points in order. A contour that is too short is discarded after its
/// last point.
class LineWriter {
  public:
    LineWriter(ScratchFile& pixels, ScratchFile& lines, Elements min_points)
        : pixels_(pixels), lines_(lines), min_points_(min_points) {}

    void take(const RankedPoint& point) {
        if (point.rank == 0) {
            end_line();
            line_ = {pixels_.count(), 0, point.closed != 0};
        }
        ++line_.points;
        pixels_.append(point.pixel);
    }
    void finish() {
        end_line();
        pixels_.flush();
        lines_.flush();
    }
    Elements points() const { return pixels_.count(); }
    Elements contours() const { return lines_.count(); }
    Elements closed() const { return closed_; }

  private:
    void end_line() {
        if (line_.points >= min_points_) {
            lines_.append(line_);
            closed_ += line_.closed ? 1 : 0;
        } else {
            pixels_.shorten(line_.first);
        }
        line_ = {};
    }

    ScratchWriter<Elements> pixels_;
    ScratchWriter<ContourLine> lines_;
    const Elements min_points_;
    ContourLine line_; // current contour; no points before the first one
    Elements closed_ = 0;
};

/// Reads contours from the two sorted files.
class LinesOfFiles final : public LineReader {
  public:
    LinesOfFiles(ImageShape image, const ScratchFile& pixels, Elements points,
                 const ScratchFile& lines, Elements contours)
        : image_(image),
          points_(points),
          all_pixels_(pixels, 0, points),
          all_lines_(lines, 0, contours) {}

    ImageShape image() const override { return image_; }
    Elements points() const override { return points_; }
    bool next(ContourLine& line) override { return lines_.next(line); }
    Elements next_pixel() override {
        Elements pixel = 0;
        pixels_.next(pixel);
        return pixel;
    }
    void rewind() override {
        pixels_ = all_pixels_;
        lines_ = all_lines_;
    }

  private:
    ImageShape image_;
    Elements points_;
    const ScratchReader<Elements> all_pixels_; // never read; rewind() copies this reader
    const ScratchReader<ContourLine> all_lines_;
    ScratchReader<Elements> pixels_ = all_pixels_;
    ScratchReader<ContourLine> lines_ = all_lines_;
};

} // namespace

PointOrder::PointOrder(const std::string& scratch, Bytes memory)
    : scratch_(scratch),
      most_(static_cast<std::size_t>(std::max<Bytes>(memory / scratch_size<RankedPoint>, 1))),
      runs_(scratch),
      pixels_(scratch),
      lines_(scratch) {}

void PointOrder::add(std::span<const RankedPoint> points) {
    while (!points.empty()) {
        run_.reserve(most_);
        const std::size_t taken = std::min(most_ - run_.size(), points.size());
        run_.insert(run_.end(), points.begin(),
                    points.begin() + static_cast<std::ptrdiff_t>(taken));
        points = points.subspan(taken);
        if (run_.size() == most_)
            write_run();
    }
}

void PointOrder::write_run() {
    std::ranges::sort(run_, comes_before);
    const Elements begin = ends_.empty() ? 0 : ends_.back();
    runs_.write(begin * scratch_size<RankedPoint>, std::as_bytes(std::span(run_)));
    ends_.push_back(begin + static_cast<Elements>(run_.size()));
    run_.clear();
}

/// Merges all runs. Their readers share the memory of one run.
template <class Take>
void PointOrder::merge_runs(Take&& take) {
    const std::size_t kept =
        std::max<std::size_t>(most_ / std::max<std::size_t>(ends_.size(), 1), 1);
    std::vector<ScratchReader<RankedPoint>> readers;
    const auto later = [](const Front& a, const Front& b) {
        return comes_before(b.point, a.point);
    };
    std::priority_queue<Front, std::vector<Front>, decltype(later)> fronts(later);
    const auto advance = [&](std::size_t run) {
        Front front{{}, run};
        if (readers[run].next(front.point))
            fronts.push(front);
    };
    for (std::size_t run = 0; run < ends_.size(); ++run) {
        readers.emplace_back(runs_, run == 0 ? 0 : ends_[run - 1], ends_[run], kept);
        advance(run);
    }
    while (!fronts.empty()) {
        const Front front = fronts.top();
        fronts.pop();
        take(front.point);
        advance(front.run);
    }
}

void PointOrder::finish(Elements min_points) {
    write_run();
    run_ = {};
    LineWriter writer(pixels_, lines_, std::max<Elements>(min_points, 1));
    merge_runs([&](const RankedPoint& point) { writer.take(point); });
    writer.finish();
    contours_ = writer.contours();
    points_ = writer.points();
    closed_ = writer.closed();
}

void PointOrder::simplify(ImageShape image, double tolerance) {
    ScratchFile pixels(scratch_), lines(scratch_);
    LineWriter writer(pixels, lines, 1);
    const Bytes memory = static_cast<Bytes>(most_) * scratch_size<RankedPoint>;
    kernel::simplify(*reader(image), tolerance,
                     [&](const ContourLine& line, Elements index, Elements pixel) {
                         writer.take({0, pixel, index > 0 ? 1 : 0, line.closed ? 1 : 0});
                     },
                     {.memory = memory, .scratch = scratch_});
    writer.finish();
    points_ = writer.points();
    pixels_ = std::move(pixels);
    lines_ = std::move(lines);
}

std::unique_ptr<LineReader> PointOrder::reader(ImageShape image) const {
    return std::make_unique<LinesOfFiles>(image, pixels_, points_, lines_, contours_);
}

} // namespace sextant::distributed
