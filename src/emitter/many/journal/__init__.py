"""The journal of a run: what was paid for, so that it is not paid for again."""

from emitter.many.journal.about import About as About
from emitter.many.journal.about import about as about
from emitter.many.journal.about import digest as digest
from emitter.many.journal.book import Journal as Journal
from emitter.many.journal.book import opened as opened
from emitter.many.journal.line import Record as Record
