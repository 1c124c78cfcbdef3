// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/drawn_images.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::compositing {

namespace {

void sort_once(std::vector<std::int64_t>& edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

} // namespace

DrawnImages::DrawnImages(const Task& task, Elements width, std::span<const DrawnImage> images)
    : task_(task),
      width_(width),
      images_(images.begin(), images.end()),
      cells_(static_cast<std::size_t>(task.positions())) {
    if (task_.positions() > 0)
        share(bands());
}

/// The cells of some rows, from left to right.
DrawnImages::Band DrawnImages::band_of(std::int64_t top, std::int64_t bottom) const {
    std::vector<std::int64_t> edges{0, width_};
    std::vector<int> present;
    for (int i = 0; i < static_cast<int>(images_.size()); ++i) {
        const DrawnImage& each = image(i);
        if (each.width < 1 || each.top > top || each.top + each.height < bottom)
            continue;
        present.push_back(i);
        edges.push_back(each.left);
        edges.push_back(each.left + each.width);
    }
    sort_once(edges);
    Band band;
    for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
        Cell cell{edges[e], edges[e + 1], top, bottom, {}};
        for (const int i : present) {
            if (image(i).left <= cell.left && image(i).left + image(i).width >= cell.right)
                cell.images.push_back(i);
        }
        if (!band.empty() && band.back().images == cell.images)
            band.back().right = cell.right;
        else
            band.push_back(std::move(cell));
    }
    return band;
}

/// Bands of rows, from top to bottom.
std::vector<DrawnImages::Band> DrawnImages::bands() const {
    if (width_ == 0)
        return {};
    std::vector<std::int64_t> edges{0, task_.elements / width_};
    for (const DrawnImage& each : images_) {
        if (each.width > 0 && each.height > 0) {
            edges.push_back(each.top);
            edges.push_back(each.top + each.height);
        }
    }
    sort_once(edges);
    std::vector<Band> bands;
    for (std::size_t e = 0; e + 1 < edges.size(); ++e)
        bands.push_back(band_of(edges[e], edges[e + 1]));
    return bands;
}

/// Divides the rows among positions so that each position reads and writes about the same number of
/// pixels.
void DrawnImages::share(const std::vector<Band>& bands) {
    const auto work_of_row = [](const Band& band) {
        Elements work = 0;
        for (const Cell& cell : band)
            work += (static_cast<Elements>(cell.images.size()) + 1) * (cell.right - cell.left);
        return work;
    };
    Elements all = 0;
    for (const Band& band : bands)
        all += work_of_row(band) * (band.front().bottom - band.front().top);
    const int positions = task_.positions();
    Elements done = 0;
    int owner = 0;
    const auto end_of = [&](int position) {
        return all / positions * (position + 1) + all % positions * (position + 1) / positions;
    };
    rows_.assign(1, 0);
    for (const Band& band : bands) {
        const Elements row = work_of_row(band);
        for (std::int64_t at = band.front().top; at < band.front().bottom;) {
            const Elements room = std::max<Elements>(0, end_of(owner) - done);
            const bool is_last = owner + 1 == positions;
            if (!is_last && 2 * room < row) { // most of the next row is in the next position's part
                ++owner;
                rows_.push_back(at);
                continue;
            }
            const std::int64_t left = band.front().bottom - at;
            const std::int64_t count =
                is_last ? left : std::clamp<std::int64_t>(room / row, 1, left);
            for (Cell cell : band) {
                cell.top = at;
                cell.bottom = at + count;
                cells_[static_cast<std::size_t>(owner)].push_back(std::move(cell));
            }
            at += count;
            done += count * row;
        }
    }
    rows_.resize(static_cast<std::size_t>(positions) + 1, width_ > 0 ? task_.elements / width_ : 0);
}

Piece DrawnImages::piece(int position) const {
    const auto at = static_cast<std::size_t>(position);
    return {rows_[at] * width_, (rows_[at + 1] - rows_[at]) * width_};
}

/// The pixels of a cell in an image of the input.
Region DrawnImages::region_of(const DrawnImage& image, const Cell& cell, int input) const {
    return {input, image.at.image * task_.elements + cell.top * width_ + cell.left,
            cell.right - cell.left, width_, cell.bottom - cell.top};
}

Program DrawnImages::program(int position) const {
    const int positions = task_.positions();
    const bool has_images = position < positions, is_root = position == task_.root;
    ProgramBuilder builder;
    int input = -1;
    if (has_images)
        input = builder.input(task_.elements * task_.layers_at(position)).buffer;
    const Piece own = has_images ? piece(position) : Piece{};
    Region target; // the region of this position's cells
    Region picture;
    if (is_root)
        target = picture = builder.output(positions > 0 ? task_.elements : 0);
    else
        target = builder.scratch(own.count);
    for (int other = 0; has_images && other < positions; ++other) {
        if (other == position)
            continue;
        std::vector<Region> message;
        for (const Cell& cell : cells_of(other)) {
            for (const int i : cell.images) {
                if (image(i).at.position == position)
                    message.push_back(region_of(image(i), cell, input));
            }
        }
        builder.send(other, message);
    }
    // The pixels of other positions, one block for each cell and image.
    std::vector<std::vector<Region>> sources; // by cell and image
    std::vector<Region> message;
    if (has_images) {
        for (const Cell& cell : cells_of(position))
            sources.emplace_back(cell.images.size());
    }
    for (int other = 0; has_images && other < positions; ++other) {
        message.clear();
        Elements filled = 0;
        for (const Cell& cell : cells_of(position)) {
            for (const int i : cell.images)
                filled += image(i).at.position == other ? cell.pixels() : 0;
        }
        const int slot = other == position ? input : builder.scratch(filled).buffer;
        filled = 0;
        for (std::size_t c = 0; c < sources.size(); ++c) {
            const Cell& cell = cells_of(position)[c];
            for (std::size_t i = 0; i < cell.images.size(); ++i) {
                const DrawnImage& drawn = image(cell.images[i]);
                if (drawn.at.position != other)
                    continue;
                sources[c][i] = other == position ? region_of(drawn, cell, input)
                                                  : block(slot, filled, cell.pixels());
                filled += cell.pixels();
                message.push_back(sources[c][i]);
            }
        }
        if (other != position)
            builder.receive(other, message);
    }
    for (std::size_t c = 0; c < sources.size(); ++c) {
        const Cell& cell = cells_of(position)[c];
        const Elements row =
            is_root ? cell.top : cell.top - rows_[static_cast<std::size_t>(position)];
        const Region made{target.buffer, row * width_ + cell.left, cell.right - cell.left, width_,
                          cell.bottom - cell.top};
        builder.compute(static_cast<int>(sources[c].size()), sources[c], {&made, 1}, true);
    }
    if (task_.root == Task::distributed)
        return builder.finish(target);
    builder.round(1);
    if (!is_root) {
        builder.send(task_.root, target);
        return builder.finish({});
    }
    for (int other = 0; other < positions; ++other) {
        const Piece part = piece(other);
        if (other != position)
            builder.receive(other, block(picture.buffer, part.first, part.count));
    }
    return builder.finish(picture);
}

Claim DrawnImages::claim() const {
    const int layers = static_cast<int>(images_.size());
    Claim claim;
    claim.given = [images = images_, elements = task_.elements](int rank, int, Elements element) {
        const PlacedImage at{rank, static_cast<int>(element / elements)};
        int layer = 0;
        while (!(images[static_cast<std::size_t>(layer)].at == at))
            ++layer;
        return Symbol{element % elements, layer, layer + 1, 0};
    };
    claim.computed = [images = images_, width = width_, layers](int, const Program& program,
                                                                const Step& step,
                                                                const std::vector<Symbol>& read) {
        const Elements pixels = program.made_by(step)[0].elements();
        if (static_cast<Elements>(read.size()) != pixels * step.kernel)
            throw std::logic_error(
                "a blend kernel does not read one pixel per operand for each pixel that it writes");
        std::vector<Symbol> made;
        for (Elements i = 0; i < pixels; ++i) {
            // Pixels outside every image have no operand, so their element stays undefined.
            Symbol sum{Symbol::undefined, 0, layers, 0};
            std::vector<int> found, expected;
            for (int k = 0; k < step.kernel; ++k) {
                const Symbol& operand = read[static_cast<std::size_t>(k * pixels + i)];
                if (k > 0 && operand.element != sum.element)
                    throw std::logic_error("a blend kernel combines operands of different pixels");
                sum.element = operand.element;
                sum.depth = std::max(sum.depth, operand.depth + 1);
                found.push_back(operand.first);
            }
            for (int layer = 0; step.kernel > 0 && layer < layers; ++layer) {
                const DrawnImage& image = images[static_cast<std::size_t>(layer)];
                const Elements x = sum.element % width - image.left,
                               y = sum.element / width - image.top;
                if (x >= 0 && x < image.width && y >= 0 && y < image.height)
                    expected.push_back(layer);
            }
            if (found != expected)
                throw std::logic_error(
                    "a blend kernel does not blend exactly the images that contain the pixel");
            if (step.kernel == 0) // an empty pixel: the claim checks its position instead
                sum = {0, 0, 0, 0};
            made.push_back(sum);
        }
        return made;
    };
    const DrawnImages self = *this;
    claim.wanted = [self, layers](int rank, const std::vector<Symbol>& result) {
        const bool is_root = rank == self.task_.root;
        const bool holds = self.task_.root == Task::distributed && rank < self.task_.positions();
        const Piece part = is_root && self.task_.positions() > 0 ? Piece{0, self.task_.elements}
                           : holds                               ? self.piece(rank)
                                                                 : Piece{};
        if (static_cast<Elements>(result.size()) != part.count)
            return fmt::format("holds {} pixels, expected {}", result.size(), part.count);
        for (Elements i = 0; i < part.count; ++i) {
            const Elements pixel = part.first + i;
            const bool drawn =
                std::any_of(self.images_.begin(), self.images_.end(), [&](const DrawnImage& image) {
                    const Elements x = pixel % self.width_ - image.left,
                                   y = pixel / self.width_ - image.top;
                    return x >= 0 && x < image.width && y >= 0 && y < image.height;
                });
            const Symbol& symbol = result[static_cast<std::size_t>(i)];
            const bool right = drawn ? symbol.element == pixel && symbol.last == layers
                                     : symbol.element == 0 && symbol.last == 0;
            if (!right)
                return fmt::format("pixel {} holds pixel {}", pixel, symbol.element);
        }
        return std::string();
    };
    return claim;
}

} // namespace sextant::compositing
