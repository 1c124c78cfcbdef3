// SPDX-License-Identifier: BSD-3-Clause
// The results of `sextant register`.
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/offset.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/series/register_run.hpp"

#include <list>
#include <variant>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

TextSink into(AtomicFile& file) {
    return [&file](std::string_view part) { file.write(part); };
}

} // namespace

std::unique_ptr<FrameSink> RegisterRun::sink(const std::string& name, std::int64_t frames,
                                             double offset, Seconds interval) {
    FrameHeader header;
    header.frames = frames;
    header.shape = source_->header().shape;
    header.pixel = source_->header().pixel;
    header.frame_interval = interval;
    const std::string path = path_of(fmt::format("{}.{}", name, values_.text("format")));
    header.sample = sample_with_offset(path, offset);
    summary_.files.push_back(path);
    return format::create_frames(path, header);
}

/// With the offset that was taken off, but 0 where no frame shows anything.
std::unique_ptr<FrameSink> RegisterRun::image(const std::string& name,
                                              const std::vector<float>& pixels,
                                              const std::vector<float>& count) {
    std::unique_ptr<FrameSink> image = sink(name, 1, options_.offset);
    if (image->header().sample == Sample::f32) {
        image->write(pixels);
        return image;
    }
    std::vector<double> wide(pixels.size());
    for (std::size_t pixel = 0; pixel < pixels.size(); ++pixel) {
        if (count[pixel] > 0)
            wide[pixel] = static_cast<double>(pixels[pixel]) + options_.offset;
    }
    image->write_samples(std::as_bytes(std::span(wide)));
    return image;
}

std::unique_ptr<FrameSink> RegisterRun::count_of(const registration::Combined& combined) {
    std::unique_ptr<FrameSink> image = sink("count", 1, 0);
    image->write(combined.count);
    return image;
}

std::unique_ptr<FrameSink> RegisterRun::aligned() {
    const ImageShape shape = source_->header().shape;
    const auto count = static_cast<std::int64_t>(registered_.frames.size());
    std::unique_ptr<FrameSink> stack =
        sink("aligned", count, options_.offset,
             frame_interval_of(source_->header(), registered_.frames));
    const registration::TransformOf transform =
        nonrigid()
            ? registration::transforms_by_fields(
                  *checkpoint_,
                  stages_ == 1 ? summary_.transforms.reference : registration::the_average, stages_)
            : registration::transforms(registered_);
    Team team(stage_options_.threads);
    registration::Resampler resampler(*source_, &team);
    std::vector<float> shown(static_cast<std::size_t>(shape.elements()));
    std::int64_t done = 0;
    for (const std::int64_t frame : registered_.frames) {
        progress_.say("write aligned frames", done++, count);
        resampler.show(frame, transform(frame), {0, shape.height}, shown);
        write_with_offset(*stack, shown, options_.offset);
    }
    return stack;
}

std::unique_ptr<FrameSink> RegisterRun::fields() {
    FrameHeader header;
    header.frames = 4 * static_cast<std::int64_t>(registered_.frames.size());
    header.shape = registration::nodes_of_fields(source_->header().shape);
    std::unique_ptr<FrameSink> planes = format::create_frames(path_of("fields.npy"), header);
    const registration::TransformOf transform = registration::transforms_by_fields(
        *checkpoint_, stages_ == 1 ? summary_.transforms.reference : registration::the_average,
        stages_);
    for (const std::int64_t frame : registered_.frames) {
        const auto field = std::get<registration::DisplacementField>(transform(frame));
        const std::vector<float> known(field.known.begin(), field.known.end());
        for (const std::vector<float>* plane : {&field.x, &field.y, &field.sigma, &known})
            planes->write(*plane);
        summary_.transforms.fields = {"fields.npy", field.spacing, field.nodes};
    }
    summary_.files.push_back(path_of("fields.npy"));
    return planes;
}

/// Everything is on the disk before anything appears.
void RegisterRun::write(const registration::Combined& combined) {
    std::vector<std::unique_ptr<FrameSink>> sinks;
    sinks.push_back(image("average", combined.mean, combined.count));
    sinks.push_back(image("median", combined.median, combined.count));
    sinks.push_back(count_of(combined));
    if (values_.flag("aligned"))
        sinks.push_back(aligned());
    if (nonrigid())
        sinks.push_back(fields());
    std::list<AtomicFile> tables;
    write_csv(summary_.transforms, into(tables.emplace_back(path_of("transforms.csv"))));
    write_json(summary_.transforms, into(tables.emplace_back(path_of("transforms.json"))));
    for (const auto& sink : sinks)
        sink->commit();
    for (AtomicFile& table : tables) {
        table.commit();
        summary_.files.push_back(table.path());
    }
}

} // namespace sextant::operation
