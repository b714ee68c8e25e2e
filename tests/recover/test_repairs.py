"""Which broken syntax is repaired, and which is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.recover import RecoveryPath, recover

REPAIRED: list[tuple[str, str, Any]] = [
    ("trailing comma in an object", '{"a": 1,}', {"a": 1}),
    ("trailing comma in an array", "[1, 2,\n]", [1, 2]),
    ("missing comma between members", '{"a": 1\n"b": 2}', {"a": 1, "b": 2}),
    ("missing comma, no space", '{"a": "x""b": 2}', {"a": "x", "b": 2}),
    ("missing comma between strings", '["a" "b"]', ["a", "b"]),
    ("missing comma between objects", "[{}{}]", [{}, {}]),
    ("missing comma between lines", "[\n1\n2\n]", [1, 2]),
    ("missing colon", '{"a" 2, "b" null}', {"a": 2, "b": None}),
    ("single quotes", "{'a': 'b'}", {"a": "b"}),
    ("double quote in single ones", """{'a': 'say "x"'}""", {"a": 'say "x"'}),
    ("apostrophe in single quotes", "{'a': 'it's'}", {"a": "it's"}),
    ("smart quotes", "{“a”: “b”, ‘c’: ‘d’}", {"a": "b", "c": "d"}),  # noqa: RUF001
    ("smart quotes within plain ones", '{"a": "“b”",}', {"a": "“b”"}),
    ("triple quotes", '{"a": """x "y"\nz""", "b": 1}', {"a": 'x "y"\nz', "b": 1}),
    ("unquoted keys", "{a: 1, $b_2: 2, c-d: 3, 4: 5}", {"a": 1, "$b_2": 2, "c-d": 3, "4": 5}),
    ("line comment", '{"a": 1, // one\n "b": 2}', {"a": 1, "b": 2}),
    ("hash comment", '{"a": 1, # one\n "b": 2}', {"a": 1, "b": 2}),
    ("block comment", '{/* "x": 0 */ "a": /**/ 1 /* , */}', {"a": 1}),
    ("comment signs in strings", '{"a": "//", "b": "/*", "c": "# ",}', {"a": "//", "b": "/*", "c": "# "}),
    ("Python's names", '{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
    ("line break in a string", '{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
    ("escaped apostrophe", '{"a": "it\\\'s"}', {"a": "it's"}),
    ("forgotten backslash", '{"a": "^\\d+\\.\\s"}', {"a": "^\\d+\\.\\s"}),
    ("escapes in single quotes", "{'a': '\\u00e9\\n\\ud83d\\ude00'}", {"a": "é\n😀"}),
    ("quotation in a string", '{"a": "she said "yes" twice", "b": 1}', {"a": 'she said "yes" twice', "b": 1}),
    ("quotation with a comma", '{"a": "first "x", then "y"."}', {"a": 'first "x", then "y".'}),
    ("quotation in an array", '["the "x" one", "y"]', ['the "x" one', "y"]),
    ("quotes in a word", '{"a": "v"alu"e"}', {"a": 'v"alu"e'}),
    (
        "quotation with a German beginning",
        '{"a": "x „y" z", "b": "„c".", "d": ["„e"", 1]}',
        {"a": 'x „y" z', "b": '„c".', "d": ['„e"', 1]},
    ),
    ("quotation with an English beginning", '{"a": "x “y" z"}', {"a": 'x “y" z'}),
    ("quotation with both German quotes", '{"a": "x „y“ "z" w"}', {"a": 'x „y“ "z" w'}),
    ("formula", '{"a": "\\(\\alpha\\,x\\)", "b": "\\Gamma"}', {"a": "\\(\\alpha\\,x\\)", "b": "\\Gamma"}),
    ("command beside another", '{"a": "\\(\\tau\\) \\underline{x} \\xi"}', {"a": "\\(\\tau\\) \\underline{x} \\xi"}),
    ("end of a string repeated", '{"a": "so it is."\nit is."\n."\n}', {"a": "so it is."}),
    ("a number with a plus", '{"a": 5, "b": +1}', {"a": 5, "b": 1}),
    ("unusual space", '{"a":\u00a0\ufeff1}', {"a": 1}),
    ("everything at once", "x:\n{a: 'b', // c\n \"d\": [True, None,],}\nbye", {"a": "b", "d": [True, None]}),
]

REFUSED: list[tuple[str, str]] = [
    ("string cut", '{"name":"Alice Sm'),
    ("array cut", "[1,2,"),
    ("object cut", '{"a":{"b":1}'),
    ("cut in a fence", '```json\n{"a": [1\n```'),
    ("cut behind an escape", '{"a": "x\\'),
    ("second document cut", '{"a": 1}\n{"a": '),
    ("comment cut", '{"a": 1 /* x }'),
    ("comment to the end", '{"a": 1 // x }'),
    ("wrong closer", '{"a": [1}'),
    ("closers crossed", '{"a": [1}]'),
    ("closed by the other one", '{"a": 2]'),
    ("bracket too many inside", '{"a": 1}, "b": 2}'),
    ("quotes of two keys lost", '{"a: 1,\n b": 2}'),
    ("closed too early", '{"a": [{"b": 1}],\n }c": 2, "d": [1]}'),
    ("opened too late", '{\n a": 1},\n{"b": 2}\n]'),
    ("bracket open at the end", '{"a": 1} and then [b'),
    ("bracket too many behind more", '{"a": 1} c [1]}'),
    ("comment open", '{a: 1 /* } {"b": 2}'),
    ("bracket lost above", '"a": 1,\n"b": "x"\n{"c": 2}'),
    ("members beside, without a comma", '{"a": 1} "b": 2'),
    ("backslash forgotten and not", '{"a": "C:\\\\x\\dir"}'),
    ("ends behind a quote", "{'a': 1'"),
    ("string unclosed inside", '{"a": "first, "b": "second"}'),
    ("strings unclosed inside", '{"a": "x, "b": "y, "c": "z"}'),
    ("strings unclosed in an array", '["abc, "def, "ghi"]'),
    ("string unclosed on a line", '["abc,\n"def"\n]'),
    ("value missing", '{"a":}'),
    ("value missing before a comma", '{"a":,"b":2}'),
    ("value missing, cut", '{"a":,'),
    ("value missing, key alone", '{"a", "b": 1}'),
    ("hole", "[1,,2]"),
    ("ellipsis", "[1, 2, ...]"),
    ("unquoted value", '{"a": yes}'),
    ("unquoted values hide a document", '{status: ok, data: {"a": 1}}'),
    ("undefined", '{"a": undefined}'),
    ("NaN", '{"a": NaN}'),
    ("infinity", '{"a": 1e999}'),
    ("underscores", '{"a": 1_234}'),
    ("a number without its first digit", '{"a": .5}'),
    ("a number without its last digit", '{"a": 5.}'),
    ("thousands", '{"a": 1,234}'),
    ("spaced number", "[1 234]"),
    ("fraction", '{"a": 1/3}'),
    ("leading zero", '{"a": 05}'),
    ("version", '{"a": 1.1.1}'),
    ("number cut", '{"a": 1.}'),
    ("hexadecimal", '{"a": 0x10}'),
    ("date", '{"a": 2024-10-18}'),
    ("path without backslashes", '{"a": "C:\\Docs\\new"}'),
    ("command or line break", '{"a": "\\(x\\)\\nUnd"}'),
    ("command or line break of one letter", '{"a": "\\(x\\)\\nu domu"}'),
    ("escape of Python", '{"a": "\\a", }'),
    ("escape of Markdown", '{"a": "a\\_b", }'),
    ("escape with hexadecimal letters", '{"a": "\\xab", }'),
    ("another line behind a string", '{"a": "so it is."\nit was."\n}'),
    ("end of a string repeated and more", '{"a": "so it is."\nit is." and }'),
    ("whole string behind the end", '{"a": "b"}"b"}'),
    ("another end behind the end", '{"a": "so it is"}\nit was"}'),
    ("escape of two languages", '{"a": "\\x41"}'),
    ("escape without digits", '{"a": "\\u12"}'),
    ("null byte", '{"a": "x\0",}'),
    ("doubled quotes", '["say ""hi"" now"]'),
    ("concatenation", '{"a": "b" + "c"}'),
    ("concatenation, single", "{'a': 'b' + 'c'}"),
    ("alternatives", '{"a": "yes" or "no"}'),
    ("two values", '{"a": "b" "c"}'),
    ("set", "{'a', 'b'}"),
    ("words beside values", '{"a": true, JUNK "b": "c" MORE}'),
    ("keys run together", '{"a": 1, "a": 2,}'),
    ("member without its object", '"a": {"b": 1}'),
    ("members beside the object", '{"a": 1}, "b": 2'),
    ("document in a bracket of the prose", '[see {"a": 1}]'),
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in REPAIRED], ids=[row[0] for row in REPAIRED])
def test_repaired(text: str, value: object) -> None:
    """Syntax is repaired, the value is what was written."""
    found = recover(text)
    assert found is not None
    assert found.path is RecoveryPath.JSONREPAIR
    assert repr(found.value) == repr(value)


@pytest.mark.parametrize("text", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(text: str) -> None:
    """What would need a guess, or is not whole, is not read."""
    assert recover(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": 1, "a": 1}', {"a": 1}, id="twice alike"),
        pytest.param('{"a": {"b": [1]}, "a": {"b": [1]}}', {"a": {"b": [1]}}, id="twice alike, nested"),
        pytest.param('{"a": 1, "a": 2}', None, id="twice otherwise"),
        pytest.param('{"a": 1, "a": true}', None, id="1 is not true"),
        pytest.param('{"a": 1, "a": 1.0}', None, id="1 is not 1.0"),
        pytest.param('{"a": null, "a": 1}', None, id="null first"),
        pytest.param('{"a": 1, "a": 2, "a": 1}', None, id="three times"),
        pytest.param('[{"b": {"a": 1, "a": 2}}]', None, id="deep inside"),
        pytest.param('{"a": 1, "\\u0061": 2}', None, id="one name, two spellings"),
        pytest.param('{"a": 1, "A": 2}', {"a": 1, "A": 2}, id="two names"),
        pytest.param("[1e-400]", None, id="lost near zero"),
        pytest.param("[-1e-400]", None, id="lost near zero, negative"),
        pytest.param("[0." + "0" * 400 + "1]", None, id="lost near zero, written out"),
        pytest.param("[1e-99999999999999999999]", None, id="endlessly small"),
        pytest.param("[4e-324]", None, id="rounded near zero"),
        pytest.param("[5e-324]", [5e-324], id="the least double"),
        pytest.param("[0e-400, -0.0]", [0.0, -0.0], id="zero"),
        pytest.param("[1e400]", None, id="beyond the greatest"),
        pytest.param("[1.7976931348623157e308]", [1.7976931348623157e308], id="the greatest double"),
        pytest.param("[123456789012345678901234567890]", [123456789012345678901234567890], id="a long integer"),
        pytest.param("[0.1]", [0.1], id="the nearest double"),
    ],
)
@pytest.mark.parametrize("frame", ["%s", "So:\n%s", "```json\n%s\n```"])
def test_nothing_becomes_something_else_in_silence(frame: str, text: str, value: Any) -> None:
    """A member that is named twice, and a number that no double holds, are not read as one of two things."""
    found = recover(frame.replace("%s", text))
    assert repr(found and found.value) == repr(value)
