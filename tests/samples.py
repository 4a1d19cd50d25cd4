"""One invented paper in every format that a reader reads, as bytes."""

from __future__ import annotations

import io
import json

from recsys.paper import Paper

ID, TITLE = "2401.90001", "On $k$-trees by R\\'ev\\'esz"
ABSTRACT = "We plant trees & <count> them. This is\nthe second line of the abstract."
CLEAN = "We plant trees & <count> them. This is the second line of the abstract."
AUTHORS = ("A. Root", "Beatrix Löf")
CATEGORIES = ("cs.DS", "math.CO")
_XML = ABSTRACT.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
_OAI = """<?xml version="1.0" encoding="UTF-8"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2024-01-09T00:00:00Z</responseDate>
<ListRecords>{records}<resumptionToken/></ListRecords></OAI-PMH>
"""
_RECORD = """<record><header><identifier>oai:arXiv.org:{id}</identifier><datestamp>2024-01-09</datestamp></header>
<metadata>{metadata}</metadata></record>"""
_META = {
    "arxiv-raw": """<arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>{id}</id><submitter>A. Root</submitter>
<version version="v1"><date>Fri, 5 Jan 2024 10:00:00 GMT</date><size>10kb</size></version>
<version version="v2"><date>Mon, 8 Jan 2024 10:00:00 GMT</date><size>11kb</size></version>
<title>{title}</title><authors>A. Root (Somewhere, Far) and Beatrix Löf</authors><categories>cs.DS math.CO</categories>
<comments>3 pages</comments><abstract>  {abstract}
</abstract></arXivRaw>""",
    "arxiv-oai": """<arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{id}</id><created>2024-01-05</created>
<updated>2024-01-08</updated><authors><author><keyname>Root</keyname><forenames>A.</forenames></author>
<author><keyname>Löf</keyname><forenames>Beatrix</forenames></author></authors><title>{title}</title>
<categories>cs.DS math.CO</categories><comments>3 pages</comments><abstract>{abstract}</abstract></arXiv>""",
    "oai-dc": """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:creator>Root, A.</dc:creator>
<dc:creator>Löf, Beatrix</dc:creator><dc:subject>Computer Science - Data Structures and Algorithms</dc:subject>
<dc:subject>Mathematics - Combinatorics</dc:subject><dc:description>{abstract}</dc:description>
<dc:description>Comment: 3 pages</dc:description><dc:date>2024-01-05</dc:date><dc:date>2024-01-08</dc:date>
<dc:identifier>http://arxiv.org/abs/{id}</dc:identifier></oai_dc:dc>""",
}
_ATOM_ENTRY = """<entry><id>http://arxiv.org/abs/{id}v2</id><updated>2024-01-08T10:00:00Z</updated>
<published>2024-01-05T10:00:00Z</published><title>{title}</title><summary>{abstract}</summary>
<author><name>A. Root</name></author><author><name>Beatrix Löf</name></author>
<arxiv:comment>3 pages</arxiv:comment><arxiv:primary_category term="cs.DS"/><category term="cs.DS"/>
<category term="math.CO"/><category term="68R10"/></entry>"""
_RSS_ITEM = """<item><title>{title}</title><link>https://arxiv.org/abs/{id}</link>
<description>arXiv:{id}v2 Announce Type: new
Abstract: {abstract}</description><guid isPermaLink="false">oai:arXiv.org:{id}v2</guid><category>cs.DS</category>
<category>math.CO</category><pubDate>Fri, 05 Jan 2024 00:00:00 -0500</pubDate>
<arxiv:announce_type>new</arxiv:announce_type><dc:creator>A. Root, Beatrix Löf</dc:creator></item>"""


def ids(n: int) -> list[str]:
    """The ids of n invented papers."""
    return [f"2401.9{number:04}" for number in range(1, n + 1)]


def sample(name: str, n: int = 1) -> bytes:
    """n copies of the paper, under different ids, as the format of a reader."""
    return _MAKERS[name](name, ids(n))


def expected(name: str, paper_id: str = ID) -> Paper:
    """What a reader makes of the paper."""
    version = 0 if name in ("arxiv-oai", "oai-dc") else 2
    updated = {"arxiv-raw": "2024-01-09", "rss": "2024-01-05"}.get(name, "2024-01-08")
    comments = "" if name == "rss" else "3 pages"
    return Paper(paper_id, version, TITLE, CLEAN, AUTHORS, CATEGORIES, "2024-01-05", updated, comments)


def _oai(name: str, wanted: list[str]) -> bytes:
    metadata = (_META[name].format(id=i, title=TITLE, abstract=_XML) for i in wanted)
    records = "\n".join(_RECORD.format(id=i, metadata=found) for i, found in zip(wanted, metadata, strict=True))
    return _OAI.format(records=records).encode()


def _atom(name: str, wanted: list[str]) -> bytes:
    entries = "\n".join(_ATOM_ENTRY.format(id=i, title=TITLE, abstract=_XML) for i in wanted)
    head = (
        '<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">'
    )
    return f"{head}\n{entries}\n</feed>\n".encode()


def _rss(name: str, wanted: list[str]) -> bytes:
    items = "\n".join(_RSS_ITEM.format(id=i, title=TITLE, abstract=_XML) for i in wanted)
    spaces = 'xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    head = f'<?xml version="1.0"?>\n<rss {spaces} version="2.0"><channel><title>x</title>'
    return f"{head}\n{items}\n</channel></rss>".encode()


def _jsonl(name: str, wanted: list[str]) -> bytes:
    records = ({"id": i, "version": 2, "title": TITLE, "abstract": ABSTRACT, **_REST} for i in wanted)
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _kaggle(name: str, wanted: list[str]) -> bytes:
    versions = [
        {"version": "v1", "created": "Fri, 5 Jan 2024 10:00:00 GMT"},
        {"version": "v2", "created": "Mon, 8 Jan 2024 10:00:00 GMT"},
    ]
    rest = {
        "authors": "A. Root and B. Löf",
        "comments": "3 pages",
        "categories": "cs.DS math.CO",
        "versions": versions,
        "update_date": "2024-01-08",
        "authors_parsed": [["Root", "A.", ""], ["Löf", "Beatrix", "", "Somewhere"]],
    }
    records = ({"id": i, "title": TITLE, "doi": None, "abstract": f"  {ABSTRACT}\n", **rest} for i in wanted)
    return "".join(json.dumps(record) + "\n" for record in records).encode()


_REST = {
    "authors": list(AUTHORS),
    "categories": list(CATEGORIES),
    "published": "2024-01-05",
    "updated": "2024-01-08",
    "comments": "3 pages",
}


def _table(wanted: list[str]) -> dict[str, list[str]]:
    columns = {"id": wanted, "version": ["v2"] * len(wanted), "title": [TITLE] * len(wanted)}
    columns["abstract"] = [ABSTRACT] * len(wanted)
    columns["authors"] = ["; ".join(AUTHORS)] * len(wanted)
    columns["categories"] = [" ".join(CATEGORIES)] * len(wanted)
    return columns | {name: [str(_REST[name])] * len(wanted) for name in ("published", "updated", "comments")}


def _csv(name: str, wanted: list[str]) -> bytes:
    import pandas as pd

    return pd.DataFrame(_table(wanted)).to_csv(index=False).encode()


def _parquet(name: str, wanted: list[str]) -> bytes:
    import pandas as pd

    out = io.BytesIO()
    pd.DataFrame(_table(wanted)).to_parquet(out)
    return out.getvalue()


_MAKERS = {
    **dict.fromkeys(_META, _oai),
    "atom": _atom,
    "rss": _rss,
    "jsonl": _jsonl,
    "kaggle": _kaggle,
    "csv": _csv,
    "parquet": _parquet,
}
