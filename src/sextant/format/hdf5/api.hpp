// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <type_traits>

#include <hdf5.h>

// libhdf5 is loaded when the first HDF5 file is opened. It depends on about thirty other libraries,
// whose loading would take a third of the program's start-up time.

namespace sextant::format {

/// Loads libhdf5 unless it is already loaded. Throws std::runtime_error with the system's reason if
/// loading fails.
void load_hdf5();

/// Returns the address of a function or variable of libhdf5. Throws std::runtime_error if the name
/// does not exist.
///
/// Requires  load_hdf5().
void* hdf5_address(const char* name);

/// A function of libhdf5, or a variable that holds an identifier. The symbol is resolved at its
/// first use. It converts to a function pointer, which also makes it callable, or to the value of
/// the variable.
template <class Type>
class Hdf5Symbol {
  public:
    constexpr explicit Hdf5Symbol(const char* name) : name_(name) {}

    using Value = std::conditional_t<std::is_function_v<Type>, Type*, Type>;
    operator Value() const {
        void* address = address_.load(std::memory_order_relaxed);
        if (address == nullptr)
            address_.store(address = hdf5_address(name_), std::memory_order_relaxed);
        if constexpr (std::is_function_v<Type>)
            return reinterpret_cast<Type*>(address);
        else
            return *static_cast<Type*>(address);
    }

  private:
    const char* name_;
    mutable std::atomic<void*> address_ = nullptr;
};

// The symbols in this namespace hide the declarations of the same names in hdf5.h.
#define SEXTANT_HDF5(name) inline constinit const Hdf5Symbol<decltype(::name)> name{#name};
// clang-format off
SEXTANT_HDF5(H5Aclose) SEXTANT_HDF5(H5Aexists_by_name) SEXTANT_HDF5(H5Aget_space)
SEXTANT_HDF5(H5Aget_type) SEXTANT_HDF5(H5Aopen_by_name) SEXTANT_HDF5(H5Aread) SEXTANT_HDF5(H5Dclose)
SEXTANT_HDF5(H5Dget_chunk_info) SEXTANT_HDF5(H5Dget_chunk_storage_size)
SEXTANT_HDF5(H5Dget_create_plist) SEXTANT_HDF5(H5Dget_num_chunks) SEXTANT_HDF5(H5Dget_offset) SEXTANT_HDF5(H5Dget_space)
SEXTANT_HDF5(H5Dget_storage_size) SEXTANT_HDF5(H5Dget_type) SEXTANT_HDF5(H5Dopen2)
SEXTANT_HDF5(H5Dread) SEXTANT_HDF5(H5Dread_chunk) SEXTANT_HDF5(H5Epush2) SEXTANT_HDF5(H5Eset_auto2)
SEXTANT_HDF5(H5Ewalk2) SEXTANT_HDF5(H5Fclose) SEXTANT_HDF5(H5Fget_name) SEXTANT_HDF5(H5Fopen)
SEXTANT_HDF5(H5Lexists) SEXTANT_HDF5(H5Lregister) SEXTANT_HDF5(H5Lunpack_elink_val)
SEXTANT_HDF5(H5Lvisit) SEXTANT_HDF5(H5Oexists_by_name) SEXTANT_HDF5(H5Oopen)
SEXTANT_HDF5(H5Ovisit2) SEXTANT_HDF5(H5Pclose)
SEXTANT_HDF5(H5Pcopy) SEXTANT_HDF5(H5Pcreate) SEXTANT_HDF5(H5Pget_chunk)
SEXTANT_HDF5(H5Pget_external) SEXTANT_HDF5(H5Pget_external_count) SEXTANT_HDF5(H5Pget_filter2)
SEXTANT_HDF5(H5Pget_layout) SEXTANT_HDF5(H5Pget_nfilters) SEXTANT_HDF5(H5Pget_nlinks)
SEXTANT_HDF5(H5Pget_virtual_count) SEXTANT_HDF5(H5Pget_virtual_dsetname)
SEXTANT_HDF5(H5Pget_virtual_filename) SEXTANT_HDF5(H5Pget_virtual_srcspace)
SEXTANT_HDF5(H5Pget_virtual_vspace) SEXTANT_HDF5(H5Pset_chunk_cache)
SEXTANT_HDF5(H5Pset_efile_prefix) SEXTANT_HDF5(H5Pset_nlinks)
SEXTANT_HDF5(H5Pset_virtual_printf_gap) SEXTANT_HDF5(H5Pset_virtual_view) SEXTANT_HDF5(H5Sclose)
SEXTANT_HDF5(H5Scopy) SEXTANT_HDF5(H5Screate_simple) SEXTANT_HDF5(H5Sget_select_bounds)
SEXTANT_HDF5(H5Sget_select_npoints) SEXTANT_HDF5(H5Sget_select_type)
SEXTANT_HDF5(H5Sget_simple_extent_dims) SEXTANT_HDF5(H5Sget_simple_extent_ndims)
SEXTANT_HDF5(H5Sget_simple_extent_npoints) SEXTANT_HDF5(H5Sselect_hyperslab)
SEXTANT_HDF5(H5Sselect_intersect_block) SEXTANT_HDF5(H5Sselect_project_intersection)
SEXTANT_HDF5(H5Tclose) SEXTANT_HDF5(H5Tconvert) SEXTANT_HDF5(H5Tcopy) SEXTANT_HDF5(H5Tequal)
SEXTANT_HDF5(H5Tget_class)
SEXTANT_HDF5(H5Tget_fields) SEXTANT_HDF5(H5Tget_member_class) SEXTANT_HDF5(H5Tget_member_index) SEXTANT_HDF5(H5Tget_nmembers)
SEXTANT_HDF5(H5Tget_sign) SEXTANT_HDF5(H5Tget_size) SEXTANT_HDF5(H5Tis_variable_str)
SEXTANT_HDF5(H5Tset_ebias) SEXTANT_HDF5(H5Tset_fields) SEXTANT_HDF5(H5Tset_size)
SEXTANT_HDF5(H5Zfilter_avail) SEXTANT_HDF5(H5check_version) SEXTANT_HDF5(H5free_memory)
SEXTANT_HDF5(H5open) SEXTANT_HDF5(H5E_ERR_CLS_g) SEXTANT_HDF5(H5E_LINK_g)
SEXTANT_HDF5(H5E_TRAVERSE_g) SEXTANT_HDF5(H5P_CLS_DATASET_ACCESS_ID_g)
SEXTANT_HDF5(H5T_NATIVE_DOUBLE_g) SEXTANT_HDF5(H5T_NATIVE_FLOAT_g) SEXTANT_HDF5(H5T_NATIVE_INT16_g)
SEXTANT_HDF5(H5T_NATIVE_INT32_g) SEXTANT_HDF5(H5T_NATIVE_INT64_g) SEXTANT_HDF5(H5T_NATIVE_INT8_g)
SEXTANT_HDF5(H5T_NATIVE_UINT16_g) SEXTANT_HDF5(H5T_NATIVE_UINT32_g)
SEXTANT_HDF5(H5T_NATIVE_UINT64_g) SEXTANT_HDF5(H5T_NATIVE_UINT8_g)
// clang-format on
#undef SEXTANT_HDF5

} // namespace sextant::format
