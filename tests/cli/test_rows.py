"""Warm-up files are read in every format and encoding, and what is wrong is named to the cell."""

import json
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]  # it ships no types
import pytest

from semcache.errors import FileFormatError
from semcache.warm import Columns, Row, read_rows

CSV = "问题,答案,count,tags\n怎么退货,七天内申请。,12,kb:returns;kb:faq\n怎么换货,联系客服。,,\n"
EXPECTED = (
    Row(2, ("怎么退货",), "七天内申请。", 12, tags=("kb:returns", "kb:faq")),
    Row(3, ("怎么换货",), "联系客服。"),
)


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("gb18030", "gb18030"), ("utf-16", "utf-16")],
)
def test_a_csv_file_says_its_encoding_itself(tmp_path: Path, encoding: str, found: str) -> None:
    """UTF-8 with and without a mark, GB18030 and UTF-16 give the same rows."""
    path = tmp_path / "faq.csv"
    path.write_bytes(CSV.encode(encoding))

    sheet = read_rows(path)

    assert sheet.rows == EXPECTED
    assert sheet.encoding == found


def test_an_encoding_that_is_named_wins(tmp_path: Path) -> None:
    """Big5 would pass for GB18030; `encoding` says what it is."""
    path = tmp_path / "faq.csv"
    path.write_bytes("question,answer\n退貨,七天\n".encode("big5"))

    sheet = read_rows(path, Columns(encoding="big5"))

    assert sheet.rows == (Row(2, ("退貨",), "七天"),)


@pytest.mark.parametrize(
    ("suffix", "separator"), [(".csv", ","), (".csv", ";"), (".csv", "\t"), (".tsv", "\t")]
)
def test_separators_are_found(tmp_path: Path, suffix: str, separator: str) -> None:
    """A CSV file may be separated by what a spreadsheet program chose."""
    path = tmp_path / f"faq{suffix}"
    lines = [["Question ", " Answer"], ["Is it free?", "Yes"]]
    path.write_text("\n".join(map(separator.join, lines)), encoding="utf-8")

    sheet = read_rows(path)

    assert sheet.rows == (Row(2, ("Is it free?",), "Yes"),)


def test_quoted_cells_may_hold_line_ends(tmp_path: Path) -> None:
    """A record is named by the line where it begins, and its text is kept as it is."""
    path = tmp_path / "faq.csv"
    path.write_text('question,answer\n"one\ntwo","a\u2028b"\nthree,"x, ""y"""\n', encoding="utf-8")

    first, second = read_rows(path).rows

    assert first == Row(2, ("one\ntwo",), "a\u2028b")
    assert second == Row(4, ("three",), 'x, "y"')


def test_json_lines_hold_lists_of_phrasings_and_any_answer(tmp_path: Path) -> None:
    """One line may have many phrasings, and an answer that is not a text."""
    path = tmp_path / "faq.jsonl"
    lines = [
        {"prompts": ["Is it free?", "Free of charge?", "Is it free?"], "answer": {"text": "Yes"}},
        {"prompt": "And now?", "answer": "No", "model": "m", "namespace": "n", "count": "3"},
        {"prompt": "Who knows?"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")

    sheet = read_rows(path)

    assert sheet.rows == (
        Row(1, ("Is it free?", "Free of charge?"), {"text": "Yes"}),
        Row(2, ("And now?",), "No", 3, "m", "n"),
        Row(3, ("Who knows?",), None),
    )


def test_a_cell_may_be_split_into_phrasings(tmp_path: Path) -> None:
    """With a separator, one cell holds several questions; columns may have other names."""
    path = tmp_path / "faq.csv"
    path.write_text("Frage,Antwort\nKostenlos? | Gratis?,Ja\n", encoding="utf-8")

    sheet = read_rows(path, Columns(prompt="Frage", answer="Antwort", separator="|"))

    assert sheet.rows == (Row(2, ("Kostenlos?", "Gratis?"), "Ja"),)


def test_a_spreadsheet_with_merged_answers(tmp_path: Path) -> None:
    """A merged answer cell is the answer of each of its rows; numbers become texts."""
    path = tmp_path / "faq.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["问题", "回答", "count"],
        ["一", "好", 3],
        ["二", None, 2.0],
        [None] * 3,
        ["三", 7],
    ):
        sheet.append(row)
    sheet.merge_cells("B2:B3")
    book.save(path)

    rows = read_rows(path).rows

    assert rows == (
        Row(2, ("一",), "好", 3),
        Row(3, ("二",), "好", 2),
        Row(5, ("三",), "7"),
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("faq.doc", b"", r"unknown format '\.doc': pass a \.jsonl"),
        ("faq.csv", b"", "the file is empty"),
        ("faq.xlsx", b"not a zip", r"not a readable \.xlsx file"),
        ("faq.csv", b"text,answer\na,b\n", "line 1: no column prompt or .*: name it with"),
        ("faq.csv", b"prompt,prompt\na,b\n", "line 1: the column 'prompt' is there twice"),
        ("faq.csv", b"prompt,answer\na,b,c\n", "line 2: 3 cells under 2 columns"),
        ("faq.csv", b"prompt,answer\na,#N/A\n", "line 2, column 'answer', value '#N/A': a formula"),
        ("faq.csv", b'prompt,answer\na,b\n"c,d\n', "line 3: .*mend the quotes"),
        ("faq.csv", b"prompt,answer\n ,b\n", "line 2, column 'prompt', value ' ': expected a q"),
        (
            "faq.csv",
            b"prompt,answer,count\na,b,often\n",
            "line 2, column 'count', value 'often': expected a whole number",
        ),
        ("faq.csv", b"prompt,answer\n\xff\xff,b\n", "line 2: not utf-8-sig, byte 14 is ff"),
        ("faq.jsonl", b'{"prompt": "a"}\n{"prompt"\n', "line 2: not JSON"),
        ("faq.jsonl", b"[1]\n", "line 1: expected a JSON object"),
        ("faq.jsonl", b'{"prompt": 3}\n', "line 1, column 'prompt', value 3: expected a text"),
        ("faq.jsonl", b'{"prompt": "a", "answer": true}\n', "line 1, column 'answer', value True"),
        ("faq.jsonl", b'{"prompt": "a", "answer": NaN}\n', "line 1: not JSON: NaN"),
        ("faq.jsonl", b'{"prompt": "a", "tags": [1]}\n', r"line 1, column 'tags', value \[1\]"),
        ("faq.jsonl", b'{"prompt": "a", "model": 1}\n', "line 1, column 'model', value 1"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """An error has the file, the line, and where they are known the column and the value."""
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(FileFormatError, match=message) as caught:
        read_rows(path)

    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A missing file and an unknown encoding are errors of one line."""
    path = tmp_path / "faq.csv"

    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        read_rows(path)
    path.write_text(CSV, encoding="utf-8")
    with pytest.raises(FileFormatError, match="'utf-9' is unknown"):
        read_rows(path, Columns(encoding="utf-9"))


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    """The good rows come, and each bad one is described."""
    path = tmp_path / "faq.jsonl"
    path.write_text('{"prompt": "a", "answer": "1"}\nbad\n{"prompt": ""}\n', encoding="utf-8")

    sheet = read_rows(path, skip_bad=True)

    assert len(sheet.rows) == 1
    assert ["line 2" in sheet.skipped[0], "line 3" in sheet.skipped[1]] == [True, True]


def test_a_row_of_a_spreadsheet_is_called_a_row(tmp_path: Path) -> None:
    """People look for a row there, not for a line."""
    path = tmp_path / "faq.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["prompt", "answer", "count"], ["a", "b", "-1"]):
        sheet.append(row)
    book.save(path)

    with pytest.raises(FileFormatError, match="row 2, column 'count', value '-1'"):
        read_rows(path)
