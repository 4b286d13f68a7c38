"""What a MySQL statement is: one SELECT of tables and harmless functions, which parser and server read alike.

Pure: no database.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.parsers.mysql import MySQLParser

from naru.builtins.data.databases.errors import RefusedStatementError
from naru.builtins.data.databases.statements import ONE_SELECT

MAX_DEPTH = 200
_HIDDEN = re.compile(
    r"""(?P<kept> '(?:[^'\\]|\\.|'')*'? | "(?:[^"\\]|\\.|"")*"? | `(?:[^`]|``)*`? )
      | (?P<versioned> /\*M?! | /\*\+ )
      | (?P<comment> \#[^\n]*(?:\n|\Z) | --(?=[\s\x00-\x1f]|\Z)[^\n]*(?:\n|\Z) | /\*.*?(?:\*/|\Z) )
      | (?P<doubtful> -- )
      | (?P<former> (?<=\bSELECT\s)SQL_CACHE\b )  # a hint of MariaDB's that MySQL has no more""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ALLOWED_NODES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.CTE, exp.With, exp.Table)
_REFUSED_NODES = {
    exp.DML: "it would write",
    exp.DDL: "it would change the schema",
    exp.Command: "this is no SELECT",
    exp.Into: "INTO writes",
    exp.Lock: "FOR UPDATE and FOR SHARE lock rows",
    exp.Placeholder: "parameters have no value here",
    exp.PropertyEQ: "variables are not set",
    exp.Parameter: "variables are not read",
    exp.SessionParameter: "the server's variables are not read",
    exp.LoadData: "LOAD reads files",
    exp.Pragma: "this is no SELECT",
    exp.Set: "SET is no SELECT",
    exp.Use: "USE is no SELECT",
    exp.Transaction: "transactions are the tool's own",
    exp.Commit: "transactions are the tool's own",
    exp.Rollback: "transactions are the tool's own",
    exp.Kill: "KILL is no SELECT",
    exp.Describe: "DESCRIBE is no SELECT",
    exp.Show: "SHOW is no SELECT",
}
_HARMLESS = frozenset(
    # Judged by its name, whether sqlglot has a class for it or not.
    "abs acos add_months adddate addtime aes_decrypt aes_encrypt and any_value ascii asin atan atan2 avg "
    "between bin bin_to_uuid binary bit_and bit_count bit_length bit_or bit_xor case cast ceil ceiling char "
    "char_length character_length charset chr coalesce collation column_exists column_json column_list concat "
    "concat_ws conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date "
    "current_schema current_time current_timestamp current_user curtime database date date_add date_format "
    "date_sub datediff day dayname dayofmonth dayofweek dayofyear degrees dense_rank distinct elt exists exp "
    "export_set extract extractvalue field find_in_set first_value floor format format_bytes format_pico_time "
    "found_rows from_base64 from_days from_unixtime get_format greatest group_concat grouping hex hour if "
    "ifnull in inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is_ipv4 is_ipv4_compat "
    "is_ipv4_mapped is_ipv6 is_uuid isnull json_array json_array_append json_array_insert json_array_intersect "
    "json_arrayagg json_compact json_contains json_contains_path json_depth json_detailed json_equals "
    "json_exists json_extract json_insert json_key_value json_keys json_length json_loose json_merge_patch "
    "json_merge_preserve json_normalize json_object json_object_filter_keys json_object_to_array "
    "json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace json_schema_valid "
    "json_search json_set json_storage_size json_table json_type json_unquote json_valid json_value lag "
    "last_day last_value lcase lead least left length lengthb like linestring ln localtime localtimestamp "
    "locate log log10 log2 lower lpad ltrim make_set makedate maketime match max md5 median microsecond mid "
    "min minute mod mode month monthname multipoint natural_sort_key not now nth_value ntile nullif nvl nvl2 "
    "oct octet_length or ord percent_rank percentile_cont percentile_disc period_add period_diff pi point "
    "polygon position pow power quarter quote radians rand rank regexp regexp_instr regexp_like regexp_replace "
    "regexp_substr repeat replace reverse right rlike round row row_count row_number rownum rpad rtrim schema "
    "sec_to_time second sformat sha sha1 sha2 sign sin soundex space sqrt st_area st_asbinary st_asgeojson "
    "st_astext st_aswkb st_aswkt st_boundary st_centroid st_contains st_convexhull st_crosses st_difference "
    "st_dimension st_disjoint st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring "
    "st_geohash st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb "
    "st_interiorringn st_intersection st_intersects st_isclosed st_isempty st_isring st_issimple st_isvalid "
    "st_latitude st_length st_linefromtext st_longitude st_makeenvelope st_numgeometries st_numinteriorrings "
    "st_numpoints st_overlaps st_pointfromtext st_pointn st_pointonsurface st_polyfromtext st_polygonfromtext "
    "st_relate st_simplify st_srid st_startpoint st_symdifference st_touches st_union st_within st_x st_y std "
    "stddev stddev_pop stddev_samp str_to_date strcmp stuff subdate substr substring substring_index subtime "
    "sum tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_char "
    "to_days to_seconds trim trunc truncate ucase uncompressed_length unhex unix_timestamp updatexml upper "
    "user utc_date utc_time utc_timestamp uuid uuid_to_bin uuid_v4 uuid_v7 values var_pop var_samp variance "
    "vec_distance vec_distance_cosine vec_distance_euclidean vec_fromtext vec_totext version week weekday "
    "weekofyear weight_string xor year yearweek".split()
)
_WAYS = frozenset({"SQL_NO_CACHE", "STRAIGHT_JOIN", "SQL_SMALL_RESULT", "SQL_BIG_RESULT"})
"""How the server goes about a SELECT; its other modifiers have an effect on others, or on the session."""
_TABLE = re.compile(r"\A([\s(]*)TABLE\b", re.IGNORECASE)
"""MySQL's short form of `SELECT * FROM`, which MariaDB lacks."""
_VALUES = re.compile(r"VALUES\b", re.IGNORECASE)
"""A statement of its own to the server; to the parser only in FROM, without an order."""
_WORDS = {"ANY", "COLUMNS"}
"""Of the grammar, and called nothing."""
_KNOWN_CALLS = (MySQL.Parser.FUNCTIONS.keys() | MySQL.Parser.OPERATION_MODIFIERS) - _WORDS
_FOREIGN = {name.lower() for name in _KNOWN_CALLS} - _HARMLESS
SYSTEM_SCHEMAS = frozenset({"mysql", "performance_schema", "sys"})
_DESCRIBING = frozenset(
    "character_sets check_constraints collations columns key_column_usage partitions referential_constraints schemata "
    "statistics table_constraints tables views".split()
)
"""What of `information_schema` tells of the data; the rest tells of the server, its users and who asks what."""


class _Parser(MySQLParser):
    def _parse_json_column_def(self) -> exp.JSONColumnDef:
        """Read also what a column of JSON_TABLE is without a value: `DEFAULT '0' ON EMPTY NULL ON ERROR`."""
        column = super()._parse_json_column_def()
        column.set("on_condition", self._parse_on_condition())
        return column


class _MySQL(MySQL):
    Parser = _Parser


def judge(plain: str) -> str:
    """Return the query to send, of one without comments.

    Raises:
        RefusedStatementError: it is not one SELECT of harmless functions, or may be read in two ways.
        QueryError: it is no SQL.
    """
    query = _TABLE.sub(r"\1SELECT * FROM", plain).strip().rstrip("; \t\r\n")
    try:
        if _VALUES.match(query):
            query = _in_from(query)
        statements = [one for one in sqlglot.parse(query, dialect=_MySQL) if one is not None]
    except RecursionError as error:
        raise RefusedStatementError("The statement is nested too deeply.", remedy="Write it flatter.") from error
    except sqlglot.errors.SqlglotError as error:
        raise RefusedStatementError(
            f"This is not read as SQL: {str(error).splitlines()[0][:200]}", remedy=ONE_SELECT
        ) from error
    if len(statements) != 1:
        raise RefusedStatementError(f"Only one statement is run, and these are {len(statements)}.", remedy=ONE_SELECT)
    if not isinstance(statements[0], exp.Select | exp.SetOperation | exp.Subquery | exp.Values):
        raise RefusedStatementError("Only one SELECT is run here.", remedy=ONE_SELECT)
    if name := _foreign_call(query):
        raise RefusedStatementError(f"This tool only reads: function {name}.", remedy="Write the query without it.")
    for node, depth in _nodes(statements[0]):
        if depth > MAX_DEPTH:
            raise RefusedStatementError("The statement is nested too deeply.", remedy="Write it flatter.")
        if why := _refusal(node):
            raise RefusedStatementError(f"This tool only reads: {why}.", remedy="Write the query without it.")
    return query


def _in_from(values: str) -> str:
    """Write VALUES as a SELECT of its rows, with the ORDER BY or LIMIT after them: so the parser knows it."""
    depth, end = 0, len(values)
    for token in MySQL().tokenize(values):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if not depth and token.token_type in (TokenType.ORDER_BY, TokenType.LIMIT):
            end = token.start
            break
    return f"SELECT * FROM ({values[:end]}) AS naru_values {values[end:]}".rstrip()  # noqa: S608  # judged as it is sent


def without_comments(text: str) -> str:
    """Return a statement with a blank for each comment, and for a hint that says nothing.

    Raises:
        RefusedStatementError: there is one that the server runs or obeys, or that one of the two may not take for one.
    """

    def keep(found: re.Match[str]) -> str:
        if found["kept"]:
            return found[0]
        if found["versioned"]:
            raise RefusedStatementError("Comments that the server runs or obeys are refused.", remedy="Leave them out.")
        if found["doubtful"]:
            raise RefusedStatementError(
                "`--` without a blank after it is refused.", remedy="Put a blank between or after the two."
            )
        return " "

    return _HIDDEN.sub(keep, text)


def _foreign_call(plain: str) -> str:
    """Return a called name that the parser takes for a function it knows from elsewhere, and the server for its own.

    `STRPOS(a, b)` is parsed as LOCATE, yet what the server runs under that name is a stored function; so it does with
    a name of the grammar's in quotes, as in `left`(a, 1).
    """
    named = ((one.text.lower(), one.token_type is TokenType.IDENTIFIER) for one in _called(plain))
    return next((name for name, in_quotes in named if name in _FOREIGN or (in_quotes and name in _HARMLESS)), "")


def harmless_calls(plain: str) -> set[str]:
    """Return the names of our list that a query without comments calls."""
    return {one.text.lower() for one in _called(plain)} & _HARMLESS


def _called(plain: str) -> Iterator[Token]:
    tokens = MySQL().tokenize(plain)
    return (one for one, following in itertools.pairwise(tokens) if following.text == "(")


def _nodes(tree: exp.Expression) -> Iterator[tuple[exp.Expression, int]]:
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        stack.extend((child, depth + 1) for child in node.iter_expressions())


def _refusal(node: exp.Expression) -> str:
    for kind, why in _REFUSED_NODES.items():
        if isinstance(node, kind) and not isinstance(node, _ALLOWED_NODES):
            return why
    if isinstance(node, exp.Table) and node.db.lower() in SYSTEM_SCHEMAS:
        return f"{node.db} is the server's own"
    if isinstance(node, exp.Table) and node.db.lower() == "information_schema" and node.name.lower() not in _DESCRIBING:
        return f"{node.db}.{node.name} tells of the server"
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        return f"function {node.sql(dialect='mysql')[:80]} is a stored one"  # whatever the server's own of that name do
    if isinstance(node, exp.Func) and not isinstance(node, exp.Binary | exp.Predicate | exp.Case | exp.If):
        names = {node.name.lower()} if node.key in ("anonymous", "anonymousaggfunc") else _sql_names(node)
        return "" if names & _HARMLESS else f"function {min(names, default=node.key)}"
    if isinstance(node, exp.Select) and (
        node.args.get("kind") or {str(one).upper() for one in node.args.get("operation_modifiers") or ()} - _WAYS
    ):
        return "modifiers of SELECT that change more than its way"
    return ""


def _sql_names(node: exp.Func) -> set[str]:
    """Return a known function's names: as it is called in this dialect, and in general."""
    written = re.match(r"\w+", node.sql(dialect="mysql"))
    return {name.lower() for name in node.sql_names()} | ({written[0].lower()} if written else set())
