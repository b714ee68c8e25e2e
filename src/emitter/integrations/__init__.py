"""Integrations with agent frameworks and engines: one module for each, to be imported by name.

Those with agent frameworks turn guarded tools (``Authority.guard``) into tools of the framework, pause the agent in the
framework's own way while a call waits for its principal, and tell the agent their answer. Consent is in the ledger,
never in the framework's state: a resume is only a reason to look there again. Those with engines make emissions that a
crash neither loses nor repeats.
"""
