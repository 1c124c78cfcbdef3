// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/label/plane_seam.hpp"
#include "sextant/label/components.hpp"
#include "sextant/label/run.hpp"
#include "sextant/label/stitch_counts.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sextant::label {

using kernel::Body;
using kernel::Label;
using kernel::PlaneRuns;
using kernel::RegionSize;

namespace {

using Regions = std::unordered_map<std::uint64_t, Body>; // [value]

void add(Regions& regions, const Body& body) {
    regions[body.value].add(body);
}

/// Measures the regions in one rank's slabs.
class RegionRun {
  public:
    explicit RegionRun(Slabs& slabs) : slabs_(slabs) {}

    void add_slab(Elements slab, LabelRegions& result);
    /// Adds contacts between this rank's first plane and the plane before it, on another rank.
    void add_contacts(const PlaneRuns& before);

    const std::optional<PlaneRuns>& last_plane() const { return last_; }
    /// Moves out the measures of all regions, by ascending value.
    std::vector<Body> take_regions();

  private:
    void add_part(const Slabs::Part& part, Regions& regions) const;
    void add_contacts(const PlaneRuns& front, const PlaneRuns& back);

    Slabs& slabs_;
    Regions regions_;
    std::optional<PlaneRuns> first_, last_; // planes of this rank
};

/// Measures the components of a part, and adds them to their regions.
void RegionRun::add_part(const Slabs::Part& part, Regions& regions) const {
    const std::vector<std::uint8_t> wanted(part.labeller.count(), 1);
    slabs_.measure(part, wanted, [&](Label, const Body& body, int) { add(regions, body); });
}

void RegionRun::add_slab(Elements slab, LabelRegions& result) {
    timed(result.read, [&] { slabs_.read(slab, true); });
    timed(result.label, [&] {
        slabs_.find();
        std::vector<Regions> parts(slabs_.parts_of_slab());
        slabs_.each_part(
            [&](std::size_t index, const Slabs::Part& part) { add_part(part, parts[index]); });
        for (Regions& part : parts) {
            if (regions_.empty())
                regions_ = std::move(part);
            for (const auto& [value, body] : std::exchange(part, {}))
                add(regions_, body);
        }
        for (const Slabs::Part& part : slabs_.parts()) {
            if (part.planes == 0)
                continue;
            const auto plane = [&](Elements z) {
                return kernel::runs_of_plane(part.labeller, slabs_.view(part), z,
                                             kernel::Sameness::value);
            };
            PlaneRuns front = plane(0);
            if (last_)
                add_contacts(*last_, front);
            else
                first_ = std::move(front);
            last_ = plane(part.planes - 1);
        }
    });
}

std::vector<Body> RegionRun::take_regions() {
    std::vector<Body> all;
    all.reserve(regions_.size());
    while (!regions_.empty()) // one by one, so that no region is in memory twice
        all.push_back(regions_.extract(regions_.begin()).mapped());
    std::ranges::sort(all, {}, &Body::value);
    return all;
}

void RegionRun::add_contacts(const PlaneRuns& before) {
    add_contacts(before, *first_);
}

void RegionRun::add_contacts(const PlaneRuns& front, const PlaneRuns& back) {
    kernel::each_contact(
        front, back, kernel::Sameness::value, slabs_.type(),
        [&](const kernel::RunContacts& run) { regions_.at(run.value).contacts += run.voxels; });
}

/// The sizes of regions, by value. Small values index a list; a hash map holds the others.
class SizesByValue {
  public:
    explicit SizesByValue(const kernel::VolumeShape& shape)
        : shape_(shape),
          most_listed_(static_cast<std::uint64_t>(
              std::clamp<Elements>(shape.elements() / 4, 1 << 10, 1 << 22))) {}

    /// Adds a row of samples.
    template <class Sample>
    void add_row(const Sample* row, Elements z, Elements y) {
        each_equal_run(row, 0, shape_.width, [&](Elements begin, Elements end, Sample value) {
            if (value != 0)
                of(kernel::value_code(value)).add_run(z, y, begin, end, shape_);
        });
    }

    void add(const SizesByValue& other) {
        for (std::size_t value = 0; value < other.listed_.size(); ++value) {
            if (other.listed_[value].voxels > 0)
                of(value).add(other.listed_[value]);
        }
        for (const auto& [value, size] : other.others_)
            of(value).add(size);
    }

    /// Bodies that have values and sizes only, by ascending value.
    std::vector<Body> bodies() const {
        std::vector<Body> all;
        const auto add = [&](std::uint64_t value, const RegionSize& size) {
            if (size.voxels == 0)
                return;
            all.push_back({size, value});
        };
        for (std::size_t value = 0; value < listed_.size(); ++value)
            add(value, listed_[value]);
        for (const auto& [value, size] : others_)
            add(value, size);
        std::ranges::sort(all.begin() + static_cast<std::ptrdiff_t>(all.size() - others_.size()),
                          all.end(), {}, &Body::value);
        return all;
    }

  private:
    RegionSize& of(std::uint64_t value) {
        if (value >= most_listed_)
            return others_[value];
        if (value >= listed_.size())
            listed_.resize(std::max<std::size_t>(value + 1, listed_.size() * 2));
        return listed_[value];
    }

    kernel::VolumeShape shape_;
    std::uint64_t most_listed_;
    std::vector<RegionSize> listed_; // [value]
    std::unordered_map<std::uint64_t, RegionSize> others_;
};

/// Adds the sizes of a slab's regions, using all threads.
void add_sizes(Slabs& slabs, Elements slab, SizesByValue& all, LabelRegions& result) {
    timed(result.read, [&] { slabs.read(slab, false); });
    timed(result.label, [&] {
        std::vector<SizesByValue> parts(slabs.parts_of_slab() - 1, SizesByValue(slabs.shape()));
        slabs.each_part([&](std::size_t index, const Slabs::Part& part) {
            SizesByValue& own = index == 0 ? all : parts[index - 1];
            const kernel::ValueView view = slabs.view(part);
            std::visit(
                [&](const auto* first) {
                    for (Elements z = 0; z < part.planes; ++z)
                        for (Elements y = 0; y < slabs.shape().height; ++y) {
                            check_cancelled(slabs.shape().width);
                            own.add_row(first + z * view.next_plane + y * view.stride,
                                        part.first + z, y);
                        }
                },
                view.first);
        });
        for (const SizesByValue& part : parts)
            all.add(part);
    });
}

} // namespace

LabelRegions measure_regions(const Communicator& communicator, const RunControl& control,
                             Slabs& slabs, bool only_sizes) {
    LabelRegions result;
    result.shape = slabs.shape();
    RegionRun run(slabs);
    SizesByValue sizes(slabs.shape());
    const std::vector<Elements> slabs_of = communicator.all_gather(slabs.slabs());
    const Elements most = *std::ranges::max_element(slabs_of);
    for (Elements slab = 0; slab < most; ++slab) {
        if (communicator.rank() == 0)
            control.report("measure", slab, most);
        agree(communicator, [&] {
            control.check();
            if (slab >= slabs.slabs())
                return;
            only_sizes ? add_sizes(slabs, slab, sizes, result) : run.add_slab(slab, result);
        });
    }
    Bytes sent = 0;
    const std::optional<PlaneBefore> front =
        plane_before(communicator, slabs.slabs() > 0, run.last_plane(), sent);
    agree(communicator, [&] {
        if (front)
            run.add_contacts(front->plane);
        result.table = only_sizes ? sizes.bodies() : run.take_regions();
    });
    if (communicator.size() == 1)
        return result;
    result.table = gather_lists(communicator, std::move(result.table)).values;
    agree(communicator, [&] {
        std::vector<Body>& table = result.table;
        std::ranges::stable_sort(table, {}, &Body::value); // stable: the order of ranks is kept
        std::size_t count = 0;
        for (const Body& body : table) {
            if (count > 0 && table[count - 1].value == body.value)
                table[count - 1].add(body);
            else
                table[count++] = body;
        }
        table.resize(count);
    });
    return result;
}

} // namespace sextant::label
