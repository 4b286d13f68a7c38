"""Definitions in languages of their own: text by their own blocks, no line lost (issue 20, line 1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.builtins.data.documents.files import read_documents

PRISMA = """\
/// One production lot
model Lot {
  id String @id /// lot number

  yieldPct Decimal /// 수율
}
model Ball {
  height Float
}
"""
RAILS = """\
ActiveRecord::Schema[7.1].define(version: 1) do
  create_table "lots", id: false do |t|
\tt.string "lot_id", comment: "Lot number"
\tt.index ["lot_id"], name: "by_id"
  end

  add_foreign_key "balls", "lots"
end
"""
DBML = """\
Table ball {
  id int [pk]
  height real [note: 'Height in um']

  indexes {
    (id, height) [unique]
  }
}
Ref: ball.lot_id > lot.id
"""
GRAPHQL = """\
\"\"\"A lot\"\"\"
type Lot {
  "Pieces"
  qty: Int!
}
"""


@pytest.mark.parametrize(
    ("name", "text", "texts"),
    [
        (
            "schema.prisma",
            PRISMA,
            {
                1: "/// One production lot\nmodel Lot\nid String @id /// lot number\nyieldPct Decimal /// 수율",
                7: "model Ball\nheight Float",
            },
        ),
        (
            "schema.rb",
            RAILS,
            {
                2: 'ActiveRecord::Schema[7.1].define(version: 1) do > create_table "lots", id: false do |t|'
                '\nt.string "lot_id", comment: "Lot number"\nt.index ["lot_id"], name: "by_id"',
                7: 'ActiveRecord::Schema[7.1].define(version: 1) do\nadd_foreign_key "balls", "lots"',
            },
        ),
        (
            "schema.dbml",
            DBML,
            {
                2: "Table ball\nid int [pk]\nheight real [note: 'Height in um']",
                5: "Table ball > indexes\n(id, height) [unique]",
                9: "Ref: ball.lot_id > lot.id",
            },
        ),
        ("schema.graphql", GRAPHQL, {1: '"""A lot"""\ntype Lot\n"Pieces"\nqty: Int!'}),
        ("flat.proto", "// one\n// two\n\n}\n}\n// three", {1: "// one\n// two", 6: "// three"}),
    ],
)
def test_a_definition_is_text_by_its_own_blocks(name: str, text: str, texts: dict[int, str], tmp_path: Path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    reading = read_documents(tmp_path / name)
    assert {one.source: one.text for one in reading.documents} == {f"{name}#{at}": told for at, told in texts.items()}
    assert not reading.refused


def test_each_piece_of_a_long_block_tells_what_it_is_of(tmp_path: Path):
    lines = [f"field{number} String /// what it means to those who read it" for number in range(60)]
    (tmp_path / "long.prisma").write_text("model Big {\n  " + "\n  ".join(lines) + "\n}\n", encoding="utf-8")
    texts = [one.text for one in read_documents(tmp_path / "long.prisma").documents]
    assert len(texts) > 1
    assert all(text.startswith("model Big\n") for text in texts)
    assert [line for text in texts for line in text.split("\n")[1:]] == lines


def test_a_record_of_avro_is_read_as_the_json_that_it_is(tmp_path: Path):
    text = '{"name": "Lot", "type": "record", "fields": [{"name": "id", "type": "string"}]}'
    (tmp_path / "lot.avsc").write_text(text, encoding="utf-8")
    assert [one.id for one in read_documents(tmp_path / "lot.avsc").documents] == ["Lot", "Lot.id"]
