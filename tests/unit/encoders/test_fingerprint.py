from __future__ import annotations

from dataclasses import fields, replace

import pytest

from recsys.encoders.base import Fingerprint
from recsys.errors import IndexDamaged

MADE = Fingerprint("minilm", "ab", 384, 512, "Transformer>Pooling", "{}", ". ", 1, "float16")


@pytest.mark.parametrize("name", [field.name for field in fields(Fingerprint)])
def test_every_field_but_the_name_is_in_the_digest(name: str) -> None:
    value = getattr(MADE, name)
    other = replace(MADE, **{name: value + 1 if isinstance(value, int) else f"{value}x"})
    assert (other.digest == MADE.digest) == (name == "encoder")
    expected = {} if name == "encoder" else {name: (value, getattr(other, name))}
    assert MADE.differences(other) == expected


@pytest.mark.parametrize("text", ["{", "[]", '{"encoder": "minilm"}', MADE.to_json().replace("weights", "wheels")])
def test_what_another_version_wrote_is_no_traceback(text: str) -> None:
    with pytest.raises(IndexDamaged, match="another version"):
        Fingerprint.from_json(text)
