// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/distributed/contour_tracing.hpp"
#include "sextant/distributed/filtering.hpp"
#include "sextant/distributed/labelling.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/series_registration.hpp"

#include "bindings.hpp"
#include "errors.hpp"
#include "frames.hpp"
#include "options.hpp"

namespace sextant::python {

namespace py = pybind11;

namespace {

template <class Options>
py::list described_options() {
    Options options;
    return described(record_of(options));
}

/// The declared options of each function.
py::dict declared_options() {
    py::dict all;
    all["register"] = described_options<RegistrationOptions>();
    all["label"] = described_options<LabelOptions>();
    all["filter"] = described_options<FilterOptions>();
    all["contours"] = described_options<ContoursOptions>();
    all["composite"] = described_options<CompositeOptions>();
    all["scan"] = described_options<prefix::ScanOptions>();
    return all;
}

} // namespace

PYBIND11_MODULE(_core, module) {
    translate_exceptions();
    bind_frames(module);
    bind_images(module);
    bind_registration(module);
    bind_composite(module);
    bind_scan(module);
    module.def("declared_options", &declared_options);
    module.def("mpi_of_build", &mpi_of_build);
    module.def("version", [] { return version(); });
    module.def("cores", [] { return Cores::available().count(); });
}

} // namespace sextant::python
