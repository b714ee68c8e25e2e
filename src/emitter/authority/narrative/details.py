"""The details of a control plane, as patterns: what a probe would learn from.

Which words these are is ours; RFC-0010 says "oracle/threshold details".
"""

from __future__ import annotations

from typing import Final

_FEW: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_KEPT: Final = r"(?:rules?|polic(?:y|ies)|checks?|clauses?|guards?|filters?|triggers?|guidelines?)"
_BARRED: Final = r"(?:blocked?|banned|forbidden|trigger|flagged|prohibited|restricted|sensitive)"
_NUMBER: Final = r"(?:[$\u20ac\u00a3]\s?)?\d[\d.,]{0,20}+"
_FORM: Final = (
    r"(?!\s*(?:files?|characters?|pages?|words?|lines?|letters?|digits?|photos?|images?|attachments?|questions?|times?|"
    r"minutes?|hours?|days?|weeks?|months?|years?|working|business|mb|kb|gb|people|persons?|items?|things?)\b)"
)
"""What a number limits that is a matter of form."""
_MORE: Final = (
    r"(?:above|below|over|under|exceed(?:s|ed|ing)?|beyond|at\s+least|at\s+most|(?:less|more|fewer|greater|lower|higher)"
    r"\s+than|(?:limit|minimum|maximum)\s+(?:of|is)|up\s+to)"
)

_ORACLES: Final = (
    r"oracles?|tiers?|provenance|envelopes?|registr(?:y|ies)|adapters?|databases?|control[\s-]+plane",
    r"ground[\s-]+truth(?:\s+store)?|verified_at|value_hash|oracle_id|envelope_id|audit_id",
    r"(?:primary|secondary|cross[\s_-]?domain|unverified|tertiary)[\s_-]+(?:tier|oracle|source|check|record)s?",
    r"(?:two|three|four|five|several|both|the|our|all)\s+sources?\s+(?:disagree|conflict|contradict|differ)\w*",
    r"sources?\s+(?:disagree|conflict|contradict|must\s+agree|did\s+not\s+agree)\w*",
    r"(?:first|second|third|fourth|last|other|verification|trusted|external)\s+sources?",
    r"conflicting\s+(?:values?|answers?|results?|information|records?)",
    r"verification[\s-]+(?:records?|methods?|status|steps?)",
)
_THRESHOLDS: Final = (
    r"thresholds?|cut-?offs?|(?:sub-?)?scor(?:es?|ed|ing)|confidences?|likelihoods?|probabilit(?:y|ies)",
    r"(?:trust|risk|confidence|certainty|safety|verification)[\s-]+(?:levels?|ratings?|class(?:es)?|weights?|index)",
    r"points?\s+(?:short|missing|below)|required\s+(?:level|minimum)",
    r"\d[\d.,]{0,12}\s?(?:%|percent|per\s+cent)|0[.,]\d{1,9}",
    rf"{_MORE}\s+{_NUMBER}{_FORM}",
    rf"[<>\u2264\u2265]=?\s*{_NUMBER}",
)
_RULES: Final = (
    rf"{_KEPT}\s*(?:no\.?|number|id|#)?\s*(?:[a-z]{{1,5}}[-_.]?)?\d[\w.()-]{{0,12}}",
    r"internal\s+(?:polic(?:y|ies)|rules?|checks?|codes?|ids?|systems?|limits?|guidelines?)|rule-?books?",
    rf"{_FEW}\s+(?:out\s+)?of\s+(?:the\s+|our\s+)?(?:{_FEW}(?!\s+(?:pages|files))|checks|rules|oracles|tests|sources)",
    r"(?:all|some)\s+of\s+(?:the\s+|our\s+)?(?:checks|rules|oracles|tests|sources)",
    r"rule\s+sets?|failed\s+(?:the|our|a)\s+\w{3,20}\s+(?:check|test)s?|you\s+will\s+(?:then\s+)?get\s+(?:an?\s+)?answer",
    r"checks?\s+(?:that\s+)?(?:has\s+|have\s+)?failed|did\s+not\s+pass",
    r"failed\s+(?:the\s+|our\s+|a\s+)?(?:check|test|validation|screening)s?",
    r"automated\s+(?:checks?|reviews?|systems?)|automatic(?:ally)?\s+(?:checks?|reviews?|refused|rejected|blocked)",
    r"(?:was|were|is|been)\s+(?:classified|flagged|categori[sz]ed|detected|rated|labell?ed)(?:\s+as)?|flagged",
    r"policy_violation|unresolvable|emergency_escalation|(?<![a-z])blocked(?=\s*[:(\[])",
)
_WAYS_AROUND: Final = (
    rf"{_BARRED}[\s-]+(?:key)?(?:words?|terms?|phrases?|topics?|list)(?:[\s-]+list)?|keywords?",
    r"(?:block|deny|allow|white|black)[\s-]?lists?",
    r"(?:the|avoid|remove|without)\s+(?:words?|terms?|phrases?)(?=\s+[\"\u201c'])",
    r"(?:get|work)\s+(?:past|around)|bypass\w*|circumvent\w*|jailbreaks?",
    r"(?:will|would)\s+(?:then\s+)?(?:pass|be\s+accepted|be\s+let\s+through)|go(?:es)?\s+through",
)
_MODELS: Final = (
    r"guard-?rails?|classifiers?|detectors?|moderation|regex(?:es)?|heuristics?|algorithms?",
    r"(?:policy|rules?|decision)[\s-]+engines?|pipelines?|validators?|verifiers?|fact-?check\w*|lookups?|caches?",
    r"(?:the|our|a)\s+tools?|checkers?",
    r"(?:content|safety|word|output|input)[\s-]+filters?",
    r"(?:system|hidden|developer|base|initial)[\s-]+(?:messages?|instructions?)|prompts?",
    r"(?:assistant|bot|system)(?:'s|s)?\s+instructions?|(?:my|its)\s+instructions?|instructed\s+not\s+to",
    r"context[\s-]+window|embeddings?|fine-?tun\w*|logits?|logprobs?|hallucinat\w*|llms?|tokens?|ai",
    r"artificial\s+intelligence|machine\s+learning",
    r"(?:language|ai|ml|underlying|machine|this|our|the)\s+models?(?!\s+(?:of|name|number|year|and)\b)",
    r"(?:gpt|claude|gemini|llama|mistral|chatgpt|openai|anthropic)(?:[\s-]?\d[\w.]{0,8})?",
    r"(?:lower|higher|sampling|different)\s+temperature|temperature\s+(?:setting|parameter)",
    r"apis?|endpoints?|back-?ends?|stack\s+traces?|tracebacks?|exceptions?|null\s+pointer|timeouts?|https?\s+\d{3}",
)
_IDS: Final = (
    r"(?:incident|ticket|reference|trace)\s+(?:numbers?|no\.?|ids?)|[a-z]{2,5}-\d{3,12}|last\s+verified",
    r"(?:audit|trace|incident|correlation|request|session|log|error|reason)[\s_-]+(?:ids?|identifiers?|codes?|hash)",
    r"(?:aud|env|ref|req|rule|pol|trace|orc|evt|err)[_-][a-z0-9][\w-]{2,40}",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"(?=[a-f]{0,40}\d)(?=[0-9]{0,40}[a-f])[0-9a-f]{12,64}|sha-?256\S{0,80}",
)
DETAILS: Final = "|".join((*_ORACLES, *_THRESHOLDS, *_RULES, *_WAYS_AROUND, *_MODELS, *_IDS))
