"""Readers on real bytes: counts, and whole records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recsys import registry
from recsys.errors import UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import Reject, peek
from recsys.sources.detection import detect
from recsys.sources.opening import open_stream


def read(path: Path) -> tuple[str | None, list[Paper], list[Reject], str]:
    """The reader that recognises a file, its papers, its rejects, and what it says of damage."""
    papers: list[Paper] = []
    rejects: list[Reject] = []
    with open_stream(str(path)) as (stream, filename):
        name = detect(peek(stream), filename)
        try:
            for record in registry.load(registry.SOURCES, name)().read(stream) if name else ():
                (papers if isinstance(record, Paper) else rejects).append(record)  # type: ignore[arg-type]
        except UnreadableInput as error:
            return name, papers, rejects, error.message
    return name, papers, rejects, ""


@pytest.mark.parametrize(
    ("file", "name", "papers", "rejects", "withdrawn"),
    [
        ("oai/scix_2023-03/ListRecords_data_0.xml", "oai-dc", 1000, 0, 0),
        ("oai/scix_2023-03/ListRecords_data_1.xml", "oai-dc", 1000, 0, 0),
        ("oai/scix_2023-03/ListRecords_data_2.xml", "oai-dc", 265, 0, 0),
        ("oai/arXivRaw_ListRecords_2016-10-21_reindented.xml", "arxiv-raw", 387, 0, 6),
        ("oai/arXiv_ListRecords_hep-ex_2017-12-14.xml", "arxiv-oai", 3, 0, 0),
        ("oai/hepcrawl_arXiv_record.xml", "arxiv-oai", 12, 0, 0),
        ("oai/adsabs_oai_dc/arxiv_multi_20230125.xml", "oai-dc", 3, 0, 0),
        ("oai/nesta_mocked_arXiv_ListRecords.xml", "arxiv-oai", 2, 1, 0),
        ("oai/inspire/1305.9999.xml", "oai-dc", 0, 1, 0),
        ("oai/sickle_generic/noRecordsMatch.xml", "oai-dc", 0, 0, 0),
        ("oai/sickle_generic/ListRecordsBroken.xml", None, 0, 0, 0),
        ("atom/xiv_response.xml", "atom", 2, 0, 0),
        ("atom/xiv_empty.xml", "atom", 0, 0, 0),
        ("rss/item_assembled_from_arxiv_docs.xml", "rss", 1, 0, 0),
    ],
)
def test_counts(shared: Path, file: str, name: str | None, papers: int, rejects: int, withdrawn: int) -> None:
    found = read(shared / "raw" / file)
    assert (found[0], len(found[1]), len(found[2]), found[3]) == (name, papers, rejects, "")
    assert sum(paper.withdrawn for paper in found[1]) == withdrawn


def test_a_feed_cut_in_its_first_item_says_so(shared: Path) -> None:
    name, papers, rejects, damage = read(shared / "raw" / "rss" / "rss_cs.CV_2025-09-18_cut_mid_item.xml")
    assert (name, papers, rejects) == ("rss", [], [])
    assert "ends or breaks after record 0" in damage


@pytest.mark.parametrize(
    ("file", "versioned_id", "published", "updated", "categories", "authors", "title"),
    [
        (
            "oai/arXivRaw_GetRecord_2016-10-21_reindented.xml",
            "0804.2273v1",
            "2008-04-14",
            "2008-04-16",
            ("cs.DL", "cs.NI"),
            ("Carl Lagoze", "Herbert Van de Sompel"),
            "Object Re-Use & Exchange: A Resource-Centric Approach",
        ),
        (
            "oai/adsabs_oai_dc/oai_ArXiv.org_astro-ph_9501013.xml",
            "astro-ph/9501013",
            "1995-01-05",
            "1995-09-01",
            ("astro-ph",),
            ("Phillip Helbig", "Rainer Kayser"),
            "Cosmological parameters and the redshift distribution of gravitational lenses",
        ),
        (
            "rss/item_assembled_from_arxiv_docs.xml",
            "2203.01250v3",
            "",
            "2024-08-23",
            ("math.AP", "math.OC"),
            ("Antonin Monteil", "Paul Pegon"),
            "Mass concentration in rescaled first order integral functionals",
        ),
    ],
)
def test_whole_records(
    shared: Path,
    file: str,
    versioned_id: str,
    published: str,
    updated: str,
    categories: tuple[str, ...],
    authors: tuple[str, ...],
    title: str,
) -> None:
    _, (paper,), _, _ = read(shared / "raw" / file)
    assert (paper.versioned_id, paper.published, paper.updated) == (versioned_id, published, updated)
    assert (paper.categories, paper.authors[:2], paper.title) == (categories, authors, title)
    assert len(paper.abstract) > 200
    assert "Announce Type" not in paper.abstract


def test_kaggle_lines(shared: Path) -> None:
    name, papers, rejects, _ = read(next((shared / "raw" / "kaggle").iterdir()))
    assert (name, len(papers), rejects) == ("kaggle", 200, [])
    first = papers[0]
    assert (first.versioned_id, first.published, first.updated) == ("0704.0001v2", "2007-04-02", "2008-11-26")
    assert first.authors == ("C. Balázs", "E. L. Berger", "P. M. Nadolsky", "C. -P. Yuan")
    assert first.title == "Calculation of prompt diphoton production cross sections at Tevatron and LHC energies"
    assert first.doi == "10.1103/PhysRevD.76.013009"


def test_recorded_api_answers(shared: Path, tmp_path: Path) -> None:
    papers: list[Paper] = []
    errors: list[Reject] = []
    for number, path in enumerate(sorted((shared / "raw" / "atom" / "arxiv.py_fixtures").iterdir())):
        body = tmp_path / f"{number}.xml"
        body.write_text(json.loads(path.read_text())["body"])
        name, some, rejects, damage = read(body)
        assert (name, damage) == ("atom", "")
        papers += some
        errors += rejects
    assert len(papers) > 100
    assert all(paper.version >= 1 and paper.published and paper.categories for paper in papers)
    assert {"quant-ph/0201082", "hep-ex/0406020", "1707.08567"} <= {paper.paper_id for paper in papers}
    assert "0" in {paper.title for paper in papers}, "2104.12255 is called 0"
    assert [reject.reason[:12] for reject in errors] == ["an error ans"] * len(errors)
    assert errors
