"""A program whose forked child makes a call with a deadline, and which ends while another call waits for ever."""

from __future__ import annotations

import os
import sys
import threading

import openai

from emitter import EmissionError, Policy, emit

FORM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def ask(name: str, policy: Policy) -> None:
    """Make a call, and print the name of its error."""
    client = openai.OpenAI(api_key="a-key-to-send", base_url=sys.argv[1])
    try:
        emit(FORM, "Now?", model="openai/gpt-6-sol", client=client, policy=policy)
    except EmissionError as error:
        sys.stdout.write(f"{name} {type(error).__name__}\n")
        sys.stdout.flush()


def main() -> None:
    """Ask in the parent, in a thread that is left, and in a child."""
    ask("parent", Policy(deadline=0.3))
    threading.Thread(target=ask, args=("thread", Policy(timeout=600)), daemon=True).start()
    child = os.fork()
    if not child:
        ask("child", Policy(deadline=0.3))
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
