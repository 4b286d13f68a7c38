"""Dialects out: events to the form that a client or a model understands, and that form back to calls.

A writer turns one complete call into text and reads it back; `WriterStream` applies it to an answer's events.
OpenAI's own form needs no writer: the chat face renders events as they are.
"""

from naru.dialects.writers.anthropic_xml import AnthropicXml
from naru.dialects.writers.element_xml import ElementXml
from naru.dialects.writers.react import ReAct
from naru.dialects.writers.shell import Shell
from naru.dialects.writers.writer import ReadResult, Writer, WriterStream

__all__ = ["AnthropicXml", "ElementXml", "ReAct", "ReadResult", "Shell", "Writer", "WriterStream"]
