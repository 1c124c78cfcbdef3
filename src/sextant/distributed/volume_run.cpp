// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/volume_run.hpp"

#include "sextant/core/error.hpp"
#include "sextant/distributed/list_exchange.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::distributed {

using kernel::Body;
using kernel::JoinedParts;
using kernel::Label;
using kernel::PlaneRuns;
using kernel::TouchingLabels;

namespace {

std::size_t at(Elements i) {
    return static_cast<std::size_t>(i);
}

/// The voxels of a component, for choosing the largest.
struct Size {
    Elements number, voxels;
};

} // namespace

void VolumeRun::divide(Elements slab_planes) {
    result_.shape = volume_.shape();
    if (measures())
        kernel::check_measurable(result_.shape);
    const Elements ranks = communicator_.size(), rank = communicator_.rank();
    begin_ = result_.shape.depth * rank / ranks;
    end_ = result_.shape.depth * (rank + 1) / ranks;
    // A voxel takes its sample, two bits, and at most half a run, or a run by value.
    const Bytes voxel = volume_.bytes_per_voxel() +
                        (intensity_ ? intensity_->bytes_per_voxel() : 0) +
                        (options_.by_value ? 5 : 3);
    const Bytes plane = voxel * result_.shape.height * result_.shape.width;
    const Elements planes = slab_planes > 0 ? slab_planes : options_.memory / ranks / plane;
    constexpr double mebibyte = 1 << 20;
    if (planes < 1)
        throw InvalidTask(fmt::format(
            "memory {:g} MiB is too small: a plane of {}x{} voxels and its labels takes {:.1f} MiB "
            "on each of {} ranks",
            static_cast<double>(options_.memory) / mebibyte, result_.shape.width,
            result_.shape.height, static_cast<double>(plane) / mebibyte, ranks));
    result_.slab_planes = std::clamp<Elements>(planes, 1, std::max<Elements>(1, end_ - begin_));
    result_.slabs = slabs();
    team_.emplace(static_cast<int>(std::min<Elements>(options_.threads, result_.slab_planes)));
    for (int thread = 0; thread < team_->size(); ++thread)
        parts_.push_back({kernel::Labeller(connection_), 0, 0, 0, {}});
}

/// Reads a slab of this rank; empty beyond the last.
void VolumeRun::read(Elements slab) {
    slab_first_ = std::min(end_, begin_ + slab * result_.slab_planes);
    slab_planes_ = std::min(result_.slab_planes, end_ - slab_first_);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const auto cut = [&](std::size_t k) {
            return slab_planes_ * static_cast<Elements>(k) / static_cast<Elements>(parts_.size());
        };
        parts_[part].first = cut(part);
        parts_[part].planes = cut(part + 1) - cut(part);
    }
    timed(result_.read, [&] {
        result_.nan += volume_.read(slab_first_, slab_planes_);
        if (intensity_ && numbers_.empty())
            intensity_->read(slab_first_, slab_planes_);
    });
}

/// Labels the parts of the slab.
void VolumeRun::find() {
    run_parts(&*team_, static_cast<int>(parts_.size()), [&](int index, int) {
        Part& part = parts_[static_cast<std::size_t>(index)];
        part.labeller.find(volume_.view(part.first, part.planes));
    });
}

void VolumeRun::join(const PlaneRuns& front, const PlaneRuns& back, Elements front_before,
                     Elements back_before) {
    const kernel::ValueView::First type = volume_.view(0, 0).first;
    for (const TouchingLabels& pair : kernel::touching(front, back, connection_, type))
        own_.join(front_before + pair.front - 1, back_before + pair.back - 1);
    if (measures())
        kernel::each_contact(front, back, connection_.sameness, type,
                             [&](Label label, Elements contacts) {
                                 bodies_[at(back_before + label - 1)].contacts += contacts;
                             });
}

/// Adds the components of the slab to those of this rank.
void VolumeRun::add_slab() {
    if (measures())
        run_parts(&*team_, static_cast<int>(parts_.size()), [&](int index, int) {
            Part& part = parts_[static_cast<std::size_t>(index)];
            const kernel::ValueView view = volume_.view(part.first, part.planes);
            std::optional<kernel::ValueView> intensity;
            if (intensity_)
                intensity = intensity_->view(part.first, part.planes);
            part.bodies.assign(at(part.labeller.count()), {});
            kernel::measure(part.labeller, connection_, view, slab_first_ + part.first,
                            result_.shape, intensity ? &*intensity : nullptr, part.bodies);
        });
    for (Part& part : parts_) {
        part.before = own_.add(part.labeller.count());
        befores_.push_back(part.before);
        bodies_.insert(bodies_.end(), part.bodies.begin(), part.bodies.end());
        if (part.planes == 0)
            continue;
        const kernel::ValueView view = volume_.view(part.first, part.planes);
        PlaneRuns front = kernel::runs_of_plane(part.labeller, view, 0, connection_.sameness);
        if (last_plane_)
            join(*last_plane_, front, last_before_, part.before);
        else
            first_plane_ = std::move(front);
        last_plane_ =
            kernel::runs_of_plane(part.labeller, view, part.planes - 1, connection_.sameness);
        last_before_ = part.before;
    }
}

/// Adds up the measures of parts of components. Call after the components are numbered.
void VolumeRun::add_up() {
    if (!measures())
        return;
    std::vector<Body> sums(numbers_.size());
    for (Elements i = 0; i < own_.count(); ++i)
        sums[at(own_[i] - 1)].add(bodies_[at(i)]);
    bodies_ = std::move(sums);
}

/// Joins the components of successive ranks. A rank sends its last plane to the next rank that has
/// planes, which finds the pairs that touch; every rank then numbers the components of all.
void VolumeRun::join_ranks() {
    const Elements own_count = own_.number();
    numbers_.resize(at(own_count));
    add_up();
    const auto relabel = [&](std::optional<PlaneRuns>& plane, Elements before) {
        if (!plane)
            return;
        for (Label& label : plane->labels)
            label = static_cast<Label>(own_[before + label - 1]);
    };
    const Elements first_before = befores_.empty() ? 0 : befores_.front();
    relabel(first_plane_, first_before);
    relabel(last_plane_, last_before_);
    const int ranks = communicator_.size(), rank = communicator_.rank();
    const std::vector<Elements> counts = communicator_.all_gather(own_count);
    const std::vector<int> have = communicator_.all_gather(last_plane_ ? 1 : 0);
    std::vector<std::vector<std::byte>> to(at(ranks));
    const auto next = std::find(have.begin() + rank + 1, have.end(), 1);
    if (last_plane_ && next != have.end()) {
        std::vector<std::byte>& list = to[at(next - have.begin())];
        list = kernel::packed(*last_plane_);
        result_.sent += static_cast<Bytes>(list.size());
    }
    const ByRank<std::byte> came = all_to_all_lists(communicator_, to);
    struct Pair {
        Elements front, back;
    };
    std::vector<Pair> pairs;
    std::vector<Elements> before(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), before.begin() + 1);
    agree(communicator_, [&] {
        if (came.values.empty() || !first_plane_)
            return;
        const auto from = std::find_if(came.counts.begin(), came.counts.end(),
                                       [](Elements count) { return count > 0; }) -
                          came.counts.begin();
        const PlaneRuns front = kernel::unpacked(came.values);
        const kernel::ValueView::First type = volume_.view(0, 0).first;
        for (const TouchingLabels& pair : kernel::touching(front, *first_plane_, connection_, type))
            pairs.push_back({before[at(from)] + pair.front - 1, before[at(rank)] + pair.back - 1});
        if (measures())
            kernel::each_contact(front, *first_plane_, connection_.sameness, type,
                                 [&](Label label, Elements contacts) {
                                     bodies_[at(label - 1)].contacts += contacts;
                                 });
    });
    result_.sent += static_cast<Bytes>(pairs.size() * sizeof(Pair)) * (ranks - 1);
    const ByRank<Pair> all_pairs = all_gather_by_rank(communicator_, pairs);
    agree(communicator_, [&] {
        JoinedParts all("ranks");
        all.add(before.back());
        for (const Pair& pair : all_pairs.values)
            all.join(pair.front, pair.back);
        result_.components = all.number();
        for (Elements i = 0; i < own_count; ++i)
            numbers_[at(i)] = static_cast<VolumeLabel>(all[before[at(rank)] + i]);
    });
}

const std::vector<Body>& VolumeRun::gather_table() {
    struct Measured {
        Elements number;
        Body body;
    };
    std::vector<std::vector<Measured>> to(at(communicator_.size()));
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        to[0].push_back({static_cast<Elements>(numbers_[i]), bodies_[i]});
    bodies_ = {};
    const ByRank<Measured> all = all_to_all_lists(communicator_, to);
    to = {};
    agree(communicator_, [&] {
        if (communicator_.rank() != 0)
            return;
        std::vector<Body>& table = result_.table;
        table.resize(at(result_.components));
        for (const Measured& part : all.values)
            table[at(part.number - 1)].add(part.body);
    });
    return result_.table;
}

/// Removes components that are too small.
void VolumeRun::choose() {
    if (!measures())
        return;
    gather_table();
    std::vector<VolumeLabel> kept; // [number − 1]: 0, or the new number
    agree(communicator_, [&] {
        if (communicator_.rank() != 0)
            return;
        std::vector<Body>& table = result_.table;
        if (options_.min_size == 0 && options_.keep_largest == 0)
            return;
        std::vector<Size> sizes;
        for (Elements i = 0; i < result_.components; ++i) {
            if (table[at(i)].voxels >= options_.min_size)
                sizes.push_back({i, table[at(i)].voxels});
        }
        if (options_.keep_largest > 0 && std::ssize(sizes) > options_.keep_largest) {
            std::ranges::stable_sort(sizes, std::ranges::greater{}, &Size::voxels);
            sizes.resize(at(options_.keep_largest));
            std::ranges::sort(sizes, {}, &Size::number);
        }
        kept.assign(table.size(), 0);
        std::vector<Body> left;
        for (const Size& size : sizes) {
            left.push_back(table[at(size.number)]);
            kept[at(size.number)] = static_cast<VolumeLabel>(left.size());
        }
        table = std::move(left);
    });
    if (options_.min_size > 0 || options_.keep_largest > 0) {
        const ByRank<VolumeLabel> chosen = all_gather_by_rank(communicator_, kept);
        const Elements left =
            std::ranges::count_if(chosen.values, [](VolumeLabel n) { return n > 0; });
        result_.removed = result_.components - left;
        result_.components = left;
        for (VolumeLabel& number : numbers_)
            number = chosen.values[number - 1];
    }
    if (!options_.measure)
        result_.table = {};
}

/// Reads and labels a slab again.
void VolumeRun::find_again(Elements slab) {
    read(slab);
    timed(result_.label, [&] { find(); });
    written_ = 0;
    for (std::size_t part = 0; part < parts_.size(); ++part)
        parts_[part].before = befores_[at(slab) * parts_.size() + part];
}

/// Writes the final labels of the next planes of the slab.
void VolumeRun::fill_next(std::vector<VolumeLabel>& labels) {
    const Elements width = result_.shape.width, height = result_.shape.height;
    const Elements planes = std::min(planes_at_once(), slab_planes_ - written_);
    labels.resize(at(planes * height * width));
    run_parts(&*team_, static_cast<int>(planes), [&](int index, int) {
        const Elements plane = written_ + index;
        const auto part = std::ranges::find_if(parts_, [plane](const Part& p) {
            return plane >= p.first && plane < p.first + p.planes;
        });
        for (Elements y = 0; y < height; ++y) {
            const kernel::LabelledRuns runs =
                part->labeller.runs_of((plane - part->first) * height + y);
            VolumeLabel* const to = labels.data() + (index * height + y) * width;
            std::fill_n(to, width, 0);
            kernel::each_run(runs, width, [&](Elements begin, Elements end, Label label) {
                std::fill(to + begin, to + end, number_of(*part, label));
            });
        }
    });
    written_ += planes;
}

/// Passes the labels of all ranks to `to` on rank 0, in order, a few planes at a time.
void VolumeRun::write_all(const VolumeLabelSink& to) {
    const std::vector<Elements> planes_of = communicator_.all_gather(end_ - begin_);
    const bool is_root = communicator_.rank() == 0;
    std::vector<std::vector<VolumeLabel>> lists(at(communicator_.size()));
    Elements done = 0;
    for (int rank = 0; rank < communicator_.size(); ++rank) {
        Elements slab = -1;
        for (const Elements end = done + planes_of[at(rank)]; done < end;) {
            agree(communicator_, [&] {
                control_.check();
                if (communicator_.rank() != rank)
                    return;
                if (slab < 0 || written_ == slab_planes_)
                    find_again(++slab);
                timed(result_.label, [&] { fill_next(lists[0]); });
            });
            ByRank<VolumeLabel> came;
            if (rank > 0)
                came = all_to_all_lists(communicator_, lists);
            else
                came.values = std::move(lists[0]);
            lists[0].clear();
            const std::vector<VolumeLabel>& labels = came.values;
            Elements planes = 0;
            agree(communicator_, [&] {
                if (!is_root)
                    return;
                control_.report("write", done, result_.shape.depth);
                timed(result_.write, [&] { to(done, labels); });
                planes = std::ssize(labels) / (result_.shape.height * result_.shape.width);
            });
            done += communicator_.all_gather(planes)[0];
        }
    }
}

void VolumeRun::find_all() {
    const std::vector<Elements> slabs_of = communicator_.all_gather(slabs());
    const Elements most = *std::ranges::max_element(slabs_of);
    for (Elements slab = 0; slab < most; ++slab) {
        if (communicator_.rank() == 0)
            control_.report("label", slab, most);
        agree(communicator_, [&] {
            control_.check();
            if (slab >= slabs() || begin_ == end_)
                return;
            read(slab);
            timed(result_.label, [&] {
                find();
                add_slab();
            });
        });
    }
    const std::vector<Elements> all_nan = communicator_.all_gather(result_.nan);
    nan_ = std::accumulate(all_nan.begin(), all_nan.end(), Elements{0});
    timed(result_.label, [&] { join_ranks(); });
}

VolumeLabelResult VolumeRun::measure() {
    find_all();
    timed(result_.label, [&] { gather_table(); });
    result_.nan = nan_;
    return std::move(result_);
}

VolumeLabelResult VolumeRun::run(const VolumeLabelSink& write) {
    find_all();
    timed(result_.label, [&] { choose(); });
    write_all(write);
    result_.nan = nan_;
    return std::move(result_);
}

} // namespace sextant::distributed
