"""A long text that comes in small pieces is kept in few."""

from naru.dialects.texts.pieces import Pieces


def test_the_text_is_the_same_however_often_it_is_compacted():
    pieces = Pieces()
    for number in range(5_000):
        pieces.append(str(number))
        pieces.compact()
        assert len(pieces) < 300
    assert pieces.take() == "".join(map(str, range(5_000)))
    assert pieces.take() == ""
