"""The linter of OpenWOP's portable tier-1 subset."""
