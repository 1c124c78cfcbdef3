# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ./run, ./test and .ci/run: lists the Debian packages and installs them.

packages_build="g++ cmake ninja-build pkg-config ca-certificates
    libopenmpi-dev openmpi-bin libcli11-dev libfmt-dev libhwy-dev nlohmann-json3-dev
    libopenexr-dev libspng-dev libtiff-dev libjpeg-dev libhdf5-dev libblosc-dev libzstd-dev zlib1g-dev libbz2-dev
    libhwloc-dev libeigen3-dev"
packages_sample="mricron-data"
packages_test="libgtest-dev libgmock-dev python3-jsonschema" # jsonschema checks the JSON that commands write
packages_peers="imagej default-jre-headless python3-tifffile python3-zarr python3-numpy python3-nibabel python3-h5py python3-mrcfile
    python3-scipy" # tests exchange files with them
packages_python="python3-dev python3-pybind11 pybind11-dev python3-numpy python3-mpi4py python3-pytest
    python3-scipy python3-dask python3-h5py mypy procps python3-build python3-setuptools python3-wheel"
packages_python_peers="python3-hyperspy python3-skimage python3-matplotlib python3-zarr
    python3-nbclient python3-ipykernel" # large, and each is used by few tests, which skip without it
packages_paraview="paraview-dev python3-paraview openmpi-bin xvfb libgl1-mesa-dri libgl-dev libopengl-dev libegl-dev" # 2.6 GB
packages_simulation="libsimgrid-dev"
packages_pages="libcpp-httplib-dev" # serves pages while series are recorded
packages_other_mpi="libmpich-dev mpich"
packages_cache="ccache" # shares object files between build trees
packages_check="clang-format"
packages_site="python3-sphinx python3-myst-parser furo python3-breathe doxygen
    python3-numpy python3-h5py python3-dask python3-mpi4py" # the pages run Python programs

# Prints those of the given packages that are not installed.
missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

# Shows the download and disk size of installing the given packages, as reported by apt.
show_packages() {
    if [ $# -eq 0 ]; then
        echo "Nothing to install."
        return
    fi
    echo "To install:" "$@"
    if [ "$(id -u)" = 0 ] && ! apt-cache show "$1" >/dev/null 2>&1; then
        echo "(the package lists are empty; 'apt-get update' first tells the size)"
        return
    fi
    LC_ALL=C apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null |
        grep -E '^(Need to get|After this operation|[0-9]+ upgraded)' || true
}

# Installs missing packages, or prints the command that an administrator must run.
install_packages() {
    wanted=$(missing_packages "$@")
    [ -n "$wanted" ] || return 0
    wanted=$(echo $wanted)
    if [ "$(id -u)" = 0 ]; then as_root=
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo"
    elif command -v sudo >/dev/null && [ -t 0 ]; then as_root="sudo"
    else
        echo "These packages are missing and this account may not install them. Ask for:" >&2
        echo "    apt-get install --no-install-recommends $wanted" >&2
        return 1
    fi
    echo "Installing: $wanted"
    log=$(mktemp)
    if ! { $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive \
           apt-get install -y -qq --no-install-recommends $wanted; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# Otherwise Open MPI refuses to run as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
