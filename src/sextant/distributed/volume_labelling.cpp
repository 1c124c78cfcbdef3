// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/volume_labelling.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/volume_planes.hpp"
#include "sextant/kernel/label/plane_seam.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant {

Record record_of(VolumeLabelOptions& options) {
    Record record;
    record.add("neighbours", options.neighbours,
               {{"6", kernel::Neighbours::six},
                {"18", kernel::Neighbours::eighteen},
                {"26", kernel::Neighbours::twenty_six}},
               "N", "voxel connectivity");
    record.add("by_value", options.by_value, "connect only voxels of equal value");
    record.add("measure", options.measure, "measure each component");
    record.add("fill_holes", options.fill_holes, "first fill background enclosed by components");
    record.add("min_size", options.min_size, "N", "components of fewer voxels become background")
        .between(0, 1e15);
    record
        .add("keep_largest", options.keep_largest, "N",
             "keep only this many of the largest components; 0: all")
        .between(0, 1e15);
    record.add_memory("memory", options.memory,
                      "memory limit for samples and labels; larger volumes are labelled in slabs");
    record.add("threads", options.threads, "N", "threads of each rank").between(1, 4096).by_rank();
    return record;
}

Record record_of(const VolumeLabelResult& result) {
    return {{"components", result.components, "number of components"},
            {"holes", result.holes, "holes that were filled"},
            {"removed", result.removed, "components that became background"},
            {"slabs", result.slabs, "slabs that rank 0 labelled one after another"},
            {"slab_planes", result.slab_planes, "planes of a slab"},
            {"nan", result.nan, "samples that are NaN, and therefore background"},
            {"bytes_sent", result.sent, "by rank 0, for joining components"},
            {"seconds",
             {{"read", result.read}, {"label", result.label}, {"write", result.write}},
             "on this rank"}};
}

namespace {

using kernel::Body;
using kernel::Label;
using kernel::PlaneRuns;
using kernel::TouchingLabels;

std::size_t at(Elements i) {
    return static_cast<std::size_t>(i);
}

/// Components of successive parts of a volume that are joined; numbers them in the order of parts
/// and of labels within a part.
class Joined {
  public:
    /// Adds a part; returns the number of components before it.
    Elements add(Elements components) {
        const Elements begin = count();
        constexpr Elements most = 0xfffffffe;
        if (begin + components > most)
            throw InvalidTask(
                fmt::format("the slabs have more than {} components before joining", most));
        parents_.resize(at(begin + components));
        std::iota(parents_.begin() + begin, parents_.end(), static_cast<std::uint32_t>(begin));
        return begin;
    }
    Elements count() const { return static_cast<Elements>(parents_.size()); }

    void join(Elements a, Elements b) {
        const std::uint32_t x = root(a), y = root(b);
        parents_[std::max(x, y)] = std::min(x, y);
    }
    /// Call once, after the last join: turns components into numbers from 1; returns how many.
    Elements number() {
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < parents_.size(); ++i)
            parents_[i] = parents_[i] == i ? ++count : parents_[parents_[i]];
        return count;
    }
    /// The number of a component, after number().
    Elements operator[](Elements component) const { return parents_[at(component)]; }

  private:
    std::uint32_t root(Elements component) {
        auto i = static_cast<std::uint32_t>(component);
        while (parents_[i] != i)
            i = parents_[i] = parents_[parents_[i]];
        return i;
    }

    std::vector<std::uint32_t> parents_; // an earlier component joined to it, or itself
};

/// A plane of runs in a list of bytes, to be sent.
class Packed {
  public:
    static std::vector<std::byte> pack(const PlaneRuns& plane) {
        std::vector<std::byte> bytes;
        const auto add = [&](const auto& values) {
            const auto size = static_cast<Elements>(values.size());
            append(bytes, std::as_bytes(std::span(&size, 1)));
            append(bytes, std::as_bytes(std::span(values)));
        };
        append(bytes, std::as_bytes(std::span(&plane.width, 1)));
        append(bytes, std::as_bytes(std::span(&plane.height, 1)));
        add(plane.bits);
        add(plane.before);
        add(plane.labels);
        add(plane.samples);
        return bytes;
    }
    static PlaneRuns unpack(std::span<const std::byte> bytes) {
        PlaneRuns plane;
        const auto take = [&](void* to, std::size_t size) {
            std::memcpy(to, bytes.data(), size);
            bytes = bytes.subspan(size);
        };
        const auto take_all = [&](auto& values) {
            Elements size = 0;
            take(&size, sizeof(size));
            values.resize(at(size));
            if (size > 0)
                take(values.data(), values.size() * sizeof(values[0]));
        };
        take(&plane.width, sizeof(plane.width));
        take(&plane.height, sizeof(plane.height));
        take_all(plane.bits);
        take_all(plane.before);
        take_all(plane.labels);
        take_all(plane.samples);
        return plane;
    }

  private:
    static void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
        to.insert(to.end(), bytes.begin(), bytes.end());
    }
};

/// The voxels of a component, for choosing the largest.
struct Size {
    Elements number, voxels;
};

/// One rank's part in labelling a volume.
class Run {
  public:
    /// `intensity` may be null. `slab_planes`: 0 to choose by memory.
    Run(const Communicator& communicator, const VolumeLabelOptions& options,
        const RunControl& control, distributed::Planes& volume, distributed::Planes* intensity,
        Elements slab_planes = 0)
        : communicator_(communicator),
          options_(options),
          control_(control),
          connection_{options.neighbours,
                      options.by_value ? kernel::Sameness::value : kernel::Sameness::foreground},
          volume_(volume),
          intensity_(intensity) {
        agree(communicator, [&] { divide(slab_planes); });
    }

    VolumeLabelResult run(const VolumeLabelSink& write);
    VolumeLabelResult measure();

    /// Finds the components of the volume. Collective.
    void find_all();
    Elements slab_planes() const { return result_.slab_planes; }
    /// The number of samples that are NaN, in all ranks' planes.
    Elements nan() const { return nan_; }
    /// After find_all(): measures of all components, on rank 0. Collective.
    const std::vector<Body>& gather_table();
    /// After find_all(): labels the planes of this rank from `first` on again, and calls
    /// take(row, begin, end, number) for each run of a component, with the row counted from the
    /// first.
    template <class Take>
    void each_run_again(Elements first, const Take& take);

  private:
    /// Successive planes that a thread labels.
    struct Part {
        kernel::Labeller labeller;
        Elements first = 0, planes = 0; // in the slab
        Elements before = 0;            // components of this rank before it
        std::vector<Body> bodies;
    };

    void divide(Elements slab_planes);
    bool measures() const {
        return options_.measure || options_.min_size > 0 || options_.keep_largest > 0;
    }
    Elements slabs() const {
        return std::max<Elements>(1,
                                  (end_ - begin_ + result_.slab_planes - 1) / result_.slab_planes);
    }
    void read(Elements slab);
    void find();
    void add_slab();
    void join(const PlaneRuns& front, const PlaneRuns& back, Elements front_before,
              Elements back_before);
    void join_ranks();
    void add_up();
    void choose();
    void find_again(Elements slab);
    void fill_next(std::vector<VolumeLabel>& labels);
    /// The number of planes whose labels are in memory at once.
    Elements planes_at_once() const {
        constexpr Bytes most = Bytes{16} << 20;
        const Bytes plane =
            result_.shape.height * result_.shape.width * static_cast<Bytes>(sizeof(VolumeLabel));
        return std::max<Elements>(1, most / plane);
    }
    void write_all(const VolumeLabelSink& to);

    const Communicator& communicator_;
    const VolumeLabelOptions options_;
    const RunControl& control_;
    const kernel::Connection connection_;
    distributed::Planes& volume_;
    distributed::Planes* const intensity_;
    std::optional<Team> team_;
    std::vector<Part> parts_;
    Elements begin_ = 0, end_ = 0;              // planes of this rank
    Elements written_ = 0;                      // planes of the slab whose labels are written
    Elements slab_first_ = 0, slab_planes_ = 0; // the slab in memory
    Joined own_;                                // components of this rank's parts
    std::vector<Elements> befores_;             // [part]: components before it
    std::optional<PlaneRuns> first_plane_, last_plane_; // of this rank
    Elements last_before_ = 0;                          // components before the part of last_plane_
    std::vector<Body> bodies_;                          // of own_, before and after numbering
    std::vector<VolumeLabel> numbers_; // [number on this rank − 1]: in the volume
    Elements nan_ = 0;                 // of all ranks
    VolumeLabelResult result_;
};

void Run::divide(Elements slab_planes) {
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
void Run::read(Elements slab) {
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
void Run::find() {
    run_parts(&*team_, static_cast<int>(parts_.size()), [&](int index, int) {
        Part& part = parts_[static_cast<std::size_t>(index)];
        part.labeller.find(volume_.view(part.first, part.planes));
    });
}

void Run::join(const PlaneRuns& front, const PlaneRuns& back, Elements front_before,
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
void Run::add_slab() {
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
void Run::add_up() {
    if (!measures())
        return;
    std::vector<Body> sums(numbers_.size());
    for (Elements i = 0; i < own_.count(); ++i)
        sums[at(own_[i] - 1)].add(bodies_[at(i)]);
    bodies_ = std::move(sums);
}

/// Joins the components of successive ranks. A rank sends its last plane to the next rank that has
/// planes, which finds the pairs that touch; every rank then numbers the components of all.
void Run::join_ranks() {
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
        list = Packed::pack(*last_plane_);
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
        const PlaneRuns front = Packed::unpack(came.values);
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
        Joined all;
        all.add(before.back());
        for (const Pair& pair : all_pairs.values)
            all.join(pair.front, pair.back);
        result_.components = all.number();
        for (Elements i = 0; i < own_count; ++i)
            numbers_[at(i)] = static_cast<VolumeLabel>(all[before[at(rank)] + i]);
    });
}

const std::vector<Body>& Run::gather_table() {
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
void Run::choose() {
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
void Run::find_again(Elements slab) {
    read(slab);
    timed(result_.label, [&] { find(); });
    written_ = 0;
    for (std::size_t part = 0; part < parts_.size(); ++part)
        parts_[part].before = befores_[at(slab) * parts_.size() + part];
}

/// Writes the final labels of the next planes of the slab.
void Run::fill_next(std::vector<VolumeLabel>& labels) {
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
                std::fill(to + begin, to + end, numbers_[at(own_[part->before + label - 1] - 1)]);
            });
        }
    });
    written_ += planes;
}

/// Passes the labels of all ranks to `to` on rank 0, in order, a few planes at a time.
void Run::write_all(const VolumeLabelSink& to) {
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

void Run::find_all() {
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

VolumeLabelResult Run::measure() {
    find_all();
    timed(result_.label, [&] { gather_table(); });
    result_.nan = nan_;
    return std::move(result_);
}

VolumeLabelResult Run::run(const VolumeLabelSink& write) {
    find_all();
    timed(result_.label, [&] { choose(); });
    write_all(write);
    result_.nan = nan_;
    return std::move(result_);
}

template <class Take>
void Run::each_run_again(Elements first, const Take& take) {
    find_again((first - begin_) / result_.slab_planes);
    for (const Part& part : parts_) {
        for (Elements row = 0; row < part.labeller.rows(); ++row)
            kernel::each_run(part.labeller.runs_of(row), part.labeller.width(),
                             [&](Elements begin, Elements end, Label label) {
                                 take(part.first * result_.shape.height + row, begin, end,
                                      numbers_[at(own_[part.before + label - 1] - 1)]);
                             });
    }
}

/// A volume whose holes are filled. Its planes are read in the slabs in which the background was
/// labelled.
class FilledPlanes final : public distributed::BitPlanes {
  public:
    /// Collective.
    FilledPlanes(const Communicator& communicator, const VolumeLabelOptions& options,
                 const RunControl& control, distributed::Planes& volume)
        : BitPlanes(volume.shape()),
          background_planes_(volume),
          background_(communicator, dual(options), control, background_planes_, nullptr) {
        background_.find_all();
        const std::vector<Body>& table = background_.gather_table();
        std::vector<std::uint8_t> holes;
        for (const Body& body : table)
            holes.push_back(body.at_border ? 0 : 1);
        is_hole_ = all_gather_by_rank(communicator, holes).values; // of rank 0, which has all
    }

    Elements holes() const { return std::ranges::count(is_hole_, 1); }
    Elements nan() const { return background_.nan(); }
    Elements slab_planes() const { return background_.slab_planes(); }
    Bytes bytes_per_voxel() const override { return background_planes_.bytes_per_voxel() + 1; }

    Elements read(Elements first, Elements count) override {
        const std::span<std::uint8_t> to = room(count);
        std::ranges::fill(to, std::uint8_t{1});
        background_.each_run_again(
            first, [&](Elements row, Elements begin, Elements end, VolumeLabel number) {
                if (is_hole_[number - 1] == 0)
                    std::fill(to.begin() + row * shape().width + begin,
                              to.begin() + row * shape().width + end, std::uint8_t{0});
            });
        return 0;
    }

  private:
    static VolumeLabelOptions dual(VolumeLabelOptions options) {
        options.neighbours = options.neighbours == kernel::Neighbours::six
                                 ? kernel::Neighbours::twenty_six
                                 : kernel::Neighbours::six;
        options.measure = true;
        options.min_size = options.keep_largest = 0;
        options.memory /= 2; // the rest is for labelling the filled volume
        return options;
    }

    distributed::BackgroundPlanes background_planes_;
    Run background_;
    std::vector<std::uint8_t> is_hole_; // [number − 1]
};

} // namespace

VolumeLabelling::VolumeLabelling(Communicator communicator, VolumeLabelOptions options,
                                 RunControl control)
    : communicator_(std::move(communicator)),
      options_(std::move(options)),
      control_(std::move(control)) {}

/// Opens a volume and, if there is one, the intensities of the same shape.
void VolumeLabelling::open(FrameSource& volume, FrameSource* intensity,
                           std::optional<distributed::VolumePlanes>& planes,
                           std::optional<distributed::VolumePlanes>& intensities) const {
    using Use = distributed::VolumePlanes::Use;
    planes.emplace(volume, Use::comparison);
    if (!intensity)
        return;
    intensities.emplace(*intensity, Use::computation);
    const kernel::VolumeShape &own = planes->shape(), &other = intensities->shape();
    if (!(own == other))
        throw InvalidTask(fmt::format("{} has {}x{}x{} voxels, expected {}x{}x{}, as {}",
                                      intensity->path(), other.depth, other.height, other.width,
                                      own.depth, own.height, own.width, volume.path()));
}

VolumeLabelResult VolumeLabelling::run(FrameSource& volume, FrameSource* intensity,
                                       const VolumeLabelSink& write) const {
    VolumeLabelOptions options = options_;
    require_same(communicator_, options);
    std::optional<distributed::VolumePlanes> planes, second;
    agree(communicator_, [&] {
        open(volume, options.measure ? intensity : nullptr, planes, second);
        if (options.fill_holes && options.by_value)
            throw InvalidTask("fill_holes: holes have no value, so that voxels cannot be connected "
                              "by_value");
    });
    distributed::Planes* const intensities = second ? &*second : nullptr;
    if (!options.fill_holes)
        return Run(communicator_, options, control_, *planes, intensities).run(write);
    FilledPlanes filled(communicator_, options, control_, *planes);
    VolumeLabelResult result =
        Run(communicator_, options, control_, filled, intensities, filled.slab_planes()).run(write);
    result.holes = filled.holes();
    result.nan = filled.nan();
    return result;
}

VolumeLabelResult VolumeLabelling::measure(FrameSource& labels, FrameSource* intensity) const {
    VolumeLabelOptions options;
    options.memory = options_.memory;
    options.threads = options_.threads;
    options.neighbours = kernel::Neighbours::six; // the cheapest: parts are added up by value
    options.by_value = options.measure = true;
    require_same(communicator_, options);
    std::optional<distributed::VolumePlanes> planes, second;
    agree(communicator_, [&] {
        open(labels, intensity, planes, second);
        const Sample sample = labels.header().sample;
        if (sample == Sample::f16 || sample == Sample::f32 || sample == Sample::f64)
            throw InvalidTask(fmt::format("{} holds {}, expected labels, which are integers",
                                          labels.path(), name(sample)));
    });
    VolumeLabelResult result =
        Run(communicator_, options, control_, *planes, second ? &*second : nullptr).measure();
    std::ranges::stable_sort(result.table, {}, &Body::value);
    std::vector<Body> regions;
    for (const Body& part : result.table) {
        if (regions.empty() || regions.back().value != part.value)
            regions.emplace_back();
        regions.back().add(part);
    }
    result.table = std::move(regions);
    return result;
}

} // namespace sextant
