"""Emit a document of your own type or schema: ``emit``, ``aemit``, ``stream`` and ``astream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from emitter import client, forms
from emitter.client.options import DocumentOptions, DocumentStreamOptions, documented_options

if TYPE_CHECKING:
    from typing import Unpack

    from emitter.client import AsyncStream, Emission, Settings, Stream
    from emitter.conversation import Messages
    from emitter.forms.document import DocumentTerms
    from emitter.forms.form import OutputForm

T = TypeVar("T")


@overload
def emit(form: type[T], messages: Messages, *, model: str, **options: Unpack[DocumentOptions[T]]) -> Emission[T]: ...


@overload
def emit(form: object, messages: Messages, *, model: str, **options: Unpack[DocumentOptions[Any]]) -> Emission[Any]: ...


@documented_options(DocumentOptions)
def emit(form: object, messages: Messages, *, model: str, **options: Unpack[DocumentOptions[Any]]) -> Emission[Any]:
    """Ask a model for a typed object and return it validated.

    Args:
        form: A pydantic model, dataclass, TypedDict or any other type pydantic accepts, or a JSON Schema.
        messages: A prompt, or a list of messages in OpenAI, Anthropic or Google format.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.

    Returns:
        The emission. Its ``value`` is an instance of ``form``, or JSON for a JSON Schema.

    Raises:
        InputError: An argument cannot be used, such as a form without a schema (``Uncompilable``). Nothing was sent.
        Refused: The model declined to answer. Refusals are never retried.
        Truncated: The answer was cut off in every attempt, with twice the budget each time.
        Invalid: No answer satisfied the schema and the checks.
        Unreachable: The vendor could not be reached.
        CheckFailed: A check or validator of yours raised.
    """
    output_form, settings = document_settings(form, model, options)
    return client.execute(client.prepare_emission(output_form, messages, settings))


@overload
async def aemit(
    form: type[T], messages: Messages, *, model: str, **options: Unpack[DocumentOptions[T]]
) -> Emission[T]: ...


@overload
async def aemit(
    form: object, messages: Messages, *, model: str, **options: Unpack[DocumentOptions[Any]]
) -> Emission[Any]: ...


@documented_options(DocumentOptions)
async def aemit(
    form: object, messages: Messages, *, model: str, **options: Unpack[DocumentOptions[Any]]
) -> Emission[Any]:
    """Async version of ``emit``. ``client`` is an async SDK client."""
    output_form, settings = document_settings(form, model, options)
    return await client.aexecute(client.prepare_emission(output_form, messages, settings))


@overload
def stream(
    form: type[T], messages: Messages, *, model: str, **options: Unpack[DocumentStreamOptions[T]]
) -> Stream[Emission[T]]: ...


@overload
def stream(
    form: object, messages: Messages, *, model: str, **options: Unpack[DocumentStreamOptions[Any]]
) -> Stream[Emission[Any]]: ...


@documented_options(DocumentStreamOptions)
def stream(
    form: object, messages: Messages, *, model: str, **options: Unpack[DocumentStreamOptions[Any]]
) -> Stream[Emission[Any]]:
    """Ask for a typed object as ``emit`` does, and report its fields while they are written.

    Iterate the stream for a ``FieldComplete`` as each property (or each member of a list or map at the root) is
    complete and valid, and then call ``result()`` for the ``Emission``. A ``Restart`` means that the answer was
    rejected and is asked for again.

    Args:
        form: A type or JSON Schema, as for ``emit``.
        messages: A prompt, or a list of messages.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.

    Returns:
        The stream. Its result, events and errors are those of ``emit``.
    """
    selection = forms.document_selectors(options.pop("into", ()), options.pop("follow", ()))
    output_form, settings = document_settings(form, model, options)
    return client.Stream(client.prepare_emission(output_form, messages, settings), selection, form=form)


@overload
def astream(
    form: type[T], messages: Messages, *, model: str, **options: Unpack[DocumentStreamOptions[T]]
) -> AsyncStream[Emission[T]]: ...


@overload
def astream(
    form: object, messages: Messages, *, model: str, **options: Unpack[DocumentStreamOptions[Any]]
) -> AsyncStream[Emission[Any]]: ...


@documented_options(DocumentStreamOptions)
def astream(
    form: object, messages: Messages, *, model: str, **options: Unpack[DocumentStreamOptions[Any]]
) -> AsyncStream[Emission[Any]]:
    """Async version of ``stream``. ``client`` is an async SDK client."""
    selection = forms.document_selectors(options.pop("into", ()), options.pop("follow", ()))
    output_form, settings = document_settings(form, model, options)
    return client.AsyncStream(client.prepare_emission(output_form, messages, settings), selection, form=form)


def document_settings(form: object, model: str, options: DocumentOptions[Any]) -> tuple[OutputForm, Settings]:
    """Return the form and the settings of an emission of a typed object."""
    terms, settings = split_options(model, options)
    return forms.document_form(form, terms), settings


def split_options(model: str, options: DocumentOptions[Any]) -> tuple[DocumentTerms, Settings]:
    """Return the terms of the form, and the settings of the emission."""
    checks, examples, context = options.pop("checks", ()), options.pop("examples", ()), options.pop("context", None)
    settings = client.Settings.from_options(model, options)
    show_messages = settings.validator_messages
    terms = forms.document_terms(checks, examples, context, settings.kind, show_messages=show_messages)
    return terms, settings
