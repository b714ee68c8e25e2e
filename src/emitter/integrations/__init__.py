"""Approvals inside agent frameworks: one module for each, to be imported by name.

Each turns guarded tools (``Authority.guard``) into tools of its framework, pauses the agent in the framework's own way
while a call waits for its principal, and tells the agent their answer. Consent is in the ledger, never in the
framework's state: a resume is only a reason to look there again.
"""
