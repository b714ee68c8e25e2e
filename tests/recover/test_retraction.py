# ruff: noqa: RUF001  the words are those of their languages
"""Words around a document: which let it stand, and which take it back."""

from __future__ import annotations

import pytest

from emitter.recover import Recovered, RecoveryPath, Retracted, parse_answer, recover
from emitter.recover.retraction import Stance, classify_prose

DOCUMENT = '{"vendor": "Acme", "total": 1}'
VALUE = {"vendor": "Acme", "total": 1}

HARMLESS = {
    "introduction": "Here is the JSON:\n%s",
    "offer": "%s\n\nLet me know if you need anything else!",
    "hope": "%s\nHope this helps!",
    "sure": "Sure! Here's the extracted data:\n```json\n%s\n```",
    "certainly": "Certainly. I've extracted the fields you asked for: %s",
    "note": "%s\n\nNote: I assumed that the currency is euro.",
    "explanation": "%s\n\nExplanation: the total is the sum of the three lines, without tax.",
    "left out": "%s\nThe date was not given in the document, so it is left out.",
    "unknown field": "%s\nI did not find a tax number in the text.",
    "however": "%s\nHowever, the second line has no amount.",
    "not included": "The invoice does not name a due date. %s",
    "instead": "%s\nI used the delivery date instead of the order date.",
    "no need": "%s\nNo further fields were found.",
    "as asked": "The result is %s, as asked.",
    "about refusals": "This classifies the complaint: %s",
    "valid": "This is valid JSON: %s",
    "correct": "%s\nThis is the correct answer.",
    "do not hesitate": "%s\nPlease do not hesitate to ask.",
    "don't hesitate": "%s\nDon't hesitate to reach out if you have questions.",
    "if it is not": "%s\nIf this is not what you wanted, tell me.",
    "cannot wait": "%s\nI can't wait to help you more!",
    "about a draft": "%s\nThe second invoice is a draft.",
    "about a refusal": "%s\nThe customer refused delivery on Monday.",
    "can help": "I can help with that. %s",
    "can provide more": "%s\nI can provide more detail if you want.",
    "German": "Hier ist das JSON:\n%s\nIch hoffe, das hilft weiter!",
    "German note": "%s\nDas Datum war nicht angegeben.",
    "French": "Voici le JSON demandé :\n%s\nN'hésitez pas à me contacter.",
    "Spanish": "Aquí está el JSON:\n%s\nEspero que te ayude. No dudes en preguntar.",
    "Portuguese": "Aqui está o JSON:\n%s\nEspero que ajude!",
    "Italian": "Ecco il JSON:\n%s\nSpero che ti sia utile.",
    "Dutch": "Hier is de JSON:\n%s\nLaat het me weten als je nog iets nodig hebt.",
    "Polish": "Oto JSON:\n%s\nDaj znać, jeśli potrzebujesz czegoś jeszcze.",
    "Russian": "Вот JSON:\n%s\nНадеюсь, это поможет!",
    "Chinese": "以下是您要求的 JSON：\n%s\n希望对您有帮助。",
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
}


def around(text: str) -> str:
    """Return the text with the document in its place."""
    return text.replace("%s", DOCUMENT)


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_harmless_prose_lets_the_document_stand(text: str) -> None:
    """Introductions, explanations and closing offers cost nothing."""
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
def test_an_apology_makes_a_document_doubtful(text: str) -> None:
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
