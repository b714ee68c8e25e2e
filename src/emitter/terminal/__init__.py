"""A decision answered at a terminal: by a picker with arrow keys, or in lines of text."""

from emitter.terminal.door import aask as aask
from emitter.terminal.door import ask as ask
from emitter.terminal.door import listen as listen
from emitter.terminal.plain import Detail as Detail
from emitter.terminal.sentence import sentence as sentence
