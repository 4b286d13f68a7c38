"""Scripts of SQL that make tables: a document for each column, whichever database they were written for."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.builtins.data.documents.files import read_documents
from naru.errors import ConfigError

SCRIPTS = {
    "PostgreSQL's dump": (
        r"""\restrict abc
CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN CREATE TABLE none (a int); RETURN NEW; END; $$;
CREATE TABLE public.shift (
    id integer NOT NULL,
    "lead" character varying(40),
    key text DEFAULT ';',
    CONSTRAINT shift_check CHECK ((id > (0)::numeric))
);
COPY public.shift (id, lead) FROM stdin;
1	CREATE TABLE it's; (
\.
ALTER TABLE ONLY public.shift ADD CONSTRAINT shift_pkey PRIMARY KEY (id);
COMMENT ON TABLE public.shift IS 'Shifts';
COMMENT ON COLUMN public.shift.lead IS 'Who leads; it''s a badge';
ALTER TABLE hr.staff ADD COLUMN IF NOT EXISTS born date, DROP COLUMN a, ADD "left" date;
CREATE FUNCTION f() RETURNS TABLE (a int) LANGUAGE sql AS 'SELECT 1';
CREATE VIEW public.v AS SELECT id FROM public.shift;
""",
        [
            "shift.id (integer); table comment: Shifts",
            "shift.lead (character varying(40)): Who leads; it's a badge; table comment: Shifts",
            "shift.key (text); table comment: Shifts",
            "hr.staff.born (date)",
            "hr.staff.left (date)",
        ],
        {"x.sql#18": "the script does not list the columns of v"},
    ),
    "MySQL's dump": (
        r"""/*!40101 SET NAMES utf8mb4 */;
CREATE TABLE `gate log` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT COMMENT '번호',
  `way` enum('IN','OUT') DEFAULT 'IN' COMMENT 'in; or out',
  PRIMARY KEY (`id`),
  KEY `ix` (`way`)
) ENGINE=InnoDB COMMENT='출입';
INSERT INTO `gate log` VALUES (1,'it\'s; CREATE TABLE a (');
""",
        [
            "gate log.id (bigint unsigned): 번호; table comment: 출입",
            "gate log.way (enum('IN','OUT')): in; or out; table comment: 출입",
        ],
        {},
    ),
    "SQLite's schema": (
        """CREATE TABLE IF NOT EXISTS reading (
  temp_c REAL CHECK (temp_c > -50), -- of the air
  anything,
  taken TEXT -- when
);
CREATE VIRTUAL TABLE notes USING fts5(title);
""",
        ["reading.temp_c (REAL): of the air", "reading.anything", "reading.taken (TEXT): when"],
        {"x.sql#6": "the script does not list the columns of notes"},
    ),
    "SQL Server's script": (
        """SET ANSI_NULLS ON
GO
CREATE TABLE [dbo].[Order](
	[ID] [int] IDENTITY(1,1) NOT NULL,
	[Code] [nvarchar](30) NULL,
 CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([ID] ASC)
) ON [PRIMARY]
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'What it is' ,
  @level0type=N'SCHEMA',@level0name=N'dbo', @level1name=N'Order', @level2name=N'Code'
GO
""",
        ["Order.ID (int)", "Order.Code (nvarchar(30)): What it is"],
        {},
    ),
    "Oracle's script": (
        """CREATE TABLE HR.EMP
( EMP_NO VARCHAR2(10 BYTE) NOT NULL ENABLE,
  SAL NUMBER(12,0)
) TABLESPACE USERS;
/
COMMENT ON COLUMN HR.EMP.EMP_NO IS '사번';
""",
        ["HR.EMP.EMP_NO (VARCHAR2(10 BYTE)): 사번", "HR.EMP.SAL (NUMBER(12,0))"],
        {},
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_each_column_of_a_script_is_a_document_with_its_comment(script: str, tmp_path: Path):
    text, wanted, refused = SCRIPTS[script]
    (tmp_path / "x.sql").write_text(text, encoding="utf-8")
    reading = read_documents(tmp_path / "x.sql")
    assert [document.text for document in reading.documents] == wanted
    assert {one.source: one.reason for one in reading.refused} == refused


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "CREATE TABLE a AS SELECT 1;",
        "'",
        "$$",
        "CREATE TABLE",
        "(((",
        "CREATE TABLE a (,,--\n,",
        "ALTER TABLE a",
    ],
)
def test_a_script_that_lists_no_columns_is_named(text: str, tmp_path: Path):
    (tmp_path / "x.sql").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"x\.sql"):
        read_documents(tmp_path / "x.sql")
