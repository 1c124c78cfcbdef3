// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/run.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/equal_range.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/pixel_fold.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sextant::label {

using kernel::Body;
using kernel::Extent;
using kernel::Label;
using Candidate = Components::Candidate;
using Set = Components::Set;

namespace {

auto position_of(const Candidate& candidate) {
    return std::pair(candidate.part, candidate.label);
}

Components::Options wanted(const LabelOptions& options, bool bodies) {
    Components::Options wanted;
    wanted.extents = options.chooses_by_size() || options.keep_largest > 0;
    wanted.bodies = bodies;
    if (options.chooses_by_size())
        wanted.keeps = [&options](Elements voxels) { return options.keeps_size(voxels); };
    wanted.most_candidates = options.keep_largest;
    return wanted;
}

} // namespace

kernel::Connection connection_of(const LabelOptions& options) {
    return {options.neighbours.value(),
            options.by_value ? kernel::Sameness::value : kernel::Sameness::foreground};
}

PlaneRange planes_of(int rank, int ranks, Elements depth, Elements unit) {
    const Elements units = (depth + unit - 1) / unit;
    const auto cut = [&](Elements r) { return std::min(depth, units * r / ranks * unit); };
    return {cut(rank), cut(rank + 1)};
}

LabelRun::LabelRun(const Communicator& communicator, const LabelOptions& options,
                   const RunControl& control, Slabs& slabs, Checkpoint& checkpoint)
    : communicator_(communicator),
      options_(options),
      control_(control),
      slabs_(slabs),
      checkpoint_(checkpoint),
      has_sizes_(options.measure && options.measures_sizes(slabs.shape().of_rows) &&
                 !slabs.has_intensities() && slabs.slabs() == 1 && communicator.size() == 1),
      components_(communicator, slabs, wanted(options, options.measure && !has_sizes_),
                  checkpoint) {}

/// Chooses the components to keep. With keep_largest, every rank lists its own largest components.
/// Those among the largest of all ranks are the first in each list.
void LabelRun::choose() {
    const std::vector<Set>& sets = components_.sets();
    set_kept_.assign(sets.size(), true);
    for (std::size_t set = 0; set < sets.size(); ++set)
        set_kept_[set] = components_.keeps(sets[set].extent);
    if (!chooses_largest())
        return;
    std::vector<Candidate> largest;
    std::vector<Elements> sizes;
    agree(communicator_, [&] {
        largest = components_.candidates();
        for (std::size_t set = 0; set < sets.size(); ++set) {
            if (sets[set].leads && set_kept_[set])
                largest.push_back({static_cast<Elements>(sets[set].extent.voxels), sets[set].part,
                                   sets[set].label});
        }
        std::sort(largest.begin(), largest.end());
        largest.resize(std::min(largest.size(), index_of(options_.keep_largest)));
        for (const Candidate& candidate : largest)
            sizes.push_back(candidate.voxels);
    });
    struct Listed {
        Elements voxels;
        int rank;
    };
    const ByRank<Elements> all = all_gather_by_rank(communicator_, sizes);
    agree(communicator_, [&] {
        std::vector<Listed> listed;
        std::size_t next = 0;
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            for (Elements i = 0; i < all.counts[index_of(rank)]; ++i)
                listed.push_back({all.values[next++], rank});
        }
        std::ranges::stable_sort(listed, std::ranges::greater{}, &Listed::voxels);
        listed.resize(std::min(listed.size(), index_of(options_.keep_largest)));
        largest.resize(index_of(std::ranges::count(listed, communicator_.rank(), &Listed::rank)));
        const auto chosen = [&](const Candidate& candidate) {
            return !largest.empty() && !(largest.back() < candidate);
        };
        for (const Candidate& candidate : components_.candidates()) {
            if (chosen(candidate))
                kept_.push_back(candidate);
        }
        std::ranges::sort(kept_, {}, position_of);
        for (std::size_t set = 0; set < sets.size(); ++set)
            set_kept_[set] =
                set_kept_[set] && chosen({static_cast<Elements>(sets[set].extent.voxels),
                                          sets[set].part, sets[set].label});
    });
}

/// The interior components of a part to keep, with keep_largest.
std::span<const Candidate> LabelRun::kept_of(Elements part) const {
    return equal_range(kept_, part, &Candidate::part);
}

/// Numbers the components that are kept, in the order of their first voxels.
void LabelRun::number() {
    const std::vector<Set>& sets = components_.sets();
    Number next = 1;
    Elements all = 0;
    numbers_.assign(sets.size(), 0);
    std::size_t set = 0;
    for (Elements part = 0; part < std::ssize(components_.parts()); ++part) {
        const Components::Part& own = components_.parts()[index_of(part)];
        const std::span<const Candidate> kept = kept_of(part);
        first_.push_back(next);
        Number leading = 0;
        for (; set < sets.size() && sets[set].part == part; ++set) {
            if (!sets[set].leads)
                continue;
            ++all;
            if (!set_kept_[set])
                continue;
            const auto before =
                chooses_largest()
                    ? static_cast<Number>(
                          std::ranges::lower_bound(kept, sets[set].label, {}, &Candidate::label) -
                          kept.begin())
                    : sets[set].before;
            numbers_[set] = next + before + leading++;
        }
        next += leading + (chooses_largest() ? kept.size() : own.interior);
        all += own.components - std::ssize(components_.edges(part));
    }
    struct Counts {
        Elements kept, all;
    };
    const std::vector<Counts> counts =
        communicator_.all_gather(Counts{static_cast<Elements>(next - 1), all});
    Number before = 0;
    for (int rank = 0; rank < communicator_.size(); ++rank) {
        before +=
            rank < communicator_.rank() ? static_cast<Number>(counts[index_of(rank)].kept) : 0;
        result_.components += counts[index_of(rank)].kept;
        result_.removed += counts[index_of(rank)].all - counts[index_of(rank)].kept;
    }
    for (Number& number : numbers_)
        number += number > 0 ? before : 0;
    for (Number& first : first_)
        first += before;
    components_.share(numbers_);
}

/// The measures of this rank's components, in the order of their numbers.
class LabelRun::Rows {
  public:
    explicit Rows(LabelRun& run) : run_(run) {
        const auto begins = run.checkpoint_.sort_lists();
        for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
            sequences_.push_back(Sequence{begins[i], begins[i + 1], {}, {}});
            advance(sequences_.back());
        }
    }

    /// Returns the next rows, at most `most`.
    std::vector<Body> next(std::size_t most) {
        const std::vector<Set>& sets = run_.components_.sets();
        std::vector<Body> rows;
        while (rows.size() < most) {
            while (set_ < sets.size() && !(sets[set_].leads && run_.set_kept_[set_]))
                ++set_;
            const auto first = std::ranges::min_element(sequences_, {}, &Sequence::position);
            if (set_ < sets.size() &&
                std::pair(sets[set_].part, sets[set_].label) < first->position()) {
                rows.push_back(run_.components_.body(static_cast<Elements>(set_++)));
            } else if (first->reader) {
                rows.push_back(first->reader->body());
                advance(*first);
            } else {
                break;
            }
        }
        return rows;
    }

  private:
    /// A sequence of interior components.
    struct Sequence {
        std::size_t list = 0, end = 0; // lists to read
        InteriorBodies bodies;
        std::optional<kernel::BodyReader> reader; // empty at the end

        std::pair<Elements, Label> position() const {
            return reader ? std::pair(bodies.part, reader->label())
                          : std::pair(std::numeric_limits<Elements>::max(), Label{0});
        }
    };

    /// Advances to the next component to keep.
    void advance(Sequence& sequence) {
        for (;;) {
            if (!sequence.reader || !sequence.reader->next()) {
                if (sequence.list == sequence.end) {
                    sequence.reader.reset();
                    return;
                }
                sequence.bodies = run_.checkpoint_.list(sequence.list++);
                sequence.reader.emplace(run_.components_.contents(), sequence.bodies.packed);
                continue;
            }
            if (!run_.chooses_largest() ||
                std::ranges::binary_search(run_.kept_of(sequence.bodies.part),
                                           sequence.reader->label(), {}, &Candidate::label))
                return;
        }
    }

    LabelRun& run_;
    std::vector<Sequence> sequences_;
    std::size_t set_ = 0;
};

/// Passes the rows of all ranks to the sink on rank 0, in order.
void LabelRun::pass_rows(LabelSink& sink) {
    constexpr std::size_t rows_at_once = 4096;
    Rows own(*this);
    ComponentNumber number = 1;
    for (int rank = 0; rank < communicator_.size(); ++rank) {
        for (Elements passed = 1; passed > 0;) {
            std::vector<Body> bodies;
            agree(communicator_, [&] {
                control_.check();
                if (communicator_.rank() == rank)
                    bodies = own.next(rows_at_once);
            });
            passed = communicator_.all_gather(std::ssize(bodies))[index_of(rank)];
            if (passed == 0)
                break;
            if (rank > 0)
                bodies = gather_lists(communicator_, std::move(bodies)).values;
            agree(communicator_, [&] {
                if (communicator_.rank() != 0)
                    return;
                if (result_.shape.of_rows)
                    std::ranges::transform(bodies, bodies.begin(), &Body::of_image);
                sink.rows(number, bodies);
            });
            number += static_cast<ComponentNumber>(passed);
        }
    }
}

/// Measures the sizes of all components, from the runs of the only slab. Components that begin in a
/// part are numbered from the part's first number on; other components began in earlier parts and
/// have smaller numbers.
void LabelRun::pass_sizes(LabelSink& sink) {
    const bool wide = result_.label_bits == 64;
    wide ? find_again<std::uint64_t>(0) : find_again<std::uint32_t>(0);
    std::vector<kernel::RegionSize> sizes(index_of(result_.components));
    std::vector<std::unordered_map<Number, kernel::RegionSize>> earlier(slabs_.parts_of_slab());
    const Elements height = result_.shape.height;
    slabs_.each_part([&](std::size_t index, const Slabs::Part& part) {
        const Number first = first_[index];
        for (Elements row = 0; row < part.planes * height; ++row) {
            const Elements z = part.first + row / height, y = row % height;
            check_cancelled(result_.shape.width);
            kernel::each_run(part.runs_of(row), result_.shape.width,
                             [&](Elements begin, Elements end, Label label) {
                                 const Number number =
                                     wide ? slab_numbers_[index][index_of(label - 1)]
                                          : static_cast<std::uint32_t>(label);
                                 if (number == 0)
                                     return;
                                 (number < first ? earlier[index][number]
                                                 : sizes[static_cast<std::size_t>(number - 1)])
                                     .add_run(z, y, begin, end, result_.shape);
                             });
        }
    });
    for (const auto& of_part : earlier) {
        for (const auto& [number, size] : of_part)
            sizes[static_cast<std::size_t>(number - 1)].add(size);
    }
    if (result_.shape.of_rows)
        std::ranges::transform(sizes, sizes.begin(), &kernel::RegionSize::of_image);
    sink.sizes(1, sizes);
}

/// Numbers the components of a part that is labelled.
template <class Value>
void LabelRun::number_part(Elements part, const Slabs::Part& labelled,
                           std::vector<Value>& numbers) const {
    const std::span<const Label> edges = components_.edges(part);
    const std::span<const Candidate> kept = kept_of(part);
    std::vector<Extent> extents;
    const bool by_size = options_.chooses_by_size() && !chooses_largest();
    if (by_size)
        extents = slabs_.extents_of(labelled);
    Number next = first_[index_of(part)];
    std::size_t edge = 0, largest = 0;
    numbers.resize(labelled.components);
    for (Label label = 1; label <= labelled.components; ++label) {
        Value& number = numbers[label - 1];
        if (edge < edges.size() && edges[edge] == label) {
            const Elements set = components_.set_of(part, static_cast<Elements>(edge++));
            number = static_cast<Value>(numbers_[index_of(set)]);
            if (static_cast<Number>(number) == next)
                ++next;
            continue;
        }
        bool is_numbered = !by_size || components_.keeps(extents[label - 1]);
        if (chooses_largest()) {
            is_numbered = largest < kept.size() && kept[largest].label == label;
            largest += is_numbered ? 1 : 0;
        }
        number = is_numbered ? static_cast<Value>(next++) : 0;
    }
}

/// True if the labels of a part are the numbers of its components.
bool LabelRun::is_numbered(Elements part, const Slabs::Part& labelled) const {
    return components_.edges(part).empty() && !chooses_largest() && !options_.chooses_by_size() &&
           (first_[index_of(part)] == Number{1} || labelled.components == 0);
}

/// Makes the runs of a slab available again, and numbers its components.
template <class Value>
void LabelRun::find_again(Elements slab) {
    if (slab == numbered_)
        return;
    numbered_ = slab;
    slabs_.find_again(slab, result_.read, result_.label);
    timed(result_.write, [&] {
        slab_numbers_.resize(slabs_.parts_of_slab());
        const Elements first = slab * std::ssize(slab_numbers_);
        slabs_.each_part([&](std::size_t index, Slabs::Part& part) {
            const Elements number = first + static_cast<Elements>(index);
            if constexpr (sizeof(Value) == sizeof(Label)) {
                if (is_numbered(number, part))
                    return;
                std::vector<Label> numbers;
                number_part(number, part, numbers);
                part.renumber(numbers);
            } else {
                number_part(number, part, slab_numbers_[index]);
            }
        });
    });
}

/// Writes the labels of some planes of the slab. `stride`: the distance between rows.
template <class Value>
void LabelRun::fill(Elements first, Elements planes, Value* labels, Elements stride) {
    const Elements width = result_.shape.width, height = result_.shape.height;
    const auto fill_plane = [&](Elements plane, bool stream) {
        std::size_t i = 0;
        while (plane >= slabs_.parts()[i].end())
            ++i;
        const Slabs::Part& part = slabs_.parts()[i];
        check_cancelled(width * height);
        for (Elements y = 0; y < height; ++y) {
            Value* const to = labels + ((plane - first) * height + y) * stride;
            const kernel::LabelledRuns runs = part.runs_of((plane - part.first) * height + y);
            if constexpr (sizeof(Value) == sizeof(Label)) {
                kernel::write_row(runs, width, reinterpret_cast<Label*>(to), stream);
            } else {
                std::fill_n(to, width, Value{0});
                kernel::each_run(runs, width, [&](Elements begin, Elements end, Label label) {
                    std::fill(to + begin, to + end, slab_numbers_[i][index_of(label - 1)]);
                });
            }
        }
    };
    constexpr Bytes size = sizeof(Value);
    const bool stream = reinterpret_cast<std::uintptr_t>(labels) % kernel::stream_alignment == 0 &&
                        stride * size % kernel::stream_alignment == 0 &&
                        kernel::exceeds_caches(2 * planes * height * width * size);
    const Elements blocks = std::min<Elements>(planes, 8 * slabs_.team().size());
    run_parts(&slabs_.team(), static_cast<int>(blocks), [&](int block, int) {
        for (Elements plane = planes * block / blocks; plane < planes * (block + 1) / blocks;
             ++plane)
            fill_plane(first + plane, stream);
        if (stream)
            kernel::end_streaming();
    });
}

/// The number of planes whose labels are in memory at once.
Elements LabelRun::planes_at_once() const {
    constexpr Bytes most = Bytes{16} << 20;
    const Bytes plane = result_.shape.height * result_.shape.width * (result_.label_bits / 8);
    return std::max<Elements>(1, most / plane);
}

/// Passes the planes of a slab, from plane `first` on, a few at a time.
template <class Value, class Take>
void LabelRun::each_planes(Elements slab, Elements first, const Take& take) {
    find_again<Value>(slab);
    std::vector<Value> labels;
    const Elements end = slabs_.first_of(slab + 1);
    while (first < end) {
        control_.check();
        const Elements planes = std::min(planes_at_once(), end - first);
        timed(result_.write, [&] {
            resize_buffer(labels, index_of(planes * result_.shape.height * result_.shape.width));
            fill(first, planes, labels.data(), result_.shape.width);
        });
        timed(result_.write, [&] { take(first, labels); });
        first += planes;
    }
}

/// Passes this rank's planes to its own sink.
template <class Value>
void LabelRun::write_own(LabelSink& sink, Elements stored) {
    const Elements begin = slabs_.first_of(0), end = slabs_.first_of(slabs_.slabs());
    const std::vector<Elements> slabs_of = communicator_.all_gather(slabs_.slabs());
    for (Elements slab = 0; slab < *std::ranges::max_element(slabs_of); ++slab) {
        agree(communicator_, [&] {
            if (slab >= slabs_.slabs() || slabs_.first_of(slab + 1) <= begin + stored)
                return;
            const Elements first = std::max(slabs_.first_of(slab), begin + stored);
            each_planes<Value>(slab, first, [&](Elements plane, const std::vector<Value>& labels) {
                if (communicator_.rank() == 0)
                    control_.report("write", plane - begin, end - begin);
                sink.planes(plane, std::span(labels));
            });
        });
    }
}

/// Passes the planes of all ranks to the sink of rank 0, in order.
template <class Value>
void LabelRun::write_by_root(LabelSink& sink) {
    const std::vector<Elements> slabs_of = communicator_.all_gather(slabs_.slabs());
    const bool is_root = communicator_.rank() == 0;
    const auto write = [&](Elements plane, const std::vector<Value>& labels) {
        control_.report("write", plane, result_.shape.depth);
        sink.planes(plane, std::span(labels));
    };
    for (Elements slab = 0; slab < slabs_of[0]; ++slab)
        agree(communicator_, [&] {
            if (is_root)
                each_planes<Value>(slab, slabs_.first_of(slab), write);
        });
    for (int rank = 1; rank < communicator_.size(); ++rank) {
        const PlaneRange range = planes_of(rank, communicator_.size(), result_.shape.depth);
        Elements slab = -1;
        for (Elements plane = range.begin; plane < range.end;) {
            std::vector<Value> own;
            agree(communicator_, [&] {
                control_.check();
                if (communicator_.rank() != rank)
                    return;
                if (slab < 0 || plane == slabs_.first_of(slab + 1))
                    find_again<Value>(++slab);
                const Elements planes =
                    std::min(planes_at_once(), slabs_.first_of(slab + 1) - plane);
                timed(result_.write, [&] {
                    resize_buffer(own,
                                  index_of(planes * result_.shape.height * result_.shape.width));
                    fill(plane, planes, own.data(), result_.shape.width);
                });
            });
            const std::vector<Value> labels = gather_lists(communicator_, std::move(own)).values;
            agree(communicator_, [&] {
                if (is_root)
                    timed(result_.write, [&] { write(plane, labels); });
            });
            const Elements voxels = communicator_.all_gather(std::ssize(labels))[0];
            plane += voxels / (result_.shape.height * result_.shape.width);
        }
    }
}

/// Writes all planes into the sink's memory. There is only one rank.
void LabelRun::write_in_place(const kernel::LabelPlane& to) {
    for (Elements slab = 0; slab < slabs_.slabs(); ++slab)
        agree(communicator_, [&] {
            control_.check();
            const Elements first = slabs_.first_of(slab), end = slabs_.first_of(slab + 1);
            control_.report("write", first, result_.shape.depth);
            find_again<std::uint32_t>(slab);
            timed(result_.write, [&] {
                fill(first, end - first, to.first + first * result_.shape.height * to.stride,
                     to.stride);
            });
        });
}

/// Explains the size of slabs, and how many are kept.
std::string LabelRun::reason() const {
    const auto mebibytes = [](Bytes bytes) { return static_cast<double>(bytes) / (1 << 20); };
    const bool is_image = result_.shape.of_rows;
    const char* const planes = is_image ? "rows" : "planes";
    const char* const slabs = is_image ? "strips" : "slabs";
    const std::string limit = fmt::format("{:.4g} MiB", mebibytes(slabs_.options().memory));
    if (slabs_.slabs() <= 1)
        return fmt::format("the samples and labels of all {} fit in {}", planes, limit);
    if (result_.kept == slabs_.slabs())
        return fmt::format(
            "the samples exceed {}, but the runs of all {} fit: each {} is read once", limit, slabs,
            is_image ? "row" : "plane");
    return fmt::format("the samples exceed {}; the runs of {} of {} {} fit, and the others are "
                       "read and labelled twice",
                       limit, result_.kept, slabs_.slabs(), slabs);
}

LabelResult LabelRun::run(LabelSink& sink) {
    result_.shape = slabs_.shape();
    result_.slabs = slabs_.slabs();
    result_.slab_planes = slabs_.slab_planes();
    components_.find(control_);
    timed(result_.label, [&] {
        choose();
        number();
    });
    result_.kept = slabs_.kept();
    result_.reason = reason();
    result_.predicted_read = components_.predicted_reading();
    result_.predicted_label = components_.predicted_labelling();
    result_.read = components_.reading();
    result_.label += components_.labelling();
    result_.nan += components_.nan();
    result_.sent = components_.sent();
    result_.resumable = checkpoint_.has_file();
    result_.resumed = components_.resumed();
    const bool wide = result_.components > options_.most_narrow;
    result_.label_bits = wide ? 64 : 32;
    const bool by_rank = sink.planes_per_part() > 0;
    if (has_sizes_)
        agree(communicator_, [&] { timed(result_.label, [&] { pass_sizes(sink); }); });
    else if (options_.measure)
        pass_rows(sink);
    const Elements begin = by_rank ? slabs_.first_of(0) : 0;
    const Elements end = by_rank ? slabs_.first_of(slabs_.slabs()) : result_.shape.depth;
    const Elements stored = sink.begin(result_, begin, end);
    const kernel::LabelPlane memory =
        communicator_.size() == 1 ? sink.memory() : kernel::LabelPlane{};
    if (memory.first && !wide)
        write_in_place(memory);
    else if (by_rank)
        wide ? write_own<std::uint64_t>(sink, stored) : write_own<std::uint32_t>(sink, stored);
    else
        wide ? write_by_root<std::uint64_t>(sink) : write_by_root<std::uint32_t>(sink);
    return std::move(result_);
}

} // namespace sextant::label
