"""arXiv's categories: names, archives, groups, and the one spelling under which each is stored.

The list is that of arXiv's own `taxonomy/definitions.py` (arxiv-base, June 2026): 155 active categories in 20 active
archives, 18 archives that were subsumed into others, and 6 aliases. Two categories joined by an alias are one
subject with two names, of which a record may carry either or both; so records are stored, filtered and counted by
the canonical name only, and `normalize` runs before anything is stored.

A bare archive (`astro-ph` until 2008, `cond-mat` until 2004) is a category too, because old records have nothing
finer. A subsumed archive (`alg-geom`) becomes the category that took its place (`math.AG`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

# An archive's line is `archive | group | name`; the indented lines below it are its subject classes.
_ACTIVE = """\
astro-ph | physics | Astrophysics
    CO Cosmology and Nongalactic Astrophysics
    EP Earth and Planetary Astrophysics
    GA Astrophysics of Galaxies
    HE High Energy Astrophysical Phenomena
    IM Instrumentation and Methods for Astrophysics
    SR Solar and Stellar Astrophysics
cond-mat | physics | Condensed Matter
    dis-nn Disordered Systems and Neural Networks
    mes-hall Mesoscale and Nanoscale Physics
    mtrl-sci Materials Science
    other Other Condensed Matter
    quant-gas Quantum Gases
    soft Soft Condensed Matter
    stat-mech Statistical Mechanics
    str-el Strongly Correlated Electrons
    supr-con Superconductivity
cs | cs | Computer Science
    AI Artificial Intelligence
    AR Hardware Architecture
    CC Computational Complexity
    CE Computational Engineering, Finance, and Science
    CG Computational Geometry
    CL Computation and Language
    CR Cryptography and Security
    CV Computer Vision and Pattern Recognition
    CY Computers and Society
    DB Databases
    DC Distributed, Parallel, and Cluster Computing
    DL Digital Libraries
    DM Discrete Mathematics
    DS Data Structures and Algorithms
    ET Emerging Technologies
    FL Formal Languages and Automata Theory
    GL General Literature
    GR Graphics
    GT Computer Science and Game Theory
    HC Human-Computer Interaction
    IR Information Retrieval
    IT Information Theory
    LG Machine Learning
    LO Logic in Computer Science
    MA Multiagent Systems
    MM Multimedia
    MS Mathematical Software
    NA Numerical Analysis
    NE Neural and Evolutionary Computing
    NI Networking and Internet Architecture
    OH Other Computer Science
    OS Operating Systems
    PF Performance
    PL Programming Languages
    RO Robotics
    SC Symbolic Computation
    SD Sound
    SE Software Engineering
    SI Social and Information Networks
    SY Systems and Control
econ | econ | Economics
    EM Econometrics
    GN General Economics
    TH Theoretical Economics
eess | eess | Electrical Engineering and Systems Science
    AS Audio and Speech Processing
    IV Image and Video Processing
    SP Signal Processing
    SY Systems and Control
gr-qc | physics | General Relativity and Quantum Cosmology
hep-ex | physics | High Energy Physics - Experiment
hep-lat | physics | High Energy Physics - Lattice
hep-ph | physics | High Energy Physics - Phenomenology
hep-th | physics | High Energy Physics - Theory
math | math | Mathematics
    AC Commutative Algebra
    AG Algebraic Geometry
    AP Analysis of PDEs
    AT Algebraic Topology
    CA Classical Analysis and ODEs
    CO Combinatorics
    CT Category Theory
    CV Complex Variables
    DG Differential Geometry
    DS Dynamical Systems
    FA Functional Analysis
    GM General Mathematics
    GN General Topology
    GR Group Theory
    GT Geometric Topology
    HO History and Overview
    IT Information Theory
    KT K-Theory and Homology
    LO Logic
    MG Metric Geometry
    MP Mathematical Physics
    NA Numerical Analysis
    NT Number Theory
    OA Operator Algebras
    OC Optimization and Control
    PR Probability
    QA Quantum Algebra
    RA Rings and Algebras
    RT Representation Theory
    SG Symplectic Geometry
    SP Spectral Theory
    ST Statistics Theory
math-ph | physics | Mathematical Physics
nlin | physics | Nonlinear Sciences
    AO Adaptation and Self-Organizing Systems
    CD Chaotic Dynamics
    CG Cellular Automata and Lattice Gases
    PS Pattern Formation and Solitons
    SI Exactly Solvable and Integrable Systems
nucl-ex | physics | Nuclear Experiment
nucl-th | physics | Nuclear Theory
physics | physics | Physics
    acc-ph Accelerator Physics
    ao-ph Atmospheric and Oceanic Physics
    app-ph Applied Physics
    atm-clus Atomic and Molecular Clusters
    atom-ph Atomic Physics
    bio-ph Biological Physics
    chem-ph Chemical Physics
    class-ph Classical Physics
    comp-ph Computational Physics
    data-an Data Analysis, Statistics and Probability
    ed-ph Physics Education
    flu-dyn Fluid Dynamics
    gen-ph General Physics
    geo-ph Geophysics
    hist-ph History and Philosophy of Physics
    ins-det Instrumentation and Detectors
    med-ph Medical Physics
    optics Optics
    plasm-ph Plasma Physics
    pop-ph Popular Physics
    soc-ph Physics and Society
    space-ph Space Physics
q-bio | q-bio | Quantitative Biology
    BM Biomolecules
    CB Cell Behavior
    GN Genomics
    MN Molecular Networks
    NC Neurons and Cognition
    OT Other Quantitative Biology
    PE Populations and Evolution
    QM Quantitative Methods
    SC Subcellular Processes
    TO Tissues and Organs
q-fin | q-fin | Quantitative Finance
    CP Computational Finance
    EC Economics
    GN General Finance
    MF Mathematical Finance
    PM Portfolio Management
    PR Pricing of Securities
    RM Risk Management
    ST Statistical Finance
    TR Trading and Market Microstructure
quant-ph | physics | Quantum Physics
stat | stat | Statistics
    AP Applications
    CO Computation
    ME Methodology
    ML Machine Learning
    OT Other Statistics
    TH Statistics Theory
"""

# `archive | group | name | category that took its place`.
_SUBSUMED = """\
acc-phys | physics | Accelerator Physics | physics.acc-ph
adap-org | physics | Adaptation, Noise, and Self-Organizing Systems | nlin.AO
alg-geom | math | Algebraic Geometry | math.AG
ao-sci | physics | Atmospheric-Oceanic Sciences | physics.ao-ph
atom-ph | physics | Atomic, Molecular and Optical Physics | physics.atom-ph
bayes-an | physics | Bayesian Analysis | physics.data-an
chao-dyn | physics | Chaotic Dynamics | nlin.CD
chem-ph | physics | Chemical Physics | physics.chem-ph
cmp-lg | cs | Computation and Language | cs.CL
comp-gas | physics | Cellular Automata and Lattice Gases | nlin.CG
dg-ga | math | Differential Geometry | math.DG
funct-an | math | Functional Analysis | math.FA
mtrl-th | physics | Materials Theory | cond-mat.mtrl-sci
patt-sol | physics | Pattern Formation and Solitons | nlin.PS
plasm-ph | physics | Plasma Physics | physics.plasm-ph
q-alg | math | Quantum Algebra and Topology | math.QA
solv-int | physics | Exactly Solvable and Integrable Systems | nlin.SI
supr-con | physics | Superconductivity | cond-mat.supr-con
"""


@dataclass(frozen=True, slots=True)
class Archive:
    """One archive.

    Attributes:
        name: its human name.
        group: one of the eight public groups: physics, math, q-bio, cs, q-fin, stat, eess, econ.
        now: the category that took its place; empty while the archive is active.
    """

    name: str
    group: str
    now: str = ""


def _archives(*tables: str) -> dict[str, Archive]:
    lines = "".join(tables).splitlines()
    rows = (line.split(" | ") for line in lines if line and not line.startswith(" "))
    return {archive: Archive(name, group, *now) for archive, group, name, *now in rows}


def _categories(table: str) -> dict[str, str]:
    """Category to name; an archive without subject classes is its own category."""
    names: dict[str, str] = {}
    for block in table.strip().replace("\n    ", "\0").splitlines():
        head, *classes = block.split("\0")
        archive, _, name = head.split(" | ")
        pairs = [line.split(" ", 1) for line in classes]
        names |= {f"{archive}.{subject}": text for subject, text in pairs} or {archive: name}
    return names


ARCHIVES: Mapping[str, Archive] = MappingProxyType(_archives(_ACTIVE, _SUBSUMED))
"""The 20 active archives, then the 18 subsumed ones, each part by name."""

CATEGORIES: Mapping[str, str] = MappingProxyType(_categories(_ACTIVE))
"""The human names of the 155 active categories, aliases included, archive by archive."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "cs.NA": "math.NA",
        "cs.SY": "eess.SY",
        "math.IT": "cs.IT",
        "math.MP": "math-ph",
        "q-fin.EC": "econ.GN",
        "stat.TH": "math.ST",
    }
)
"""The 6 aliases, each to its canonical category."""

_NAMES = {archive: entry.name for archive, entry in ARCHIVES.items()} | dict(CATEGORIES)
_EXACT = {token.lower(): token for token in _NAMES}
_NOW = {**ALIASES, **{archive: entry.now for archive, entry in ARCHIVES.items() if entry.now}}
_CANONICAL = {spelling: _NOW.get(token, token) for token in _NAMES for spelling in (token, token.lower())}


def canonical(category: str) -> str | None:
    """The one spelling under which a category or archive is stored; None where arXiv has no such.

    Args:
        category: in any case; an alias and a subsumed archive become what they are now (`cs.NA` is `math.NA`,
            `alg-geom` is `math.AG`), and a bare active archive (`astro-ph`, `cond-mat`) stays as it is.
    """
    return _CANONICAL.get(category) or _CANONICAL.get(category.lower())


def normalize(categories: Iterable[str]) -> tuple[str, ...]:
    """Canonical categories in the order given (arXiv puts the primary first), each once.

    What arXiv has no such category for is left out: ACM and MSC codes stand beside the categories in its Atom API.
    """
    found = (canonical(category) for category in categories)
    return tuple(dict.fromkeys(category for category in found if category))


def name(category: str) -> str:
    """The human name of a category or archive given in any case; an unknown one comes back unchanged."""
    return _NAMES.get(_EXACT.get(category.lower(), ""), category)


def group(category: str) -> str:
    """The public group of a category's canonical form (`math.MP`, as `math-ph`, is physics); empty if unknown."""
    stored = canonical(category)
    return ARCHIVES[stored.partition(".")[0]].group if stored else ""
