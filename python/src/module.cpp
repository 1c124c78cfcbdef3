// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/series_registration.hpp"

#include <map>
#include <string>
#include <string_view>

#include "bindings.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "frames.hpp"
#include "keywords.hpp"
#include "options.hpp"
#include "running.hpp"
#include "text.hpp"

namespace sextant::python {

namespace py = pybind11;

namespace {

template <class Options>
py::list described_options() {
    Options options;
    return described(record_of(options));
}

template <class Options>
void check_options_of(const py::dict& keywords) {
    Parsed<Options>{keywords};
}

void check_filter_options(const py::dict& keywords) {
    FilterOptions options;
    set_options(filter_record(options), keywords);
}

void check_scan_options(const py::dict& keywords) {
    prefix::ScanOptions options;
    set_options(record_of(options), keywords);
    scan::find_strategy(options.strategy);
    scan::find(options.algorithm);
}

/// Checks keywords without running a function.
void check_options(const std::string& function, const py::dict& keywords) {
    static const std::map<std::string, void (*)(const py::dict&)> checks = {
        {"register", &check_options_of<RegistrationOptions>},
        {"label", &check_options_of<LabelKeywords>},
        {"filter", &check_filter_options},
        {"stitch", &check_options_of<StitchOptions>},
        {"contours", &check_options_of<ContoursOptions>},
        {"composite", &check_options_of<CompositeOptions>},
        {"scan", &check_scan_options}};
    if (const auto check = checks.find(function); check != checks.end())
        check->second(keywords);
}

/// Writes files atomically: all or none. `files`: pairs of a path and its bytes.
void write_files(const py::list& files) {
    JointCommit together;
    for (const py::handle file : files) {
        const auto parts = py::reinterpret_borrow<py::tuple>(file);
        write_file(path_of("path", parts[0]), parts[1].cast<std::string_view>());
    }
    together.commit();
}

/// The declared options of each function.
py::dict declared_options() {
    py::dict all;
    all["register"] = described_options<RegistrationOptions>();
    all["label"] = described_options<LabelKeywords>();
    all["measure"] = described_options<MeasureKeywords>();
    all["stitch"] = described_options<StitchOptions>();
    all["filter"] = described_options<FilterOptions>();
    all["contours"] = described_options<ContoursOptions>();
    all["composite"] = described_options<CompositeOptions>();
    all["scan"] = described_options<prefix::ScanOptions>();
    return all;
}

} // namespace

PYBIND11_MODULE(_core, module) {
    translate_exceptions();
    end_calls_at_exit();
    bind_frames(module);
    bind_images(module);
    bind_labels(module);
    bind_registration(module);
    bind_composite(module);
    bind_scan(module);
    bind_command(module);
    bind_page(module);
    module.def("check_comm", &check_comm);
    module.def("check_options", &check_options);
    module.def("declared_options", &declared_options);
    module.def("mpi_of_build", &mpi_of_build);
    module.def("times_asked", &times_asked);
    module.def("version", [] { return version(); });
    module.def("whole_number", &whole_number);
    module.def("truth", &truth);
    module.def("write_files", &write_files);
    module.def("cores", [] { return Cores::available().count(); });
}

} // namespace sextant::python
