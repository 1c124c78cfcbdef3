// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/matched_pixels.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::registration {

namespace {

constexpr Elements least_side = 16; ///< of the rectangle that is compared, pixels

constexpr std::string_view expected_shapes =
    "GeoJSON polygons, or an object with the lists x and y or with coordinates";

Point point_of(const JsonField& x, const JsonField& y) {
    constexpr double most = 1e9;
    return {x.number(-most, most), y.number(-most, most)};
}

/// Reads a list of [x, y] as an outline, or a list of such lists as the outlines of a polygon. Adds
/// the polygons of longer nested lists, as in a MultiPolygon.
void add_coordinates(const JsonField& field, std::vector<Polygon>& polygons) {
    const auto is_point = [](const JsonField& each) {
        return each.size() >= 2 && each[0].is_number();
    };
    const auto outline_of = [](const JsonField& each) {
        std::vector<Point> outline;
        for (const JsonField& point : each.items())
            outline.push_back(point_of(point[0], point[1]));
        return outline;
    };
    const std::vector<JsonField> items = field.items();
    if (items.empty())
        field.refuse("a polygon");
    if (is_point(items.front())) {
        polygons.push_back({outline_of(field)});
    } else if (items.front().size() > 0 && is_point(items.front()[0])) {
        Polygon& polygon = polygons.emplace_back();
        for (const JsonField& each : items)
            polygon.push_back(outline_of(each));
    } else {
        for (const JsonField& each : items)
            add_coordinates(each, polygons);
    }
}

void add_polygons(const JsonField& field, std::vector<Polygon>& polygons) {
    if (!field.is_object()) {
        for (const JsonField& each : field.items())
            add_polygons(each, polygons);
        return;
    }
    for (const char* list : {"features", "geometries"}) {
        if (const auto found = field.find(list))
            return add_polygons(*found, polygons);
    }
    if (const auto geometry = field.find("geometry"))
        return add_polygons(*geometry, polygons);
    const auto type = field.find("type");
    const std::string name = type ? type->text() : "";
    if (const auto coordinates = field.find("coordinates");
        coordinates && (name.empty() || name.ends_with("olygon")))
        return add_coordinates(*coordinates, polygons);
    const auto x = field.find("x"), y = field.find("y");
    if (!x || !y)
        field.refuse(std::string(expected_shapes));
    y->require_size(x->size(), fmt::format("{} numbers, as x has", x->size()));
    std::vector<Point>& outline = polygons.emplace_back().emplace_back();
    for (std::size_t i = 0; i < x->size(); ++i)
        outline.push_back(point_of((*x)[i], (*y)[i]));
}

/// Sets the pixels whose centre is inside the polygon to 1. A point is inside if a ray from it
/// crosses outlines an odd number of times.
void fill(const Polygon& polygon, ImageShape shape, std::vector<std::uint8_t>& counts) {
    std::vector<double> crossings;
    for (Elements row = 0; row < shape.height; ++row) {
        const double y = static_cast<double>(row) + .5;
        crossings.clear();
        for (const std::vector<Point>& outline : polygon) {
            for (std::size_t i = 0; i < outline.size(); ++i) {
                const Point &a = outline[i], &b = outline[(i + 1) % outline.size()];
                if ((a.y <= y) != (b.y <= y))
                    crossings.push_back(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x));
            }
        }
        std::ranges::sort(crossings);
        const auto first_after = [&](double x) {
            const double column = std::ceil(x - .5);
            return static_cast<Elements>(std::clamp(column, 0., static_cast<double>(shape.width)));
        };
        for (std::size_t i = 0; i + 1 < crossings.size(); i += 2)
            for (Elements x = first_after(crossings[i]); x < first_after(crossings[i + 1]); ++x)
                counts[static_cast<std::size_t>(row * shape.width + x)] = 1;
    }
}

/// Returns the rectangle as an area inside the frames.
PixelArea area_in(std::span<const std::int64_t> rectangle, const FrameSource& series) {
    const ImageShape shape = series.header().shape;
    if (rectangle.empty())
        return area_of(shape);
    PixelArea area;
    if (rectangle.size() == 4)
        area = {rectangle[0], rectangle[1], {rectangle[2], rectangle[3]}};
    if (area.shape.width < least_side || area.shape.height < least_side ||
        !contains(area_of(shape), area))
        throw InvalidData(fmt::format(
            "roi {}: expected x, y, width and height of at least {}x{} pixels inside the frames of "
            "{}, which have {}x{} pixels",
            fmt::join(rectangle, ","), least_side, least_side, series.path(), shape.width,
            shape.height));
    return area;
}

} // namespace

std::vector<Polygon> read_polygons(const std::string& path) {
    std::vector<Polygon> polygons;
    const JsonField whole = JsonField::read(path);
    add_polygons(whole, polygons);
    if (polygons.empty())
        whole.refuse(std::string(expected_shapes));
    return polygons;
}

MatchedPixels matched_pixels(const MatchedRegion& region, std::span<const std::int64_t> rectangle,
                             const FrameSource& series, bool whole) {
    const ImageShape shape = series.header().shape;
    const PixelArea inside = area_in(rectangle, series);
    std::vector<std::uint8_t> counts(static_cast<std::size_t>(shape.elements()), region.empty());
    std::string name = "roi";
    MatchedPixels matched;
    if (region.mask) {
        const std::unique_ptr<FrameSource> mask = region.mask();
        name = mask->path();
        const std::vector<double> samples = samples_of_image(*mask, series);
        std::ranges::transform(samples, counts.begin(),
                               [](double value) { return std::isfinite(value) && value != 0; });
        const auto set = std::ranges::count(counts, 1);
        constexpr double suspicious = .9;
        const double masked = 1 - static_cast<double>(set) / static_cast<double>(shape.elements());
        if (masked > suspicious)
            matched.warning = fmt::format("{}: {:.3g} % of the pixels are masked (0); invert the "
                                          "mask if these are the pixels to compare",
                                          name, 100 * masked);
    }
    for (const Polygon& polygon : region.polygons)
        fill(polygon, shape, counts);
    PixelArea around;
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x) {
            const PixelArea pixel{x, y, {1, 1}};
            std::uint8_t& count = counts[static_cast<std::size_t>(y * shape.width + x)];
            if (!contains(inside, pixel))
                count = 0;
            if (count == 0)
                continue;
            ++matched.pixels;
            around = enclosing_area(around, pixel);
        }
    }
    if (matched.pixels == 0)
        throw InvalidData(fmt::format("{}: no pixel of the frames of {} is selected, expected some",
                                      region.mask ? name : "mask", series.path()));
    matched.box = whole ? area_of(shape) : around;
    if (std::min(matched.box.shape.width, matched.box.shape.height) < least_side)
        throw InvalidData(fmt::format(
            "mask and roi: the selected pixels are within {}x{} pixels, expected at least {}x{}",
            around.shape.width, around.shape.height, least_side, least_side));
    constexpr double least = .3;
    const double part =
        static_cast<double>(matched.pixels) / static_cast<double>(matched.box.shape.elements());
    if (part < least)
        throw InvalidData(
            fmt::format("mask and roi: only {:.2g} % of the {}x{} pixels {} are selected, expected "
                        "at least {:.0f} %{}",
                        100 * part, matched.box.shape.width, matched.box.shape.height,
                        whole ? "of a frame" : "of the smallest rectangle around them", 100 * least,
                        whole ? " with displacement fields or scanned rows" : ""));
    const PixelArea& box = matched.box;
    for (Elements y = box.y; y < box.y + box.shape.height; ++y) {
        const auto first = counts.begin() + y * shape.width + box.x;
        matched.counts.insert(matched.counts.end(), first, first + box.shape.width);
    }
    const std::int64_t place[] = {box.x, box.y, box.shape.width, box.shape.height};
    matched.hash = checksum_of(std::as_bytes(std::span(matched.counts))) +
                   3 * checksum_of(std::as_bytes(std::span(place)));
    return matched;
}

std::unique_ptr<FrameSource> matched_frames(FrameSource& source, const MatchedPixels& matched) {
    FrameHeader header = as_grey_floats(source.header());
    header.shape = matched.box.shape;
    const auto read = [&source, &matched, whole = std::vector<float>()](
                          std::int64_t frame, Rows rows, std::span<std::byte> to) mutable {
        const PixelArea& box = matched.box;
        const Elements width = source.header().shape.width;
        resize_buffer(whole, static_cast<std::size_t>(rows.count() * width));
        source.read_rows(frame, {box.y + rows.first, box.y + rows.last}, whole);
        float* sample = reinterpret_cast<float*>(to.data());
        const std::uint8_t* counts = matched.counts.data() + rows.first * box.shape.width;
        for (Elements y = 0; y < rows.count(); ++y) {
            const float* const from = whole.data() + y * width + box.x;
            for (Elements x = 0; x < box.shape.width; ++x)
                *sample++ = *counts++ != 0 ? from[x] : std::numeric_limits<float>::quiet_NaN();
        }
    };
    return std::make_unique<FrameSource>(source.path(), std::move(header), FrameReading{read});
}

} // namespace sextant::registration
