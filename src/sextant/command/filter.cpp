// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/filter.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

using Weights = kernel::GaussianKernel::Weights;

/// The largest value of a constant border, in units of the samples.
constexpr double most_sample = 1e30;

struct NamedWeights {
    std::string_view name;
    Weights weights;
};
constexpr NamedWeights all_weights[] = {{"gaussian", Weights::gaussian}, {"p3pc", Weights::p3pc}};

kernel::Border border_named(const std::string& name) {
    return name == "mirror"     ? kernel::Border::mirror
           : name == "constant" ? kernel::Border::constant
                                : kernel::Border::replicate;
}

/// Splits at commas; at most `most` parts.
std::vector<std::string> listed(const Values& values, std::string_view option, std::size_t most) {
    std::vector<std::string> all;
    std::istringstream names(values.text(option));
    for (std::string name; std::getline(names, name, ',');)
        all.push_back(name);
    if (all.size() > most)
        throw InvalidTask(
            fmt::format("--{} names {}, expected {} or fewer", option, all.size(), most));
    return all;
}

/// Parses "smooth@2.5".
EarlierFilter earlier_filter(const std::string& text) {
    const auto at = std::min(text.find('@'), text.size());
    const auto sigma = parsed_number<double>(text.substr(std::min(at + 1, text.size())));
    if (!sigma || *sigma < kernel::smallest_sigma || *sigma > kernel::largest_sigma)
        throw InvalidTask(fmt::format("--before {}: expected a derivative or feature @ its sigma "
                                      "from {} to {}, as smooth@2",
                                      shortened(text), kernel::smallest_sigma,
                                      kernel::largest_sigma));
    return {text.substr(0, at), *sigma};
}

/// One rank's part of `sextant filter`: rank 0 writes the planes, the page and the texts. All ranks
/// agree on the result of each phase, so that a failure on any leaves no output.
class FilterCommand {
  public:
    FilterCommand(const Values& values, const Communicator& communicator)
        : values_(values), communicator_(communicator), progress_(communicator.rank() == 0) {}

    void run() {
        open_source();
        std::optional<Filtering> filtering;
        agree(communicator_, [&] {
            FilterOptions options = options_from(values_);
            summary_.filters = filters_of(options);
            if (values_.has("grid"))
                grid_asked_for(values_, {}, communicator_.size()); // throws, naming the option
            saves_plan_ = values_.has("plan") && !std::filesystem::exists(values_.text("plan"));
            if (is_root() && values_.has("plan") && !saves_plan_)
                options.plan = read_plan(options);
            filtering.emplace(communicator_, std::move(options),
                              RunControl{[&](auto part, auto done, auto all) {
                                  progress_.say(part, done, all);
                              }});
            if (is_root())
                create_outputs(*filtering);
        });
        summary_.result = filtering->run(
            source_.get(), [&](int derivative, Elements first, std::span<const float> rows) {
                sink_->write(derivative, first, rows);
                if (shown_ && derivative == 0)
                    shown_->add(first, rows);
            });
        timed(summary_.result.write, [&] {
            agree(communicator_, [&] {
                if (is_root())
                    sink_->commit();
            });
        });
        agree(communicator_, [&] {
            if (is_root())
                report();
        });
    }

  private:
    bool is_root() const { return communicator_.rank() == 0; }

    /// Opens the image. Rank 0 must be able to read it; other ranks only for --distribute read.
    void open_source() {
        try {
            source_ = open_image(values_);
        } catch (const Error&) { // thrown again below if the image is needed here
        }
        const bool root_has = communicator_.all_gather(static_cast<char>(source_ != nullptr))[0];
        agree(communicator_, [&] {
            if (!source_ && (!root_has || values_.text("distribute") == "read"))
                source_ = open_image(values_);
        });
    }

    distributed::FilterPlan read_plan(const FilterOptions& options) const {
        const std::string path = values_.text("plan");
        distributed::FilterPlan plan =
            distributed::read_filter_plan(path, {.filters = summary_.filters,
                                                 .image = source_->shape(),
                                                 .element = source_->element(),
                                                 .ranks = communicator_.size()});
        if (options.grid && *options.grid != Tiles{plan.way.columns, plan.way.rows})
            throw InvalidTask(fmt::format("--grid {}: {} has {}x{} tiles; leave out one of them",
                                          values_.text("grid"), path, plan.way.columns,
                                          plan.way.rows));
        return plan;
    }

    /// Checks all files before filtering, and opens the output.
    void create_outputs(const Filtering& filtering) {
        summary_.image = values_.text("image");
        summary_.output = values_.text("output");
        summary_.ranks = communicator_.size();
        summary_.transport = transport_of(communicator_);
        warn(source_->header().remarks);
        std::vector<std::string> outputs = files_given(values_, {"output", "json", "report"});
        std::vector<std::string> read = files_read(values_);
        if (values_.has("plan"))
            (saves_plan_ ? outputs : read).push_back(values_.text("plan"));
        check_frames_name(summary_.output, Sample::f32);
        keep_inputs(read, outputs);
        check_outputs(outputs);
        const std::vector<double> offsets = filtering.offsets(source_->offset());
        const bool has_offset =
            std::any_of(offsets.begin(), offsets.end(), [](double offset) { return offset != 0; });
        const double offset = has_offset ? source_->offset() : 0;
        warn({offset_remark(offset, summary_.output)});
        const FrameHeader header{.frames = std::ssize(offsets),
                                 .shape = source_->shape(),
                                 .sample = sample_with_offset(summary_.output, offset),
                                 .pixel = source_->header().pixel};
        sink_ = std::make_unique<PlaneSink>(
            format::create_frames(summary_.output, header, {format::StackAxis::slices}), offsets);
        if (values_.has("report"))
            shown_.emplace(source_->shape());
    }

    void warn(const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
            if (!warning.empty())
                summary_.warnings.push_back(warning);
        }
    }

    void report() {
        progress_.clear();
        warn(summary_.result.warnings);
        if (summary_.result.not_a_number > 0)
            warn({fmt::format("{}: {} samples are not a number; so is what is computed from them",
                              summary_.image, summary_.result.not_a_number)});
        if (shown_)
            summary_.picture = shown_->png();
        if (values_.has("json"))
            write_text(values_.text("json"), to_json(summary_) + "\n");
        if (values_.has("report"))
            write_text(values_.text("report"), to_page(summary_));
        if (saves_plan_)
            write_text(values_.text("plan"), to_json(summary_.result.plan) + "\n");
        print_warnings(summary_.warnings);
        if (values_.text("json") != standard_output && values_.text("report") != standard_output)
            print_text(to_text(summary_));
    }

    const Values& values_;
    const Communicator& communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<PlaneSink> sink_;
    std::optional<Overview> shown_; // the first derivative
    FilterSummary summary_;
    bool saves_plan_ = false;
};

int run_filter(const Values& values) {
    launch_tiles(values,
                 [&](Communicator communicator) { FilterCommand(values, communicator).run(); });
    return 0;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = {
        {.name = "image",
         .type = Type::file,
         .value = "IMAGE",
         .help = "a gray image, or a series with --frame (docs/frames.md)",
         .positional = true,
         .required = true},
        {.name = "output",
         .type = Type::file,
         .value = "OUT",
         .help = "a frame of float32 a derivative: .npy, .tif or .mrc",
         .letter = 'o',
         .required = true}};
    for (auto* some : {filter_parameters, border_parameters}) {
        for (Parameter& parameter : some())
            all.push_back(std::move(parameter));
    }
    const std::vector<Parameter> rest = {
        frame_parameter(),
        channel_parameter(),
        slice_parameter(),
        external_parameter(),
        ranks_parameter(),
        {.name = "grid",
         .value = "XxY",
         .help = "tiles: so many columns and rows; default: predicted to be fastest"},
        distribute_parameter(),
        memory_parameter("64", "for the image and what is made of it; larger ones stream"),
        shared_memory_parameter(),
        machine_parameter(),
        no_probe_parameter(),
        {.name = "plan",
         .type = Type::file,
         .value = "FILE",
         .help = "do as this plan says; if there is none, write it there"},
        report_parameter(),
        json_parameter()};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation filter_operation() {
    return {"filter", "Gaussian derivatives of a gray image, in tiles over ranks",
            "  sextant filter scan.tif -o derivatives.npy --sigma 3 --derivatives x,y,xx,xy,yy\n"
            "  mpirun -n 2 sextant filter scan.npy -o edges.tif --derivatives gradient-magnitude",
            parameters(), run_filter};
}

Weights weights_named(std::string_view name) {
    return find_by_name<NamedWeights>("kernel", name, all_weights).weights;
}

std::string text_of(const kernel::GaussianKernel& kernel) {
    for (const NamedWeights& named : all_weights) {
        if (named.weights == kernel.weights)
            return std::string(named.name);
    }
    return fmt::format("gaussian, truncated at {} sigmas", kernel.truncation);
}

std::string text_of(const distributed::Filters& filters) {
    std::string text;
    for (const distributed::Filter& filter : filters)
        text += fmt::format("{}{} at sigma {}", text.empty() ? "" : ", then ",
                            fmt::join(filter.features, ", "), filter.sigma);
    const kernel::GaussianKernel& kernel = filters.back().kernel;
    return kernel == kernel::GaussianKernel{} ? text : text + ", kernel " + text_of(kernel);
}

std::vector<Parameter> filter_parameters() {
    return {{.name = "sigma",
             .type = Type::number,
             .value = "PIXELS",
             .fallback = "1",
             .help = "scale of the filter, .5 to 1000",
             .least = kernel::smallest_sigma,
             .most = kernel::largest_sigma},
            {.name = "derivatives",
             .value = "D,D,...",
             .fallback = "x,y,xx,xy,yy",
             .help = "of the filter, or other features (docs/filters.md)"},
            {.name = "kernel",
             .type = Type::choice,
             .value = "NAME",
             .fallback = "gaussian",
             .help = "weights: as in SciPy, or the few of P-3PC",
             .choices = {all_weights[0].name, all_weights[1].name}},
            {.name = "truncate",
             .type = Type::number,
             .value = "SIGMAS",
             .help = "cut the Gaussian there, as SciPy does; default: where it counts no more",
             .least = 0,
             .most = kernel::largest_truncation},
            {.name = "before",
             .value = "D@PIXELS,...",
             .help = "filters that come first, each on what the one before made: smooth@2"}};
}

Parameter distribute_parameter() {
    return {.name = "distribute",
            .value = "HOW",
            .help = "read: each its tile; scatter, broadcast, a collective: rank 0"};
}

std::vector<Parameter> border_parameters() {
    return {{.name = "border",
             .type = Type::choice,
             .value = "HOW",
             .fallback = "replicate",
             .help = "what is seen beyond it",
             .choices = {"replicate", "mirror", "constant"}},
            {.name = "border-value",
             .type = Type::number,
             .value = "V",
             .fallback = "0",
             .help = "what a constant border shows",
             .least = -most_sample,
             .most = most_sample}};
}

FilterOptions options_from(const Values& values) {
    FilterOptions options;
    options.sigma = values.number("sigma");
    options.derivatives = listed(values, "derivatives", options.most_derivatives);
    options.kernel = weights_named(values.text("kernel"));
    if (values.has("truncate")) {
        if (options.kernel != Weights::gaussian)
            refuse_given(values, {"truncate"}, "the kernel p3pc has a reach of its own");
        options.truncate = values.number("truncate");
    }
    for (const std::string& text : listed(values, "before", options.most_before))
        options.before.push_back(earlier_filter(text));
    if (values.has("distribute"))
        options.distribute = values.text("distribute");
    if (values.has("grid")) {
        const ImageSize grid = image_size("grid", values.text("grid"));
        options.grid = {static_cast<int>(grid.width), static_cast<int>(grid.height)};
    }
    if (!values.has("border")) // of `explain filter`
        return options;
    if (values.text("border") != "constant")
        refuse_given(values, {"border-value"}, "expected --border constant");
    options.border = border_named(values.text("border"));
    options.border_value = values.number("border-value");
    options.memory = values.integer("memory") << 20;
    options.shared_memory = values.text("shared-memory");
    options.machine = values.text("machine");
    options.probing = probing_of(values);
    return options;
}

} // namespace sextant::command
