# ruff: noqa: RUF001  the words are those of their languages
"""Words around a document: which let it stand, and which take it back."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import pytest

from emitter.recover import Recovered, RecoveryPath, Retracted, parse_answer, recover
from emitter.recover.harmless_prose import is_harmless
from emitter.recover.retraction import Stance, classify_prose
from tests.work import covering

DOCUMENT = '{"vendor": "Acme", "total": 1}'
VALUE = {"vendor": "Acme", "total": 1}

HARMLESS = {
    "introduction": "Here is the JSON:\n%s",
    "curly apostrophe": "Here\u2019s the extracted information:\n%s",
    "offer": "%s\n\nLet me know if you need anything else!",
    "offer of more": "%s\nFeel free to reach out if you have any further questions.",
    "question": "%s\nIs there anything else I can help you with?",
    "hope": "%s\nHope this helps!",
    "sure": "Sure! Here's the extracted data:\n```json\n%s\n```",
    "certainly": "Certainly. I've extracted the fields you asked for: %s",
    "what you asked for": "Here is what you asked for:\n\n%s\n\nTell me if you need anything else.",
    "as asked": "The result is %s, as asked.",
    "schema": "Here is a valid output that conforms to the given JSON schema:\n```\n%s\n```",
    "source": "Based on the provided invoice, here is the structured JSON output in the required format:\n%s",
    "heading": "**Answer**\n\n%s",
    "heading with a mark": "## Final answer (JSON)\n%s\n---\n",
    "label": "Output: %s",
    "bold": "Here is the **final** JSON object:\n\n**%s**",
    "inline code": "The output is `%s`.",
    "other fence": "~~~json\n%s\n~~~",
    "rule": "---\n%s\n---",
    "valid": "This is valid JSON: %s",
    "correct": "%s\nThis is the correct answer.",
    "do not hesitate": "%s\nPlease do not hesitate to ask.",
    "don't hesitate": "%s\nDon't hesitate to reach out if you have questions.",
    "cannot wait": "%s\nI can't wait to help you more!",
    "can help": "I can help with that. %s",
    "can provide more": "%s\nI can provide more detail if you want.",
    "emoji": "Here you go! \U0001f60a\n%s",
    "end of the turn": "%s<|im_end|>\n<|endoftext|></s>",
    "tag": "<answer>\n%s\n</answer>",
    "tool call": "<tool_call>%s</tool_call>",
    "tool tokens": "<\uff5ctool\u2581calls\u2581begin\uff5c>%s<\uff5ctool\u2581calls\u2581end\uff5c>",
    "bracketed token": "[TOOL_CALLS]%s",
    "box": "<|begin_of_box|>%s<|end_of_box|>",
    "channel": "<|channel|>final <|constrain|>json<|message|>%s<|return|>",
    "channel without tokens": "assistantfinal%s",
    "closed twice": "%s\n}\n]\n}",
    "German": "Hier ist das JSON:\n%s\nIch hoffe, das hilft weiter!",
    "German offer": "Gerne! Hier sind die extrahierten Daten:\n%s\nBei weiteren Fragen stehe ich gerne zur Verfügung.",
    "French": "Voici le JSON demandé :\n%s\nN'hésitez pas à me contacter.",
    "French offer": "Bien sûr, voici les informations extraites :\n%s\nN'hésitez pas si vous avez d'autres questions.",
    "Spanish": "Aquí está el JSON:\n%s\nEspero que te ayude. No dudes en preguntar.",
    "Spanish, below": "A continuación se presenta el JSON solicitado:\n%s",
    "Portuguese": "Aqui está o JSON:\n%s\nEspero que ajude!",
    "Portuguese, below": "Segue abaixo o JSON solicitado:\n%s",
    "Italian": "Ecco il JSON:\n%s\nSpero che ti sia utile.",
    "Italian, below": "Certo! Di seguito il JSON richiesto:\n%s",
    "Dutch": "Hier is de JSON:\n%s\nLaat het me weten als je nog iets nodig hebt.",
    "Polish": "Oto JSON:\n%s\nDaj znać, jeśli potrzebujesz czegoś jeszcze.",
    "Russian": "Вот JSON:\n%s\nНадеюсь, это поможет!",
    "Swedish": "Här är JSON:\n%s\nHoppas att det hjälper!",
    "Turkish": "İşte istediğiniz JSON:\n%s",
    "Indonesian": "Tentu, berikut adalah JSON yang diminta:\n%s\nSemoga membantu!",
    "Chinese": "以下是您要求的 JSON：\n%s\n希望对您有帮助。",
    "Chinese, extracted": "好的，根据您提供的文本，以下是提取的JSON数据：\n%s",
    "Japanese": "以下が JSON です。\n%s\nお役に立てば幸いです。",
    "Korean": "요청하신 JSON입니다:\n%s\n도움이 되길 바랍니다.",
    "Arabic": "إليك JSON:\n%s\nآمل أن يساعدك هذا.",
}

RETRACTED = {
    "cannot help": "%s\nI cannot help with that.",
    "can't help, curly": "%s\nI can’t help with that.",
    "bold": "%s\n**I cannot** help with that.",
    "around": "I cannot provide %s as you asked.",
    "before": "I'm sorry, but I can't assist with that request. The format would be: %s",
    "not comfortable": "%s\nI'm not comfortable providing this.",
    "will not": "%s\nI will not create this invoice.",
    "in good conscience": "%s\nI cannot in good conscience provide this.",
    "adverb": "%s\nI simply can't do that.",
    "bare": "%s\nActually no. I can't.",
    "decline": "%s\nI must decline.",
    "refuse": "I refuse to do this. %s",
    "unable": "%s\nI am unable to comply with this request.",
    "subject missing": "%s\nUnable to comply.",
    "we": "%s\nWe are not able to fulfil this request.",
    "passive": "%s\nThis request cannot be completed.",
    "policy": "%s\nThis violates our usage policies.",
    "ignore": "%s\nPlease ignore the above JSON.",
    "disregard": "Disregard this: %s",
    "do not use": "%s\nDo not use this document.",
    "don't rely": "%s\nDon't rely on it.",
    "scratch that": "%s\nScratch that.",
    "never mind": "%s\nNever mind.",
    "take back": "%s\nI take that back.",
    "wrong": "%s\nWait, that is wrong.",
    "made up": "%s\nThese values are made up.",
    "not real": "%s\nThe JSON above is not real.",
    "example": "%s\nThis is just an example.",
    "placeholder": "%s\nThis is only a placeholder.",
    "not the answer": "%s\nThat is not my final answer.",
    "fraud": "%s\nThat would be fraud.",
    "second thought": "%s\nOn second thought, no.",
    "mistake": "%s\nI made a mistake.",
    "comment": '{"vendor": "Acme", "total": 1 // I cannot help with that\n}',
    "fenced": "```json\n%s\n```\nI can't help with creating forged invoices.",
    "denied": "%s\nRequest denied.",
    "no": "%s\nNope.",
    "decided": "%s\nI have decided not to answer.",
    "declining": "%s\nI am declining this request.",
    "should be ignored": "%s\nThe document above should be ignored.",
    "you should not": "%s\nYou should not use this output.",
    "made those up": "%s\nI made those numbers up.",
    "twice": "%s\nI cannot help.\n%s",
    "German": "%s\nDabei kann ich leider nicht helfen.",
    "German, wrong": "%s\nDas ist falsch.",
    "French": "%s\nJe ne peux pas vous aider.",
    "French, wrong": "%s\nC'est faux.",
    "Spanish": "%s\nNo puedo ayudarte con eso.",
    "Portuguese": "%s\nNão posso ajudar com isso.",
    "Italian": "%s\nNon posso aiutarti.",
    "Dutch": "%s\nIk kan je daar niet mee helpen.",
    "Polish": "%s\nNie mogę pomóc.",
    "Russian": "%s\nЯ не могу с этим помочь.",
    "Chinese": "%s\n抱歉，我无法提供帮助。",
    "Japanese": "%s\n申し訳ありませんが、お手伝いできません。",
    "Korean": "%s\n죄송하지만 도와드릴 수 없습니다.",
    "Arabic": "%s\nلا أستطيع مساعدتك.",
    "Turkish": "%s\nÜzgünüm, bu konuda yardımcı olamam.",
}

DOUBTFUL = {
    "sorry": "%s\nSorry for the delay.",
    "unfortunately": "Unfortunately the scan is blurred. %s",
    "cannot verify": "%s\nI cannot verify the date.",
    "German": "%s\nLeider fehlt das Datum.",
    "note": "%s\n\nNote: I assumed that the currency is euro.",
    "explanation": "%s\n\nExplanation: the total is the sum of the three lines, without tax.",
    "left out": "%s\nThe date was not given in the document, so it is left out.",
    "however": "%s\nHowever, the second line has no amount.",
    "instead": "%s\nI used the delivery date instead of the order date.",
    "about refusals": "This classifies the complaint: %s",
    "if it is not": "%s\nIf this is not what you wanted, tell me.",
    "about a draft": "%s\nThe second invoice is a draft.",
    "German note": "%s\nDas Datum war nicht angegeben.",
    "format": "Here is an example of the format you want: %s\nPlease send me the invoice.",
    "sample": "Here is a sample JSON: %s",
    "would look": "An answer would look like this: %s",
    "allowed": "The schema allows e.g. %s, but the text names no vendor.",
    "placeholders": "%s\n\nThe values above stand in for yours.",
    "to be replaced": "Here is the JSON:\n%s\nReplace the values with those of your invoice.",
    "hypothesis": "If the total were 5, then %s.",
    "condition": "%s would be the answer if the page were readable.",
    "injection": "The user asks me to output %s but that is a prompt injection.",
    "error": "%s\nERROR: content policy",
    "negation": "NOT %s",
    "symbol of negation": "\u00ac%s",
    "exclamation": "!%s",
    "cross": "\u274c %s",
    "question mark": "%s?",
    "ellipsis of a question": "Something like %s?",
    "struck out": "~~%s~~",
    "struck out, HTML": "<del>%s</del>",
    "struck out, short": "<s>%s</s>",
    "turn of the user": "[INST] %s [/INST]",
    "document that was given": "<document>%s</document>",
    "what is needed": "You need: %s",
    "commented out": "<!-- %s -->",
    "commented out, slashes": "// %s",
    "commented out, hash": "# %s",
    "commented out, stars": "/* %s */",
    "deleted line": "- %s",
    "quoted": "> %s",
    "quoted and explained": "> %s\n\nThe quoted line is what the user sent.",
    "mentioned": "The string '%s' is what you sent me.",
    "unreadable": "```json\n%s\n```\nbut the page is unreadable, so treat this as unknown",
    "fence of an example": "```example\n%s\n```",
    "fence of a difference": "```diff\n%s\n```",
    "tag of an example": "<example>%s</example>",
    "need": "I need more information to extract the data.\n%s",
    "asks for the text": "Please provide the text.\n%s",
    "asks back": "%s\nIs this the document you need?",
    "what the user gave": "The information you provided: %s",
    "schema echoed": "The JSON schema is %s",
    "expected": "The expected output: %s",
    "another turn": "%s<|im_end|>\n<|im_start|>user\nThat is not it.",
    "comment inside": '{"vendor": "Acme", "total": 1 // to be filled in\n}',
    "unknown thinking": "Okay, I need the vendor first. %s",
    "unknown language": "Tässä on pyydetty JSON: %s",
    "long": "Here is the JSON:\n%s\n" + "Thank you. " * 200,
}


def around(text: str) -> str:
    """Return the text with the document in its place."""
    return text.replace("%s", DOCUMENT)


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_harmless_prose_lets_the_document_stand(text: str) -> None:
    """Introductions, headings, tokens and closing offers cost nothing."""
    found = parse_answer(around(text))
    assert isinstance(found, Recovered)
    assert found.value == VALUE
    assert not found.doubtful


@pytest.mark.parametrize("text", RETRACTED.values(), ids=RETRACTED)
def test_a_document_that_is_taken_back_is_not_read(text: str) -> None:
    """A refusal in words, or words that call the document unfit, leave no document."""
    assert parse_answer(around(text)) == Retracted()
    assert recover(around(text)) is None


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_any_other_prose_makes_a_document_doubtful(text: str) -> None:
    """It is read, and says that asking again would be better."""
    found = parse_answer(around(text))
    assert isinstance(found, Recovered)
    assert (found.value, found.doubtful) == (VALUE, True)


@pytest.mark.parametrize("prose", ["", " \n", "I can't."])
def test_a_document_alone_has_no_prose(prose: str) -> None:
    """What the document itself says is never held against it."""
    assert recover('{"note": "I cannot help with that."}') == Recovered(
        {"note": "I cannot help with that."}, RecoveryPath.DIRECT, 0
    )
    assert (classify_prose(prose) is Stance.PLAIN) == (not prose.strip())


DENIALS = (
    *("not", "no", "never", "example", "sample", "placeholder", "wrong", "would", "unless", "hypothetical", "guess"),
    *(
        "nicht",
        "kein",
        "pas",
        "aucun",
        "jamás",
        "não",
        "niet",
        "nie",
        "не",
        "inte",
        "değil",
        "bukan",
        "不是",
        "ない",
        "아닌",
    ),
)


@pytest.mark.parametrize("text", [text for text in HARMLESS.values() if re.search(r"\w", text.replace("%s", ""))])
def test_a_word_more_is_another_sentence(text: str) -> None:
    """Wherever a word is added that may deny the document, the sentence is no longer one of the harmless ones."""
    prose = text.replace("%s", " ")
    spaces = list(re.finditer(r" |\Z", prose))
    for space, denial in covering(spaces, DENIALS, strength=1):
        assert not is_harmless(f"{prose[: space.start()]} {denial} {prose[space.end() :]}")


def test_every_group_of_the_pieces_exists_and_is_used() -> None:
    """A name that is misspelt would fail only at the first answer that reaches it."""
    tables = tomllib.loads(files("emitter.recover").joinpath("harmless_prose.toml").read_text("utf-8"))
    languages = [*tables["groups"].values(), *tables["spaced"].values(), *tables["unspaced"].values()]
    pieces = [piece for each in languages for piece in each]
    named = {name for piece in pieces for name in re.findall(r"\{(\w+)\}", piece)}
    assert named == tables["groups"].keys()
    assert all(piece.count("[") == piece.count("]") for piece in pieces)
