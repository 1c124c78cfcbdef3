// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace sextant::python {

void bind_images(pybind11::module_& module);
void bind_labels(pybind11::module_& module);
void bind_registration(pybind11::module_& module);
void bind_composite(pybind11::module_& module);
void bind_scan(pybind11::module_& module);
void bind_command(pybind11::module_& module);
void bind_page(pybind11::module_& module);

} // namespace sextant::python
