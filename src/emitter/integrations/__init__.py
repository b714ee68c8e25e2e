"""Integrations with agent frameworks and engines: one module for each, to be imported by name.

Integrations with agent frameworks turn guarded tools (``Authority.guard``) into tools of the framework. While a call
waits for its principal, they pause the agent in the framework's own way, and then pass the answer to the agent. Consent
is in the ledger, never in the framework's state: a resumed run only reads the ledger again. Integrations with engines
make emissions that a crash neither loses nor repeats.
"""
