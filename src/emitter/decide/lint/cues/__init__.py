"""The phrases by which a sentence defers a decision, in English.

They are explicit deferrals, not hedges: a general hedge lexicon fires on half of all certain sentences. A possibility
("might be best", "perhaps") leaves the other answer as open as this one, so it defers; a probability ("probably",
"seems") says which, so it does not, and is the modal rule's.
"""
