// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/tile_registration.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sextant::mosaic {

namespace {

constexpr Elements least_overlap = 16;

/// The samples of the tiles that the next pairs need. The order of the pairs is known, so the tile
/// that is needed last makes room.
class TileCache {
  public:
    TileCache(ImageShape tile, const ReadTile& read, std::span<const Neighbours> pairs,
              Bytes memory, Team& team)
        : tile_(tile), read_(read), team_(team) {
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            uses_[pairs[k].a].push_back(k);
            uses_[pairs[k].b].push_back(k);
        }
        const Bytes each = tile.elements() * static_cast<Bytes>(sizeof(float));
        most_ = static_cast<std::size_t>(std::max<Bytes>(4, memory / each));
    }

    /// Returns the end of the longest list of pairs from `first` on, at most `most`, whose tiles
    /// are held at the same time; reads these tiles.
    std::size_t hold(std::span<const Neighbours> pairs, std::size_t first, std::size_t most) {
        std::vector<int> wanted;
        std::size_t last = first;
        for (; last < pairs.size() && last - first < most; ++last) {
            std::vector<int> more;
            for (const int tile : {pairs[last].a, pairs[last].b}) {
                if (std::find(wanted.begin(), wanted.end(), tile) == wanted.end())
                    more.push_back(tile);
            }
            if (wanted.size() + more.size() > most_)
                break;
            wanted.insert(wanted.end(), more.begin(), more.end());
        }
        std::vector<std::pair<int, std::vector<float>>> missing;
        for (const int tile : wanted) {
            if (!held_.contains(tile))
                missing.emplace_back(tile, std::vector<float>());
        }
        make_room(wanted, missing.size(), first);
        team_.run(static_cast<int>(missing.size()), [&](int part, int member) {
            auto& [tile, samples] = missing[static_cast<std::size_t>(part)];
            samples.resize(static_cast<std::size_t>(tile_.elements()));
            read_(tile, samples, member);
        });
        for (auto& [tile, samples] : missing)
            held_[tile] = std::move(samples);
        read_tiles_ += static_cast<std::int64_t>(missing.size());
        return last;
    }

    std::span<const float> operator[](int tile) const { return held_.at(tile); }
    std::int64_t read_tiles() const { return read_tiles_; }

  private:
    void make_room(std::span<const int> wanted, std::size_t more, std::size_t next) {
        while (!held_.empty() && held_.size() + more > most_) {
            auto last = held_.end();
            std::size_t farthest = 0;
            for (auto each = held_.begin(); each != held_.end(); ++each) {
                const int tile = each->first;
                if (std::find(wanted.begin(), wanted.end(), tile) != wanted.end())
                    continue;
                const std::vector<std::size_t>& uses = uses_.at(tile);
                const auto use = std::lower_bound(uses.begin(), uses.end(), next);
                const std::size_t when =
                    use == uses.end() ? std::numeric_limits<std::size_t>::max() : *use;
                if (last == held_.end() || when > farthest)
                    last = each, farthest = when;
            }
            if (last == held_.end())
                return;
            held_.erase(last);
        }
    }

    const ImageShape tile_;
    const ReadTile& read_;
    Team& team_;
    std::map<int, std::vector<std::size_t>> uses_; ///< the pairs that need each tile
    std::map<int, std::vector<float>> held_;
    std::size_t most_ = 0;
    std::int64_t read_tiles_ = 0;
};

class Run {
  public:
    Run(ImageShape tile, std::span<const Point> stage, const ReadTile& read,
        const TileOptions& options, const RunControl& control)
        : tile_(tile),
          stage_(stage),
          read_(read),
          options_(options),
          control_(control),
          team_(options.threads),
          result_{.flat = FlatField(tile)} {
        for (int i = 0; i < team_.size(); ++i)
            linkers_.emplace_back(tile, options.prefilter);
    }

    TileResult run() {
        if (options_.flat)
            result_.flat =
                estimate_flat_field(tile_, static_cast<int>(stage_.size()), read_, team_);
        std::vector<Point> expected(stage_.begin(), stage_.end());
        link("overlaps", neighbours_of(expected, tile_, least_overlap),
             [](PairLinker& linker, const Neighbours& pair, auto a, auto b) {
                 return linker.search(pair, a, b);
             });
        solve();
        std::map<std::pair<int, int>, Link> searched;
        for (const Link& link : result_.links)
            searched[{link.offset.a, link.offset.b}] = link;
        const std::vector<int> island = result_.positions.island;
        result_.links.clear();
        link("overlaps again", neighbours_of(result_.positions.at, tile_, least_overlap),
             [](PairLinker& linker, const Neighbours& pair, auto a, auto b) {
                 return near(linker.refine(pair, a, b), pair);
             });
        for (Link& link : result_.links) {
            const auto before = searched.find({link.offset.a, link.offset.b});
            take_over(link, before == searched.end() ? Link() : before->second, island);
        }
        solve();
        flag();
        find_levels();
        return std::move(result_);
    }

  private:
    /// Gives a link the lead of its search, if that found the same offset. On a lattice, steps from
    /// any position lead to an offset that looks right, so only searches may connect islands.
    static void take_over(Link& link, const Link& searched, const std::vector<int>& island) {
        constexpr double same = 1.5;
        const Point moved = link.offset.offset - searched.offset.offset;
        if (searched.state == LinkState::found && std::hypot(moved.x, moved.y) < same)
            link.lead = searched.lead;
        const auto at = [&](int tile) { return island[static_cast<std::size_t>(tile)]; };
        if (link.state == LinkState::found && searched.state != LinkState::found &&
            at(link.offset.a) != at(link.offset.b))
            link.state = LinkState::ambiguous;
    }

    /// An offset that steps have led far away from its start fits noise.
    static Link near(Link link, const Neighbours& pair) {
        constexpr double most = 4;
        const Point moved = link.offset.offset - pair.expected;
        if (link.state == LinkState::found && std::hypot(moved.x, moved.y) > most)
            link.state = LinkState::unrelated;
        return link;
    }

    template <class Method>
    void link(const char* part, const std::vector<Neighbours>& pairs, const Method& method) {
        const ReadTile corrected = [&](int tile, std::span<float> to, int thread) {
            read_(tile, to, thread);
            result_.flat.correct(to);
        };
        TileCache tiles(tile_, corrected, pairs, options_.memory, team_);
        const std::size_t most = 4 * static_cast<std::size_t>(team_.size());
        result_.links.resize(pairs.size());
        for (std::size_t first = 0; first < pairs.size();) {
            control_.check();
            control_.report(part, static_cast<std::int64_t>(first),
                            static_cast<std::int64_t>(pairs.size()));
            const std::size_t last = tiles.hold(pairs, first, most);
            team_.run(static_cast<int>(last - first), [&](int number, int member) {
                const std::size_t k = first + static_cast<std::size_t>(number);
                result_.links[k] = method(linkers_[static_cast<std::size_t>(member)], pairs[k],
                                          tiles[pairs[k].a], tiles[pairs[k].b]);
            });
            first = last;
        }
        result_.tiles_read += tiles.read_tiles();
    }

    /// The factor of the covariances of white noise: the median over the links of sandwich
    /// estimates relative to them.
    double noise_factor() const {
        std::vector<double> ratios;
        for (const Link& link : result_.links) {
            if (link.state == LinkState::found)
                ratios.push_back(
                    std::sqrt(link.offset.covariance.determinant() / link.model.determinant()));
        }
        if (ratios.empty())
            return 1;
        return median(ratios);
    }

    /// Combines both estimates of a link's covariance: the sandwich estimate counts by its number
    /// of independent tiles.
    static Symmetric combined(const Link& link, double factor) {
        constexpr double other = 100;
        const double tiles = static_cast<double>(link.pixels) / (32 * 32);
        const Symmetric &c = link.offset.covariance, &m = link.model;
        const auto mean = [&](double own, double model) {
            return (tiles * own + other * factor * model) / (tiles + other);
        };
        return {mean(c.xx, m.xx), mean(c.xy, m.xy), mean(c.yy, m.yy)};
    }

    void solve() {
        const double factor = noise_factor();
        std::vector<Offset> offsets;
        result_.offset_of.clear();
        for (const Link& link : result_.links) {
            const bool used = link.state == LinkState::found;
            result_.offset_of.push_back(used ? static_cast<int>(offsets.size()) : -1);
            if (used) {
                offsets.push_back(link.offset);
                offsets.back().covariance = combined(link, factor);
            }
        }
        result_.positions = solve_positions(stage_, offsets, options_.positions);
    }

    void find_levels() {
        std::vector<LevelRatio> ratios;
        for (std::size_t l = 0; l < result_.links.size(); ++l) {
            const Link& link = result_.links[l];
            const int number = result_.offset_of[l];
            if (number >= 0 && result_.positions.kept[static_cast<std::size_t>(number)] != 0 &&
                link.level > 0)
                ratios.push_back(
                    {link.offset.a, link.offset.b, link.level, static_cast<double>(link.pixels)});
        }
        result_.levels = solve_levels(stage_.size(), ratios);
    }

    void flag() {
        const Positions& found = result_.positions;
        std::vector<int> tiles(static_cast<std::size_t>(found.islands), 0);
        for (const int island : found.island)
            ++tiles[static_cast<std::size_t>(island)];
        const auto largest = std::max_element(tiles.begin(), tiles.end()) - tiles.begin();
        std::vector<double> evidence(stage_.size(), 0); // the sum of the squares of all leads
        for (std::size_t l = 0; l < result_.links.size(); ++l) {
            const int number = result_.offset_of[l];
            if (number < 0 || found.kept[static_cast<std::size_t>(number)] == 0)
                continue;
            for (const int tile : {result_.links[l].offset.a, result_.links[l].offset.b})
                evidence[static_cast<std::size_t>(tile)] += std::pow(result_.links[l].lead, 2);
        }
        constexpr double most_deviation = .5, clear_lead = 4;
        for (std::size_t i = 0; i < stage_.size(); ++i) {
            const int island = found.island[i];
            const Symmetric& covariance = found.covariance[i];
            TileFlag flag = TileFlag::none;
            if (tiles[static_cast<std::size_t>(island)] == 1 && stage_.size() > 1)
                flag = TileFlag::alone;
            else if (island != largest)
                flag = TileFlag::island;
            else if (std::max(covariance.xx, covariance.yy) > most_deviation * most_deviation)
                flag = TileFlag::uncertain;
            else if (evidence[i] < clear_lead * clear_lead && stage_.size() > 1)
                flag = TileFlag::unverified;
            result_.flags.push_back(flag);
        }
    }

    const ImageShape tile_;
    const std::span<const Point> stage_;
    const ReadTile& read_;
    const TileOptions& options_;
    const RunControl& control_;
    Team team_;
    std::vector<PairLinker> linkers_; ///< per thread
    TileResult result_;
};

} // namespace

TileResult register_tiles(ImageShape tile, std::span<const Point> stage, const ReadTile& read,
                          const TileOptions& options, const RunControl& control) {
    if (stage.empty())
        throw InvalidTask("a mosaic of no tiles: expected at least one tile");
    if (tile.width < least_overlap || tile.height < least_overlap)
        throw InvalidTask(fmt::format("tiles of {}x{} pixels: expected at least {}x{}", tile.width,
                                      tile.height, least_overlap, least_overlap));
    for (std::size_t i = 0; i < stage.size(); ++i) {
        if (!std::isfinite(stage[i].x) || !std::isfinite(stage[i].y))
            throw InvalidTask(fmt::format("tile {}: its position by the stage is not finite", i));
    }
    return Run(tile, stage, read, options, control).run();
}

} // namespace sextant::mosaic
