# SPDX-License-Identifier: BSD-3-Clause
"""The keywords of the functions. Written by generate_options.py; do not edit."""
from __future__ import annotations

from os import PathLike
from typing import Any, Dict, Literal, Sequence, Tuple, TypedDict, Union

Path = Union[str, "PathLike[str]"]
Size = Union[str, int, Tuple[int, int]]
Tiles = Union[str, int, Tuple[int, int], Tuple[int, int, int]]
Pair = Union[str, Tuple[float, float]]
Texts = Union[str, Sequence[str]]
Filters = Union[str, Sequence[Union[str, Tuple[str, float]]]]
Integers = Union[int, str, Sequence[int]]
Numbers = Union[float, str, Sequence[float]]


class RegisterOptions(TypedDict, total=False):
    r"""
    model : {"translation", "rigid", "similarity", "affine", "nonrigid", "auto"}, default: "rigid"
        Motions.
    reference : int, optional
        Reference frame; default: first usable, or the middle of a long drift.
    stages : int, default: 2
        Number of stages; later stages register to the previous average (1 to 100).
    reproducible : bool, default: False
        Produce the same bits in every run with the same number of ranks.
    recorded_mean : bool, default: False
        Compute the mean of the frames as recorded.
    threads : int, default: 1
        Threads per rank (1 to 1024).
    thread_work : {"auto", "rows", "frames"}, default: "auto"
        Divide rows or whole frames among threads.
    memory : str or int, default: "64M"
        Memory limit per rank for filtered frames, later for the median.
    checkpoint : path, optional
        Folder of checkpoints, from which an interrupted run resumes.
    restart : bool, default: False
        Discard the checkpoint of an earlier run.
    prefilter : float, default: 1.5
        Standard deviation in pixels of the Gaussian filter applied before registration (0 to
        64).
    farthest : int, default: 3
        Number of preceding frames to which each frame is registered (1 to 1024).
    tolerance : float, default: 1.5
        Largest difference in pixels between motions that count as agreeing.
    min_registered : float, default: 0.5
        Least fraction of the usable frames that must be registered (0 to 1).
    average : {"plain", "weighted"}, default: "plain"
        Mean, or mean with matched level and contrast.
    frames : str or sequence of int, default: "sound"
        Frames to average: sound, all, or a list such as 0-9,12.
    despike : str or float, default: "auto"
        Ignore hot pixels and cosmic rays: auto, off, or a sigma limit.
    flatten : {"auto", "on", "off"}, default: "auto"
        Remove varying shading before registration.
    static : {"auto", "off"}, default: "auto"
        Subtract a pattern that is fixed to the detector.
    contrast : {"auto", "same"}, default: "auto"
        Contrast of frames; auto recognises inverted ones.
    canvas : {"reference", "union", "common"}, default: "reference"
        Area that result images cover.
    scan_rows : {"auto", "on", "off"}, default: "auto"
        Register each row of scans; auto if rows jitter.
    roi : int or sequence of int, optional
        Compare only this part of frames: first column and row, width, height.
    bidirectional : str or float, default: "auto"
        Shift of odd rows in bidirectional scans: auto, off, or pixels.
    max_shift : float, optional
        Largest motion between neighbours in pixels; default: half a frame.
    rotation : float, default: 3
        Largest rotation between frames in degrees; 180: any angle (3 to 180).
    """
    model: Literal["translation", "rigid", "similarity", "affine", "nonrigid", "auto"]
    reference: int
    stages: int
    reproducible: bool
    recorded_mean: bool
    threads: int
    thread_work: Literal["auto", "rows", "frames"]
    memory: Union[str, int]
    checkpoint: Path
    restart: bool
    prefilter: float
    farthest: int
    tolerance: float
    min_registered: float
    average: Literal["plain", "weighted"]
    frames: Integers
    despike: Union[str, float]
    flatten: Literal["auto", "on", "off", True, False]
    static: Literal["auto", "off"]
    contrast: Literal["auto", "same"]
    canvas: Literal["reference", "union", "common"]
    scan_rows: Literal["auto", "on", "off", True, False]
    roi: Integers
    bidirectional: Union[str, float]
    max_shift: float
    rotation: float


class LabelOptions(TypedDict, total=False):
    r"""
    neighbours : {4, 8, 6, 18, 26}, optional
        Connectivity; default: 8 in images, 26 in volumes.
    by_value : bool, default: False
        Connect only samples of equal value.
    measure : bool, default: False
        Measure each component.
    columns : {"auto", "sizes", "all"}, default: "auto"
        Table columns; auto: sizes in images, else all.
    fill_holes : bool, default: False
        First fill holes: background enclosed by a component.
    min_size : int, default: 0
        Turn components with fewer samples into background.
    keep_largest : int, default: 0
        Keep only this many of the largest components; 0: all.
    memory : str or int, default: "1G"
        Memory limit for samples and labels; larger inputs are streamed.
    grid : tuple of int, int or str, optional
        Label an image in tiles, one per rank: columns x rows of tiles.
    pattern : str, default: "auto"
        Order in which tiles are merged (sextant list algorithms).
    machine : path, optional
        Machine profile for predictions; default: this machine's.
    probe : {"now", "kept", "off"}, default: "kept"
        If this machine has no profile, measure it for a tenth of the time of the work, at most
        a second.
    """
    neighbours: Literal["4", 4, "8", 8, "6", 6, "18", 18, "26", 26]
    by_value: bool
    measure: bool
    columns: Literal["auto", "sizes", "all"]
    fill_holes: bool
    min_size: int
    keep_largest: int
    memory: Union[str, int]
    grid: Tiles
    pattern: str
    machine: Path
    probe: Literal["now", "kept", "off"]


class MeasureOptions(TypedDict, total=False):
    r"""
    columns : {"auto", "sizes", "all"}, default: "auto"
        Table columns; auto: sizes in images, else all.
    memory : str or int, default: "1G"
        Memory limit for samples; larger volumes are read in slabs.
    """
    columns: Literal["auto", "sizes", "all"]
    memory: Union[str, int]


class StitchOptions(TypedDict, total=False):
    r"""
    block : int or sequence of int, optional
        Size of blocks to cut each volume into; 0: do not cut along this axis.
    size : int or sequence of int, optional
        Size of the stitched volume; default: extent of the blocks.
    allow_gaps : bool, default: False
        Treat voxels in no block as background, not as an error.
    by : {"iou", "voxels"}, default: "iou"
        Match score: intersection over union, shared voxels.
    threshold : float, optional
        Minimum score for joining labels; default: 0.5 (iou) or 1 (voxels).
    memory : str or int, default: "1G"
        Memory limit for samples and labels.
    """
    block: Integers
    size: Integers
    allow_gaps: bool
    by: Literal["iou", "voxels"]
    threshold: float
    memory: Union[str, int]


class FilterOptions(TypedDict, total=False):
    r"""
    derivatives : str or sequence of str, default: "x,y,xx,xy,yy"
        Derivatives or other features (docs/filters.md).
    kernel : {"gaussian", "p3pc"}, default: "gaussian"
        Filter weights of SciPy or of P-3PC.
    truncate : float, optional
        Truncation radius in sigmas; default: where weights are negligible (0 to 20).
    before : str or sequence of str or (str, float), optional
        Filters to apply first, one after the other, such as smooth@2.
    border : {"replicate", "mirror", "reflect", "constant", "wrap"}, default: "replicate"
        Border handling.
    border_value : float, default: 0
        Value outside the image, -1e30 to 1e30, for border constant.
    memory : str or int, default: "64M"
        Memory limit for image and results; larger images are streamed.
    grid : tuple of int, int or str, optional
        Columns x rows (x layers) of tiles; default: predicted to be fastest.
    distribute : str, default: "any"
        How ranks get tiles: read (each its own), scatter, broadcast, any.
    shared_memory : {"auto", "on", "off"}, default: "auto"
        Share memory between processes of a node.
    machine : path, optional
        Machine profile for predictions; default: this machine's.
    probe : {"now", "kept", "off"}, default: "kept"
        If this machine has no profile, measure it for a tenth of the time of the work, at most
        a second.
    """
    derivatives: Texts
    kernel: Literal["gaussian", "p3pc"]
    truncate: float
    before: Filters
    border: Literal["replicate", "mirror", "reflect", "constant", "wrap"]
    border_value: float
    memory: Union[str, int]
    grid: Tiles
    distribute: str
    shared_memory: Literal["auto", "on", "off", True, False]
    machine: Path
    probe: Literal["now", "kept", "off"]


class ContoursOptions(TypedDict, total=False):
    r"""
    sigma : float, default: 1
        Scale of the gradient in pixels, 0.5 to 1000.
    quantiles : (float, float), default: (0.8, 0.95)
        Hysteresis thresholds as quantiles of gradient magnitudes.
    thresholds : (float, float), optional
        Hysteresis thresholds as gradient magnitudes, in grey values per pixel.
    directions : bool, default: False
        The image is a direction map (docs/contours.md).
    min_length : int, default: 1
        Omit contours with fewer points.
    simplify : float, optional
        Approximate contours by straight segments within this distance (0 to 1000000).
    memory : str or int, default: "4G"
        Memory limit for image and results; larger images are streamed.
    scratch : path, default: "./"
        Folder for scratch files if the image exceeds the memory limit.
    grid : tuple of int, int or str, optional
        Columns and rows of tiles; default: nearly square.
    pattern : str, default: "auto"
        Order in which tiles are merged (sextant list algorithms).
    machine : path, optional
        Machine profile for predictions; default: this machine's.
    probe : {"now", "kept", "off"}, default: "kept"
        If this machine has no profile, measure it for a tenth of the time of the work, at most
        a second.
    """
    sigma: float
    quantiles: Pair
    thresholds: Pair
    directions: bool
    min_length: int
    simplify: float
    memory: Union[str, int]
    scratch: Path
    grid: Tiles
    pattern: str
    machine: Path
    probe: Literal["now", "kept", "off"]


class CompositeOptions(TypedDict, total=False):
    r"""
    algorithm : str, default: "auto"
        Algorithm (sextant list algorithms); auto: predicted fastest.
    radices : int or sequence of int, optional
        Radices of radix-k: factors of the number of ranks, each 2 or more.
    window : int, optional
        Number of message rounds in flight, for algorithms that work in rounds.
    sparse : {"auto", "on", "off"}, default: "auto"
        Skip empty pixels in messages.
    interlace : {"auto", "on", "off"}, default: "auto"
        Assign rows to ranks cyclically, to balance work.
    operator : str, default: "over"
        Over, nearest, add, max or deep.
    order : int or sequence of int, optional
        Visibility order of the ranks, front to back.
    background : str or sequence of float, optional
        White, black, gray, #rrggbb, #rrggbbaa, or r,g,b[,a] from 0 to 1.
    root : int, default: 0
        Rank that receives the image; -1: the image stays distributed.
    association : {"in-order", "by-arrival"}, default: "in-order"
        Order in which operands are combined.
    threads : int, default: 1
        Threads per rank for blending; their number does not affect results (1 to 1024).
    machine : path, optional
        Machine profile for predictions; default: this machine's.
    probe : {"now", "kept", "off"}, default: "kept"
        If this machine has no profile, measure it for a tenth of the time of the work, at most
        a second.
    plan : path, optional
        Read the plan from this file.
    density : float, default: 1
        Expected fraction of active pixels; determines whether to skip empty ones (0 to 1).
    reproducible : bool, default: False
        Fold operands in the same order in all frames; do not race candidates.
    """
    algorithm: str
    radices: Integers
    window: int
    sparse: Literal["auto", "on", "off", True, False]
    interlace: Literal["auto", "on", "off", True, False]
    operator: str
    order: Integers
    background: Numbers
    root: int
    association: Literal["in-order", "by-arrival"]
    threads: int
    machine: Path
    probe: Literal["now", "kept", "off"]
    plan: Path
    density: float
    reproducible: bool


class ScanOptions(TypedDict, total=False):
    r"""
    strategy : str, default: "scan-then-propagate"
        How each rank's values and the totals of ranks are combined (docs/scans.md).
    algorithm : str, default: "kogge-stone"
        Prefix circuit that scans the totals of ranks.
    k : int, default: 0
        Extra rounds of ladner-fischer, which save operator applications (0 to 64).
    gives_last : bool, default: True
        Pass on the last result of each rank instead of its total, if possible.
    association : {"in-order", "by-arrival"}, default: "in-order"
        Order in which operands are combined.
    threads : int, default: 1
        Threads per rank (1 to 1024).
    boundaries : {"fixed", "moving", "towards-slower", "look-ahead"}, default: "moving"
        How the boundaries between the threads' blocks of values move.
    time_limit : float, default: 0
        End the process if one application takes longer (seconds); 0: no limit.
    """
    strategy: str
    algorithm: str
    k: int
    gives_last: bool
    association: Literal["in-order", "by-arrival"]
    threads: int
    boundaries: Literal["fixed", "moving", "towards-slower", "look-ahead"]
    time_limit: float


class CalibrateOptions(TypedDict, total=False):
    r"""
    output : path, optional
        Profile to write; default: the file that commands read by default.
    budget : str, default: "60s"
        Total time limit of all launches.
    ci : str, default: "2%"
        Target half-width of confidence intervals, relative to the median.
    launches : int, default: 5
        Number of separate launches; always 1 if started by a launcher (1 to 1000).
    append : bool, default: False
        Add launches to those already in the file.
    transport : {"auto", "threads", "mpi"}, default: "auto"
        Transport; auto is mpi under mpirun.
    launcher : str, default: "mpirun -n 2"
        Command that starts processes, for transport mpi.
    seed : int, default: 1
        Random seed of the measurement order and of checks.
    check : path, optional
        Check the predictions of the profile FILE against new measurements.
    """
    output: Path
    budget: str
    ci: str
    launches: int
    append: bool
    transport: Literal["auto", "threads", "mpi"]
    launcher: str
    seed: int
    check: Path


class ExplainOptions(TypedDict, total=False):
    r"""
    ranks : int, default: 8
        Number of ranks (1 to 65536).
    size : (int, int), int or str, default: (1024, 1024)
        Width and height of each image.
    operator : str, default: "over"
        Operator on pixels.
    element : {"f32", "f16", "u8"}, default: "f32"
        Pixel element type.
    distributed : bool, default: False
        Leave the image distributed instead of collecting it on rank 0.
    model : str, optional
        Cost model; default: the most detailed one that the profile allows.
    density : float, default: 1
        Composite, label: fraction of pixels that are not 0 (0 to 1).
    radices : int or sequence of int, optional
        Radices of radix-k: factors of the number of ranks, each 2 or more.
    window : int, optional
        Number of message rounds in flight, for algorithms that work in rounds.
    transport : {"mpi", "threads"}, optional
        Transport; default: that of the given machine, else mpi.
    ranks_per_node : int, optional
        Number of ranks on each node, for mpi; default: 1 (1 to 65536).
    machine : path, optional
        Profile or platform: a file or an installed name; default: this machine.
    values : int, default: 64
        Scan: number of values of the series.
    cores : int, default: 8
        Number of cores for ranks and threads (1 to 4096).
    times : str, default: "exponential"
        Scan: operator times: constant, correlated, ... or a file.
    speedup : float or sequence of float, default: 1
        Scan: speedup of the operator on 1, 2, ... cores.
    depth : int, optional
        Filter, label: number of planes; default: plan for an image.
    frames : int, default: 100
        Register, apply: number of frames.
    by : {"bilinear", "cubic", "lanczos", "shift", "splat"}, default: "bilinear"
        Apply: resampling method.
    kind : {"broadcast", "scatter", "gather", "all-gather", "all-to-all", "reduce", "all-reduce", "reduce-scatter", "scan", "exclusive-scan"}, default: "all-reduce"
        Collective: the operation.
    count : int, default: 1048576
        Collective: elements of each rank; all-to-all: for each rank.
    element_size : int, default: 4
        Collective: size of an element that is only moved.
    root : int, default: 0
        The rank that sends to or receives from all others.
    reproducible : bool, default: False
        Combine in the order of a serial loop over the ranks.
    operator_seconds : float, default: 0
        Time in seconds to combine two elements, if the profile lacks it (0 to 1000000).
    sigma : float, default: 1
        Scale in pixels, 0 to 1000, or with unit (2um); also y,x or z,y,x.
    derivatives : str or sequence of str, default: "x,y,xx,xy,yy"
        Derivatives or other features (docs/filters.md).
    kernel : {"gaussian", "p3pc"}, default: "gaussian"
        Filter weights of SciPy or of P-3PC.
    truncate : float, optional
        Truncation radius in sigmas; default: where weights are negligible (0 to 20).
    before : str or sequence of str or (str, float), optional
        Filters to apply first, one after the other, such as smooth@2.
    memory : str or int, default: "64M"
        Memory limit for image and results; larger images are streamed.
    grid : tuple of int, int or str, optional
        Columns x rows (x layers) of tiles; default: predicted to be fastest.
    distribute : str, default: "any"
        How ranks get tiles: read (each its own), scatter, broadcast, any.
    """
    ranks: int
    size: Size
    operator: str
    element: Literal["f32", "f16", "u8"]
    distributed: bool
    model: str
    density: float
    radices: Integers
    window: int
    transport: Literal["mpi", "threads"]
    ranks_per_node: int
    machine: Path
    values: int
    cores: int
    times: str
    speedup: Numbers
    depth: int
    frames: int
    by: Literal["bilinear", "cubic", "lanczos", "shift", "splat"]
    kind: Literal["broadcast", "scatter", "gather", "all-gather", "all-to-all", "reduce", "all-reduce", "reduce-scatter", "scan", "exclusive-scan"]
    count: int
    element_size: int
    root: int
    reproducible: bool
    operator_seconds: float
    sigma: float
    derivatives: Texts
    kernel: Literal["gaussian", "p3pc"]
    truncate: float
    before: Filters
    memory: Union[str, int]
    grid: Tiles
    distribute: str


class SimulateOptions(TypedDict, total=False):
    r"""
    algorithm : str, optional
        Algorithm; default: the first of the family, with default parameters.
    radices : int or sequence of int, optional
        Radices of radix-k: factors of the number of ranks, each 2 or more.
    window : int, optional
        Number of message rounds in flight, for algorithms that work in rounds.
    interlace : int, optional
        Assign pixels to ranks cyclically, in blocks of N.
    gamma : float, optional
        Logp-lev-rec: fraction that a leader keeps; default: 0.75, gather: 0.6 (0.01 to 0.99).
    alpha : float, optional
        2-lev-rec: divide p ranks into p^alpha parts; default: one part per row (0.01 to 0.99).
    ranks : int, default: 8
        Number of ranks (1 to 131072).
    elements : int, default: 1048576
        Number of pixels or values.
    element_size : int, default: 16
        Size of an element in bytes.
    platform : path, optional
        Platform (JSON, or SimGrid's XML), or the name of an installed one.
    order : path, optional
        File that lists the hosts of ranks 0, 1, ..., one per line.
    association : {"by-arrival", "in-order"}, default: "by-arrival"
        Order of combining operands.
    send_overhead : float, optional
        Time in seconds that a rank needs to send a message (0 to 1).
    receive_overhead : float, optional
        Time in seconds that a rank needs to receive a message (0 to 1).
    blend_rate : float, optional
        Elements that a rank combines per second; 0: combining is free.
    machine : path, optional
        Profile with the costs of combining and copying: file or installed name.
    operator : str, default: "over"
        Operator to apply, as named in the profile.
    clock : bool, default: False
        Use Sextant's simulator, not SimGrid; faster if contention is high.
    trace : path, optional
        Write a trace of all ranks: .svg or JSON (docs/trace.md).
    """
    algorithm: str
    radices: Integers
    window: int
    interlace: int
    gamma: float
    alpha: float
    ranks: int
    elements: int
    element_size: int
    platform: Path
    order: Path
    association: Literal["by-arrival", "in-order"]
    send_overhead: float
    receive_overhead: float
    blend_rate: float
    machine: Path
    operator: str
    clock: bool
    trace: Path


class SynthesizeOptions(TypedDict, total=False):
    r"""
    specimen : {"lattice", "carbon", "particles"}, default: "lattice"
        Specimen shown in the frames.
    image : path, optional
        Image to show instead of a specimen.
    frames : int, default: 16
        Number of frames.
    width : int, default: 512
        Width of a frame in pixels.
    height : int, default: 512
        Height of a frame in pixels.
    dose : float, default: 10
        Mean number of electrons per pixel (1e-06 to 1000000).
    contrast : float, default: 0.25
        Standard deviation of the brightness, relative to its mean (0 to 10).
    period : float, default: 24
        Period of the lattice in pixels.
    amorphous : float, default: 0.38
        Fraction of the lattice's contrast that is not periodic (0 to 1).
    detail : float, default: 6
        Size in pixels of the features that are not periodic (1.5 to 1000).
    drift_x : float, default: -1.3
        Motion of the content to the right per frame, in pixels.
    drift_y : float, default: 0.7
        Motion of the content downward per frame, in pixels.
    rotation : float, default: 0
        Clockwise rotation per frame in degrees (-360 to 360).
    random_step : float, default: 0.5
        Standard deviation of a random step per frame, in pixels.
    random_rotation : float, default: 0
        Standard deviation of a random rotation per frame, in degrees (0 to 360).
    warp : float, default: 0
        Amplitude in pixels of a distortion that grows until the last frame.
    warp_length : float, default: 512
        Wavelength of the distortion in pixels.
    blanks : int or sequence of int, optional
        Indices of frames recorded with the beam off.
    jumps : int or sequence of int, optional
        Shift by X px right, Y px down before frame I; three numbers per jump.
    seed : int, default: 1
        Seed of the random numbers.
    """
    specimen: Literal["lattice", "carbon", "particles"]
    image: Path
    frames: int
    width: int
    height: int
    dose: float
    contrast: float
    period: float
    amorphous: float
    detail: float
    drift_x: float
    drift_y: float
    rotation: float
    random_step: float
    random_rotation: float
    warp: float
    warp_length: float
    blanks: Integers
    jumps: Integers
    seed: int


class FeaturesOptions(TypedDict, total=False):
    r"""
    kernel : {"gaussian", "p3pc"}, default: "gaussian"
        Filter weights of SciPy or of P-3PC.
    truncate : float, optional
        Truncation radius in sigmas; default: where weights are negligible (0 to 20).
    before : str or sequence of str or (str, float), optional
        Filters to apply first, one after the other, such as smooth@2.
    border : {"replicate", "mirror", "reflect", "constant", "wrap"}, default: "replicate"
        Border handling.
    border_value : float, default: 0
        Value outside the image, -1e30 to 1e30, for border constant.
    memory : str or int, default: "64M"
        Memory limit for image and results; larger images are streamed.
    grid : tuple of int, int or str, optional
        Columns x rows (x layers) of tiles; default: predicted to be fastest.
    distribute : str, default: "any"
        How ranks get tiles: read (each its own), scatter, broadcast, any.
    shared_memory : {"auto", "on", "off"}, default: "auto"
        Share memory between processes of a node.
    machine : path, optional
        Machine profile for predictions; default: this machine's.
    probe : {"now", "kept", "off"}, default: "kept"
        If this machine has no profile, measure it for a tenth of the time of the work, at most
        a second.
    """
    kernel: Literal["gaussian", "p3pc"]
    truncate: float
    before: Filters
    border: Literal["replicate", "mirror", "reflect", "constant", "wrap"]
    border_value: float
    memory: Union[str, int]
    grid: Tiles
    distribute: str
    shared_memory: Literal["auto", "on", "off", True, False]
    machine: Path
    probe: Literal["now", "kept", "off"]


class CannyOptions(TypedDict, total=False):
    r"""
    sigma : float, default: 1
        Scale of the gradient in pixels, 0.5 to 1000.
    quantiles : (float, float), default: (0.8, 0.95)
        Hysteresis thresholds as quantiles of gradient magnitudes.
    thresholds : (float, float), optional
        Hysteresis thresholds as gradient magnitudes, in grey values per pixel.
    grid : tuple of int, int or str, optional
        Columns and rows of tiles; default: nearly square.
    pattern : str, default: "auto"
        Order in which tiles are merged (sextant list algorithms).
    machine : path, optional
        Machine profile for predictions; default: this machine's.
    probe : {"now", "kept", "off"}, default: "kept"
        If this machine has no profile, measure it for a tenth of the time of the work, at most
        a second.
    """
    sigma: float
    quantiles: Pair
    thresholds: Pair
    grid: Tiles
    pattern: str
    machine: Path
    probe: Literal["now", "kept", "off"]


#: The defaults of options that have one, by class.
DEFAULTS: Dict[Any, Dict[str, Any]] = {
    RegisterOptions: {
        "model": "rigid",
        "stages": 2,
        "reproducible": False,
        "recorded_mean": False,
        "threads": 1,
        "thread_work": "auto",
        "memory": "64M",
        "restart": False,
        "prefilter": 1.5,
        "farthest": 3,
        "tolerance": 1.5,
        "min_registered": 0.5,
        "average": "plain",
        "frames": "sound",
        "despike": "auto",
        "flatten": "auto",
        "static": "auto",
        "contrast": "auto",
        "canvas": "reference",
        "scan_rows": "auto",
        "bidirectional": "auto",
        "rotation": 3,
    },
    LabelOptions: {
        "by_value": False,
        "measure": False,
        "columns": "auto",
        "fill_holes": False,
        "min_size": 0,
        "keep_largest": 0,
        "memory": "1G",
        "pattern": "auto",
        "probe": "kept",
    },
    MeasureOptions: {
        "columns": "auto",
        "memory": "1G",
    },
    StitchOptions: {
        "allow_gaps": False,
        "by": "iou",
        "memory": "1G",
    },
    FilterOptions: {
        "derivatives": "x,y,xx,xy,yy",
        "kernel": "gaussian",
        "border": "replicate",
        "border_value": 0,
        "memory": "64M",
        "distribute": "any",
        "shared_memory": "auto",
        "probe": "kept",
    },
    ContoursOptions: {
        "sigma": 1,
        "quantiles": (0.8, 0.95),
        "directions": False,
        "min_length": 1,
        "memory": "4G",
        "scratch": "./",
        "pattern": "auto",
        "probe": "kept",
    },
    CompositeOptions: {
        "algorithm": "auto",
        "sparse": "auto",
        "interlace": "auto",
        "operator": "over",
        "root": 0,
        "association": "in-order",
        "threads": 1,
        "probe": "kept",
        "density": 1,
        "reproducible": False,
    },
    ScanOptions: {
        "strategy": "scan-then-propagate",
        "algorithm": "kogge-stone",
        "k": 0,
        "gives_last": True,
        "association": "in-order",
        "threads": 1,
        "boundaries": "moving",
        "time_limit": 0,
    },
    CalibrateOptions: {
        "budget": "60s",
        "ci": "2%",
        "launches": 5,
        "append": False,
        "transport": "auto",
        "launcher": "mpirun -n 2",
        "seed": 1,
    },
    ExplainOptions: {
        "ranks": 8,
        "size": (1024, 1024),
        "operator": "over",
        "element": "f32",
        "distributed": False,
        "density": 1,
        "values": 64,
        "cores": 8,
        "times": "exponential",
        "speedup": 1,
        "frames": 100,
        "by": "bilinear",
        "kind": "all-reduce",
        "count": 1048576,
        "element_size": 4,
        "root": 0,
        "reproducible": False,
        "operator_seconds": 0,
        "sigma": 1,
        "derivatives": "x,y,xx,xy,yy",
        "kernel": "gaussian",
        "memory": "64M",
        "distribute": "any",
    },
    SimulateOptions: {
        "ranks": 8,
        "elements": 1048576,
        "element_size": 16,
        "association": "by-arrival",
        "operator": "over",
        "clock": False,
    },
    SynthesizeOptions: {
        "specimen": "lattice",
        "frames": 16,
        "width": 512,
        "height": 512,
        "dose": 10,
        "contrast": 0.25,
        "period": 24,
        "amorphous": 0.38,
        "detail": 6,
        "drift_x": -1.3,
        "drift_y": 0.7,
        "rotation": 0,
        "random_step": 0.5,
        "random_rotation": 0,
        "warp": 0,
        "warp_length": 512,
        "seed": 1,
    },
    FeaturesOptions: {
        "kernel": "gaussian",
        "border": "replicate",
        "border_value": 0,
        "memory": "64M",
        "distribute": "any",
        "shared_memory": "auto",
        "probe": "kept",
    },
    CannyOptions: {
        "sigma": 1,
        "quantiles": (0.8, 0.95),
        "pattern": "auto",
        "probe": "kept",
    },
}
