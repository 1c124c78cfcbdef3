// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/filtering.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/filter/filter_configurations.hpp"
#include "sextant/filter/window_filter.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant {

using distributed::Filter;
using distributed::FilterPlan;
using distributed::Filters;

namespace {

/// The maximum number of voxels of a volume, chosen so that derived sizes cannot overflow.
constexpr Elements most_voxels = Elements{1} << 44;

/// Formats of samples that are filtered without conversion.
const ElementFormat filtered_elements[] = {gray_f32, gray_u8, gray_u16};

/// The format of one sample per pixel.
ElementFormat gray_format(Sample sample) {
    constexpr std::array<std::string_view, 11> names{"gray u8",  "gray i8",  "gray u16", "gray i16",
                                                     "gray u32", "gray i32", "gray u64", "gray i64",
                                                     "gray f16", "gray f32", "gray f64"};
    static_assert(static_cast<int>(Sample::f64) + 1 == names.size());
    return {names[static_cast<std::size_t>(sample)], size_of(sample)};
}

/// Counts the NaNs in `count` samples.
Elements count_not_a_number(const ElementFormat& element, const std::byte* samples,
                            Elements count) {
    distributed::NotFinite found;
    if (element == gray_f32)
        found.add(reinterpret_cast<const float*>(samples), count);
    return found.nan;
}

/// True if an offset of the input samples reappears in the output.
bool keeps_offset(const Filter& filter) {
    return filter.features == std::vector<std::string>{"smooth"};
}

/// Returns the exponent n of a feature: samples multiplied by s give results multiplied by sⁿ.
int degree_of(const std::string& feature, kernel::Dimensions dimensions) {
    return kernel::find_feature(feature, dimensions).integration != 0 ? 2 : 1;
}

/// Returns the scale factor of the samples that each filter reads, then that of the last filter's
/// results.
std::vector<double> scales_of(const Filters& filters, double scale, kernel::Dimensions dimensions) {
    std::vector<double> scales{scale};
    for (const Filter& filter : filters)
        scales.push_back(std::pow(scales.back(), degree_of(filter.features.front(), dimensions)));
    scales.pop_back();
    for (const std::string& feature : filters.back().features)
        scales.push_back(std::pow(scales[filters.size() - 1], degree_of(feature, dimensions)));
    return scales;
}

/// Adapts filters to samples from which the offset was subtracted and which were then divided by
/// the scale. The border value is adapted in the same way.
Filters filters_less_offset(Filters filters, double border_value, double offset, double scale,
                            kernel::Dimensions dimensions) {
    const std::vector<double> scales = scales_of(filters, scale, dimensions);
    for (std::size_t k = 0; k < filters.size(); ++k) {
        kernel::BorderRule& border = filters[k].border;
        border.constant = static_cast<float>((border_value - offset) / scales[k]);
        if (border.border == kernel::Border::constant && !std::isfinite(border.constant))
            throw InvalidTask(fmt::format("border_value {:g}: the samples of the image have "
                                          "magnitude {:g}, and 32-bit floats cannot represent both",
                                          border_value, scale));
        if (!keeps_offset(filters[k]))
            offset = 0;
    }
    return filters;
}

/// Returns the predicted time of reading and filtering, on rank 0; nullopt without a prediction.
std::optional<Seconds> expected(const FilterPlan& plan) {
    if (!plan.predicted)
        return std::nullopt;
    return plan.predicted->seconds + plan.predicted->read.value_or(0);
}

/// A short text: "640x480", or "640x480x100" for a volume of 100 planes.
std::string shape_text(ImageShape image, Elements planes) {
    const std::string text = fmt::format("{}x{}", image.width, image.height);
    return planes > 1 ? fmt::format("{}x{}", text, planes) : text;
}

/// Computes FilterResult::overflowed from the results of all ranks.
Elements overflowed(const distributed::NotFinite& results, Elements not_a_number,
                    const Communicator& communicator) {
    return sum_over_ranks(communicator, results.infinite + (not_a_number == 0 ? results.nan : 0));
}

/// Filters one image on one rank.
class FilterRun {
  public:
    FilterRun(const Communicator& communicator, const FilterOptions& options,
              const RunControl& control, const OfferedSharing& sharing, RowSource* source,
              kernel::Dimensions dimensions, const FilterMemory* memory)
        : communicator_(communicator),
          options_(options),
          dimensions_(dimensions),
          control_(control),
          source_(source),
          memory_(memory),
          shared_(sharing.shared) {
        if (options.threads > 1)
            team_ = std::make_unique<Team>(options.threads);
        result_.sharing = sharing.choice;
        warn({sharing.warning});
    }

    FilterResult run(const Filters& filters, const FilterSink& write);

  private:
    bool is_root() const { return communicator_.rank() == 0; }
    /// The communicator with memory shared on nodes if sharing is on, otherwise the original one.
    const Communicator& ranks() const { return shared_ ? *shared_ : communicator_; }
    void examine_sources();
    void describe(const Filters& filters);
    void plan();
    bool plan_in_memory();
    void plan_on(const Communicator& communicator, const std::vector<int>& nodes);
    FilterPlan planned(const std::vector<int>& nodes, const planner::DefaultPlanner& usual);
    void broadcast_plan();
    void filter_windows(const FilterSink& write);
    void check_source() const;
    void read_window(distributed::WindowFilter& filter, const Tile& window);
    void read(const Tile& part, std::span<std::byte> to) const;
    void write_window(const FilterSink& write, int feature, const Tile& window,
                      std::span<const float> plane);
    Tile window_at(Elements first) const;
    void warn(const std::vector<std::string>& warnings);
    void warn_of_idle_ranks();
    void warn_of_vanished();

    const Communicator& communicator_;
    const FilterOptions& options_;
    const kernel::Dimensions dimensions_;
    const RunControl& control_;
    RowSource* const source_;
    const FilterMemory* memory_;         // null unless it is used
    std::unique_ptr<Team> team_;         // null for one thread
    std::optional<Communicator> shared_; // set if processes of a node share memory
    distributed::FilterTask task_;       // task with the wrapped margin (padded)
    Tile image_;                         // the image or volume without its margin
    FilterResult result_;
    distributed::NotFinite not_finite_; // results that are infinite or NaN, on rank 0
    double offset_ = 0, scale_ = 1;     // offset and scale of rank 0's image
    ElementFormat stored_;              // stored sample format of rank 0's image
};

FilterResult FilterRun::run(const Filters& filters, const FilterSink& write) {
    examine_sources();
    describe(filters);
    plan();
    filter_windows(write);
    result_.image = {image_.width, image_.height};
    result_.depth = task_.is_volume() ? image_.depth : 0;
    result_.element = stored_;
    warn_of_idle_ranks();
    result_.overflowed = overflowed(not_finite_, result_.not_a_number, communicator_);
    if (is_root())
        warn(remarks_on_values(result_, source_->path()));
    warn_of_vanished();
    return std::move(result_);
}

/// Determines which ranks can read the image.
void FilterRun::examine_sources() {
    const std::vector<char> have = communicator_.all_gather(static_cast<char>(source_ != nullptr));
    const bool everyone = std::all_of(have.begin(), have.end(), [](char has) { return has != 0; });
    agree(communicator_, [&] {
        if (have[0] == 0)
            throw InvalidTask("rank 0 has no image");
        if (options_.distribute == "read" && !source_)
            throw InvalidTask("distribute read: every rank needs an image, but this rank has none");
    });
    task_.distribute = options_.distribute;
    if (options_.distribute == "any" && !everyone) {
        task_.distribute = "scatter";
        if (is_root())
            warn({source_->path() + " is available on rank 0 only, which distributes it"});
    }
    const auto relative =
        source_ ? std::array{source_->offset(), source_->scale()} : std::array<double, 2>{0, 1};
    std::tie(offset_, scale_) = std::tuple_cat(communicator_.all_gather(relative)[0]);
}

/// Broadcasts the image's shape and format.
void FilterRun::describe(const Filters& filters) {
    struct Described {
        ImageShape image;
        Elements planes;
        int element;
        std::optional<Sample> stored; // sample type, unless the image is in colour
    };
    Described described{};
    if (is_root()) {
        const auto* const kind = std::find(std::begin(filtered_elements),
                                           std::end(filtered_elements), source_->element());
        described = {
            source_->shape(), source_->planes(), static_cast<int>(kind - filtered_elements),
            source_->header().channels == 1 ? std::optional(source_->stored()) : std::nullopt};
    }
    described = communicator_.all_gather(described)[0];
    agree(communicator_, [&] {
        if (is_root() && described.element == std::ssize(filtered_elements))
            throw InvalidData(fmt::format("{}: samples of {}, expected f32, u8 or u16",
                                          source_->path(), source_->element().name));
        if (dimensions_ == kernel::Dimensions::two && described.planes != 1)
            throw InvalidTask("a volume cannot be filtered with the options for an image");
        if (described.planes > most_voxels / std::max<Elements>(1, described.image.elements()))
            throw InvalidData(fmt::format(
                "{}: {} voxels, expected at most {}", is_root() ? source_->path() : "the volume",
                shape_text(described.image, described.planes), most_voxels));
        task_.filters =
            filters_less_offset(filters, options_.border_value, offset_, scale_, dimensions_);
    });
    task_.image = described.image;
    task_.depth = dimensions_ == kernel::Dimensions::three ? described.planes : 0;
    const halo::Margin margin = wrapped_margin(task_);
    image_ = {margin.x,           margin.y, task_.image.width,
              task_.image.height, margin.z, std::max<Elements>(1, task_.depth)};
    task_ = padded(task_);
    task_.element = filtered_elements[described.element];
    stored_ = described.stored ? gray_format(*described.stored) : task_.element;
    task_.ranks = communicator_.size();
    task_.threads = options_.threads;
    task_.grid = options_.grid;
}

/// Rank 0 plans and broadcasts the plan. With shared memory "auto", the faster choice is made by
/// prediction.
void FilterRun::plan() {
    if (is_root())
        control_.report("plan", 0, 1);
    if (plan_in_memory())
        return;
    const std::vector<int> nodes = nodes_of(communicator_);
    plan_on(ranks(), nodes);
    if (shared_ && !result_.sharing.settled) {
        const FilterPlan in_memory = result_.plan;
        const bool shares_all = task_.shares_memory;
        plan_on(communicator_, nodes);
        result_.sharing =
            choose_sharing(communicator_, expected(in_memory), expected(result_.plan));
        if (result_.sharing.shares) {
            result_.plan = in_memory;
            task_.shares_memory = shares_all;
        } else {
            shared_.reset();
        }
    }
    broadcast_plan();
}

/// Plans the use of the caller's memory, if possible.
bool FilterRun::plan_in_memory() {
    if (!memory_)
        return false;
    const FilterPlan plan = distributed::strips_plan(
        task_, options_.threads == 1
                   ? "one thread, which reads and writes the arrays where they are"
                   : fmt::format("{} threads, which read and write the arrays where they are",
                                 options_.threads));
    const bool is_padded = image_.x > 0 || image_.y > 0 || image_.z > 0;
    const bool fits =
        task_.filters.size() == 1 ||
        distributed::memory_of(plan.configuration, task_, task_.length()) <= options_.memory;
    if (communicator_.size() > 1 || options_.plan || offset_ != 0 || scale_ != 1 || is_padded ||
        !fits) {
        memory_ = nullptr;
        return false;
    }
    result_.plan = plan;
    return true;
}

void FilterRun::plan_on(const Communicator& communicator, const std::vector<int>& nodes) {
    task_.shares_memory = reads_all(communicator, nodes);
    const planner::DefaultPlanner usual = calibrate::planner_here(
        communicator, nodes, options_.machine, options_.probing,
        calibrate::work_on(
            static_cast<double>(task_.image.elements() * std::max<Elements>(1, task_.depth)) * 16));
    agree(communicator_, [&] {
        control_.check();
        if (is_root())
            result_.plan = planned(nodes, usual);
    });
}

FilterPlan FilterRun::planned(const std::vector<int>& nodes, const planner::DefaultPlanner& usual) {
    warn(usual.warnings);
    const planner::Setting setting{.machine = usual.planner->machine(),
                                   .element_size = gray_f32.size,
                                   .nodes = nodes,
                                   .within_node = task_.shares_memory ? machine::Link::same_process
                                                                      : machine::Link::same_node};
    FilterPlan plan;
    if (options_.plan) {
        plan = *options_.plan;
        distributed::check(plan, task_);
        plan.memory = distributed::memory_of(plan.configuration, task_, plan.window);
        distributed::predict_windows(plan, task_, setting);
        return plan;
    }
    return distributed::plan_windows(task_, setting, options_.memory);
}

void FilterRun::broadcast_plan() {
    FilterPlan bare = result_.plan;
    bare.alternatives.clear();
    const std::string plan =
        all_gather_texts(communicator_, is_root() ? to_json(bare) : "").front();
    if (!is_root())
        result_.plan = distributed::parse_filter_plan(plan, "the plan of rank 0", task_);
}

/// Filters all windows on the ranks of the plan; failures are reported to all ranks.
void FilterRun::filter_windows(const FilterSink& write) {
    const FilterPlan& plan = result_.plan;
    const bool takes_part = communicator_.rank() < plan.configuration.ranks();
    const Communicator group = ranks().split(takes_part ? 0 : -1, 0);
    std::optional<distributed::WindowFilter> filter;
    agree(communicator_, [&] {
        if (!takes_part)
            return;
        check_source();
        filter.emplace(group, task_.filters, task_.element, true, dimensions_, team_.get());
    });
    for (Elements first = 0; first < task_.length(); first += plan.window) {
        if (is_root())
            control_.report("filter", first, task_.length());
        const Tile window = window_at(first);
        timed(result_.read, [&] {
            agree(communicator_, [&] {
                control_.check();
                if (!takes_part)
                    return;
                filter->prepare({task_.image, first,
                                 task_.is_volume() ? window.depth : window.height,
                                 plan.configuration, task_.depth});
                if (memory_)
                    filter->bind(memory_->samples, memory_->planes);
                else
                    read_window(*filter, window);
            });
        });
        timed(result_.filter, [&] {
            agree(communicator_, [&] {
                if (takes_part)
                    filter->run();
                if (memory_) {
                    result_.not_a_number = filter->bound_samples().nan;
                    not_finite_ = filter->bound_results();
                }
            });
        });
        timed(result_.write, [&] {
            agree(communicator_, [&] {
                for (int k = 0; is_root() && !memory_ && k < std::ssize(task_.features()); ++k)
                    write_window(write, k, window, filter->plane(k));
            });
        });
        ++result_.windows;
    }
    if (takes_part)
        warn({shortage_of(group)});
    result_.not_a_number = sum_over_ranks(communicator_, result_.not_a_number);
}

/// Warns of samples that became 0 in 32-bit floats. Several ranks may have read the same rows.
void FilterRun::warn_of_vanished() {
    struct Row {
        std::int64_t number;
        Elements count;
    };
    std::vector<Row> own;
    if (source_) {
        for (const auto& [number, count] : source_->vanished())
            own.push_back({number, count});
    }
    if (sum_over_ranks(communicator_, std::ssize(own)) == 0)
        return;
    std::map<std::int64_t, Elements> rows;
    for (const Row& row : all_gather_lists(communicator_, own))
        rows[row.number] = row.count;
    Elements all = 0;
    for (const auto& [number, count] : rows)
        all += count;
    result_.vanished = all;
    if (is_root())
        warn({fmt::format("{}: {} samples differ from {} by less than {:.2g} and are treated as "
                          "equal to it, because samples are processed as 32-bit floats",
                          source_->path(), all, offset_,
                          scale_ * static_cast<double>(std::numeric_limits<float>::denorm_min()))});
}

/// Checks that this rank has the same image as rank 0, because the file of that name may differ on
/// another node.
void FilterRun::check_source() const {
    if (result_.plan.configuration.distribute || is_root())
        return;
    if (!source_) // a plan from the user may require every rank to read
        throw InvalidTask(
            "the plan requires every rank to read its tile, but this rank has no image");
    const ImageShape here = source_->shape();
    if (here.width != image_.width || here.height != image_.height ||
        source_->planes() != image_.depth || source_->element() != task_.element)
        throw InvalidFile(source_->path(),
                          fmt::format("is {} {} on this rank, expected {} {} as on rank 0",
                                      shape_text(here, source_->planes()), source_->element().name,
                                      shape_text({image_.width, image_.height}, image_.depth),
                                      task_.element.name));
    if (source_->offset() != offset_ || source_->scale() != scale_)
        throw InvalidFile(source_->path(),
                          fmt::format("has samples with offset {} and scale {:g} on this rank, "
                                      "expected offset {} and scale {:g} as on rank 0",
                                      source_->offset(), source_->scale(), offset_, scale_));
}

/// Returns the window that begins at this row or plane.
Tile FilterRun::window_at(Elements first) const {
    const auto [width, height] = task_.image;
    const Elements length = std::min(result_.plan.window, task_.length() - first);
    return task_.is_volume() ? Tile{0, 0, width, height, first, length}
                             : Tile{0, first, width, length};
}

/// Fills the window. Counts NaNs in the window only, not in its margin or in repeated samples.
void FilterRun::read_window(distributed::WindowFilter& filter, const Tile& window) {
    const Tile own = halo::common(window, image_);
    filter.fill([&](const Tile& part, std::span<std::byte> to) {
        read(part, to);
        const Tile counted = halo::common(part, own);
        const Bytes size = task_.element.size;
        for (Elements y = 0; y < counted.height && counted.elements() > 0; ++y) {
            const Elements at = (counted.y - part.y + y) * part.width + counted.x - part.x;
            result_.not_a_number +=
                count_not_a_number(task_.element, to.data() + at * size, counted.width);
        }
    });
}

/// Reads a part of one plane of the image with its margin.
void FilterRun::read(const Tile& part, std::span<std::byte> to) const {
    const auto seen = [](Elements at, Elements size) {
        return *kernel::seen_at(kernel::Border::wrap, at, size);
    };
    const Elements left = part.x - image_.x, top = part.y - image_.y;
    const Elements z = seen(part.z - image_.z, image_.depth);
    if (halo::common(part, image_).elements() == part.elements())
        return distributed::read_part(*source_, {left, top, part.width, part.height, z}, to);
    const Bytes size = task_.element.size, row = image_.width * size;
    const Elements most = std::max<Elements>(1, (Bytes{4} << 20) / row);
    Elements count = 0; // number of rows that are read together
    for (Elements y = 0; y < part.height; y += count) {
        const Elements first = seen(top + y, image_.height);
        count = std::min({most, part.height - y, image_.height - first});
        Memory rows(count * row);
        distributed::read_part(*source_, {0, first, image_.width, count, z}, rows.bytes());
        for (Elements k = 0; k < count; ++k) {
            Elements columns = 0; // number of columns that are copied together
            for (Elements x = 0; x < part.width; x += columns) {
                const Elements from = seen(left + x, image_.width);
                columns = std::min(part.width - x, image_.width - from);
                std::copy_n(rows.data() + k * row + from * size, columns * size,
                            to.data() + ((y + k) * part.width + x) * size);
            }
        }
    }
}

/// Passes the results of a window to `write`, without the margin.
void FilterRun::write_window(const FilterSink& write, int feature, const Tile& window,
                             std::span<const float> plane) {
    const Tile kept = halo::common(window, image_);
    const Elements first = task_.is_volume() ? kept.z - image_.z : kept.y - image_.y;
    std::vector<float> inside;
    if (kept.elements() < window.elements()) {
        inside.resize(static_cast<std::size_t>(kept.elements()));
        distributed::copy_part(kept, window, std::as_bytes(plane).data(), kept,
                               std::as_writable_bytes(std::span(inside)).data(), sizeof(float));
        plane = inside;
    }
    if (plane.empty())
        return;
    not_finite_.add(plane.data(), std::ssize(plane));
    write(feature, first, plane);
}

/// Adds warnings, except empty ones and duplicates.
void FilterRun::warn(const std::vector<std::string>& warnings) {
    std::vector<std::string>& all = result_.warnings;
    for (const std::string& warning : warnings) {
        if (!warning.empty() && std::find(all.begin(), all.end(), warning) == all.end())
            all.push_back(warning);
    }
}

void FilterRun::warn_of_idle_ranks() {
    const FilterPlan& plan = result_.plan;
    for (const auto& [filter, tiles] : plan.configuration.all_tiles()) {
        const Elements height = task_.is_volume() ? task_.image.height : plan.window;
        const Elements depth = task_.is_volume() ? plan.window : 1;
        if (tiles.rows > height || tiles.columns > task_.image.width || tiles.layers > depth)
            warn({fmt::format("{} tiles in windows of {} pixels: some ranks are idle because "
                              "they have no pixels",
                              tiles.text(), shape_text({task_.image.width, height}, depth))});
    }
}

} // namespace

std::vector<std::string> remarks_on_values(const FilterResult& result, const std::string& path) {
    std::vector<std::string> remarks;
    if (result.not_a_number > 0)
        remarks.push_back(fmt::format(
            "{}: {} samples are not numbers (NaN); results computed from them are NaN too", path,
            result.not_a_number));
    if (result.overflowed > 0)
        remarks.push_back(
            fmt::format("{}: {} results are infinite or NaN, because samples are infinite, or too "
                        "large for computations in 32-bit floats, which are limited to {:.2g}",
                        path, result.overflowed, std::numeric_limits<float>::max()));
    return remarks;
}

Record record_of(const FilterResult& result) {
    Record record = {{"width", result.image.width}, {"height", result.image.height}};
    if (result.depth > 0)
        record.add_result("depth", result.depth);
    record.include({{"element", result.element.name}});
    if (!result.sharing.reason.empty())
        record.add_result("shared_memory", record_of(result.sharing));
    return record.include(
        {{"windows", result.windows},
         {"memory", result.plan.memory},
         {"not_a_number", result.not_a_number},
         {"plan", json_of(result.plan)},
         {"seconds", {{"read", result.read}, {"filter", result.filter}, {"write", result.write}}}});
}

Filtering::Filtering(Communicator communicator, FilterOptions options, RunControl control,
                     kernel::Dimensions dimensions)
    : Filtering(std::move(communicator), options, filters_of(options, dimensions),
                std::move(control), dimensions) {}

Filtering::Filtering(Communicator communicator, FilterOptions options, Filters filters,
                     RunControl control, kernel::Dimensions dimensions)
    : communicator_(scope_later(communicator, "Filtering")),
      options_(std::move(options)),
      dimensions_(dimensions),
      filters_(std::move(filters)),
      control_(std::move(control)) {
    if (options_.grid && dimensions_ == kernel::Dimensions::two)
        grid_of(options_.grid, communicator_.size(), 1, 1);
    else if (options_.grid && options_.grid->count() != communicator_.size())
        throw InvalidTask(fmt::format("grid {}: {} tiles, expected one for each of the {} ranks",
                                      options_.grid->text(), options_.grid->count(),
                                      communicator_.size()));
    if (options_.distribute != "any")
        distributed::distributions_of({.distribute = options_.distribute});
    if (options_.memory < 1)
        throw InvalidTask(fmt::format("memory {}: expected at least 1", options_.memory));
}

void Filtering::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

FilterResult Filtering::run(RowSource* image, const FilterSink& write, const FilterMemory* memory) {
    const CancellationScope cancellable(control_, communicator_.size());
    require_same(communicator_, options_);
    if (!sharing_)
        agree(communicator_,
              [&] { sharing_ = offer_sharing(options_.shared_memory, communicator_); });
    return FilterRun(communicator_, options_, control_, *sharing_, image, dimensions_, memory)
        .run(filters_, write);
}

FilterResult Filtering::run(const distributed::Image& image) const {
    const CancellationScope cancellable(control_, communicator_.size());
    agree(communicator_, [&] {
        control_.check();
        if (options_.border == kernel::Border::wrap && communicator_.size() > 1)
            throw InvalidTask(
                "border wrap: an image that is already divided into tiles must be on one rank");
    });
    FilterResult result{.image = image.shape(), .element = image.element(), .windows = 1};
    timed(result.filter, [&] { distributed::filter_tiles(image, filters_, result.planes); });
    result.not_a_number =
        sum_over_ranks(communicator_, count_not_a_number(image.element(), image.bytes().data(),
                                                         image.tile().elements()));
    distributed::NotFinite results;
    for (const distributed::Image& plane : result.planes)
        results.add(reinterpret_cast<const float*>(plane.bytes().data()), plane.tile().elements());
    result.overflowed = overflowed(results, result.not_a_number, communicator_);
    if (communicator_.rank() == 0)
        result.warnings = remarks_on_values(result, "image");
    return result;
}

std::vector<double> Filtering::offsets(double offset) const {
    const bool kept = std::all_of(filters_.begin(), filters_.end() - 1, keeps_offset);
    std::vector<double> offsets;
    for (const std::string& feature : filters_.back().features)
        offsets.push_back(kept && feature == "smooth" ? offset : 0);
    return offsets;
}

std::vector<double> Filtering::scales(double scale) const {
    const std::vector<double> all = scales_of(filters_, scale, dimensions_);
    return {all.begin() + std::ssize(filters_), all.end()};
}

} // namespace sextant
