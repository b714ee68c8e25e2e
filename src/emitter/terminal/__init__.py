"""Answer a decision at a terminal, with an arrow-key picker or in lines of text."""

from emitter.terminal.plain_mode import DetailHandler as DetailHandler
from emitter.terminal.plain_mode import describe_resolution as describe_resolution
from emitter.terminal.prompt import aask as aask
from emitter.terminal.prompt import ask as ask
from emitter.terminal.prompt import listen as listen
