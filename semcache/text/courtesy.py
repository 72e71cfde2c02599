"""Take politeness off a prompt and leave the plain question or request.

Rules as data, in English and Chinese, some Spanish, French and German. They work on the two ends of
a text only. They must never take content away: a polite word that is quoted, translated, spelled or
part of a name stays, and what is left is never blank. Longer than most files: it is mostly rules.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["strip_politeness"]

# Words that begin a question or request, so that what stands before them can be a mere greeting.
_ASKERS = (
    r"(?:how(?!\s+are\s+you)|what|what's|whats|when|where|who|why|which|can|could|would|will|is|"
    r"are|am|do|does|did|should|shall|may|might|i|i'm|i've|i'd|my|we|our|please|pls|plz|kindly|"
    r"just|quick|tell|explain|show|give|help|need|want|any|sorry|hope|if|there)\b"
)
_GREETING = (
    r"(?:hi|hiya|hello|hey|greetings|good (?:morning|afternoon|evening|day))"
    r"(?: (?:there|all|everyone|everybody|team|guys|folks|support|again))?"
)
# After a polite word these show that the text is about the word: "please in French".
_NOT_ABOUT = (
    r"(?!(?:in|en|auf|meaning|means|mean|synonyms?|translation|definition|vs|versus|or|"
    r"and|is|are|was|as|to|for|lyrics|pronunciation|emoji|grammar|sign|meme|english|please)\b)"
)
_REQUESTS = (
    r"(?:tell me|explain|show me|give me|describe|summari[sz]e|help me|let me know|clarify|advise|"
    r"walk me through|provide me|provide|recommend|suggest|teach me|remind me|elaborate)\b"
)
_WH = r"(?:how|what|when|where|who|whom|whose|why|which)"

# Each rule is a pattern at the start of the text and what it becomes.
_OPENINGS: tuple[tuple[str, str], ...] = (
    (
        rf"{_GREETING}\s*(?:[,!.:;]+|\s-)\s*(?={_ASKERS})",
        "",
    ),
    (
        # Without a mark the greeting may be the subject: "hi is a greeting in which languages".
        rf"{_GREETING}\s+(?=(?:how (?!are)|what|when|where|who|why|which|can|could|i|i'm|i've|"
        r"i'd|my|please|tell|explain|show)\b)"
        r"(?!.*\b(?:mean|meaning|means|word|say|spell|spelled|language)\b)",
        "",
    ),
    (r"dear (?:team|support|sir|madam|sir or madam|all|assistant)\s*[,!.:;]+\s*", ""),
    (
        r"(?:hope|i hope) (?:you are|you're|this finds you|all is|"
        r"everything is) [^.!?,\n]{2,30}[.!]\s+",
        "",
    ),
    (
        r"(?:excuse me|pardon me|sorry to (?:bother|trouble|"
        r"disturb) you)(?: again)?\s*[,.!;:]+(?: but)?\s*",
        "",
    ),
    (r"(?:sorry to (?:bother|trouble|disturb) you)\s+but\s+", ""),
    (r"(?:just )?(?:a |one )?quick question\s*[,:.!-]+\s*", ""),
    (
        r"(?:thanks|thank you|many thanks)(?: (?:so much|very much|a lot|in advance))?\s*[!.]+\s+",
        "",
    ),
    (
        r"i (?:was|am) (?:just )?wondering (?:if|whether) (?:you (?:could|can|would|might)|"
        rf"it(?:'s| is) possible for you to) (?:please |kindly |possibly )?(?={_REQUESTS})",
        "",
    ),
    (
        r"i (?:was|am) (?:just )?wondering (?:if|whether) (?:i|we) (?:can|could|may|might) ",
        "can I ",
    ),
    (rf"(?:i (?:was|am) |i'm )?(?:just )?wondering[,:]? (?={_WH}\b)", ""),
    (
        r"(?:i (?:would|'d) |i'd |we(?:'d| would) )(?:really |just )?(?:like|love) "
        rf"(?:to know|to ask|to find out|to understand) (?:about )?(?={_WH}\b)",
        "",
    ),
    (rf"i (?:just )?(?:want|need|wanted) to (?:know|ask|find out|understand) (?={_WH}\b)", ""),
    (
        r"(?:i (?:would|'d)|i'd) (?:really )?(?:appreciate it|be (?:very )?grateful) if you "
        rf"(?:could|can|would) (?:please )?(?={_REQUESTS})",
        "",
    ),
    (rf"(?:do you|does anyone|does anybody|would you) (?:happen to )?know (?={_WH}\b)", ""),
    (rf"(?:any idea|any ideas) (?={_WH}\b)", ""),
    (
        rf"(?:may|can|could|might) i (?:please |just |kindly )?ask (?:you )?(?:about )?(?={_WH}\b)",
        "",
    ),
    (
        r"(?:can|could|would|will) (?:you|u|someone|anyone|"
        r"somebody)(?: guys)?(?: be so kind as to| "
        rf"be able to)?(?: please| pls| plz| kindly| possibly| maybe| just)* (?={_REQUESTS})",
        "",
    ),
    (
        r"(?:can|could|would|will) (?:you|u|someone)(?: (?:please|pls|plz|kindly))+ "
        r"(?=[a-z]+\b(?! to\b))",
        "",
    ),
    (rf"(?:please|pls|plz|kindly)(?:,| do)?\s+{_NOT_ABOUT}(?=[a-z]+\b)", ""),
    (rf"(?:tell|explain to|show|let) me (?:know )?(?:exactly )?(?=(?:{_WH})\b)", ""),
    (r"would you mind (?:please )?explaining ", "explain "),
    (r"would you mind (?:please )?(?:tell|show|help|teach)ing me (?:with )?", ""),
    (r"provide me (?:with )?", "give me "),
    (r"(?:请问|想问|想请问|请教)(?:一下|下|您|你|大家|各位)*(?:[,，:：!！ ]+)?", ""),
    (r"(?:你好|您好|大家好|嗨|哈[喽啰罗])(?:呀|啊|哈)?[,，!！。:：~～ ]+", ""),
    (r"(?:你好|您好)(?=请问|我想|麻烦|请|想问)", ""),
    (r"(?:打扰(?:一下|了|您了|你了)|不好意思|劳驾|抱歉打扰)[,，!！。:： ]*(?=\S{4})", ""),
    (
        r"(?:麻烦|劳烦|烦请|拜托)(?:一下)?(?:您|你|大家)?(?:能不能|能|可以)?"
        r"(?=帮|告诉|请|解释|说明|介绍|给我|问)(?:帮忙|帮我|帮)?",
        "",
    ),
    (
        r"(?:请)?(?:你|您)?(?:能不能|能否|可不可以|可否|可以|能)(?:请)?(?:你|您)?(?:帮忙|帮我|帮|给我)?"
        r"(?=告诉我|解释|说明一下|介绍一下|讲解|讲一下|说一下|解答)",
        "",
    ),
    (
        r"请(?:你|您)?(?:帮忙|帮我|帮|给我)?(?=告诉我|解释|说明|介绍|讲|列出|列举|写|翻译|总结|推荐|描述|"
        r"简述|简要|详细|分析|概括|比较|生成|给出|提供)",
        "",
    ),
    (r"请(?:你|您)(?:帮忙|帮我|帮)?(?=\S{2})", ""),
    (r"帮我(?=解释|说明|介绍|讲|翻译|总结|列出|写|分析)", ""),
    (r"我?想要?(?:知道|了解)(?:一下|下|的是)?[,，:： ]*(?=\S{3})", ""),
    (r"我?(?:想|要)(?:请)?问(?:一下|下|的是)[,，:： ]*(?=\S{3})", ""),
    (r"告诉我(?:一下)?[,，:： ]*(?=什么|怎|为什么|哪|谁|如何|多少|几)", ""),
    (r"(?:解释|说明|介绍|讲解|说|讲)一?下(?=什么是|什么叫|为什么|怎么|如何)", ""),
    (r"(?:hola|buen[oa]s (?:d[ií]as|tardes|noches))\s*[,.!]+\s*", ""),
    (
        r"¿?\s*(?:me )?(?:podr[ií]as?|puedes?|pueden)(?: usted)?(?: por favor)? (?:decirme|"
        r"explicarme)[,]? (?=(?:qu|c[oóu]|d[oó]nde|por qu))",
        "¿",
    ),
    (rf"(?:por favor),?\s+{_NOT_ABOUT}(?=[a-záéíóúñ¿]+)", ""),
    (r"(?:me gustar[ií]a|quisiera|quiero) saber (?=(?:qu|c[oóu]|d[oó]nde|por qu))", ""),
    (r"(?:bonjour|bonsoir|salut)\s*[,.!]+\s*", ""),
    (rf"(?:s'il (?:vous|te) pla[iî]t|svp|stp),?\s+{_NOT_ABOUT}(?=[a-zà-ÿ]+)", ""),
    (
        r"(?:pourriez[- ]vous|pouvez[- ]vous|peux[- ]tu|pourrais[- ]tu)(?: s'il (?:vous|"
        r"te) pla[iî]t)? (?:me|m')\s?(?:dire|expliquer|indiquer) (?=(?:qu|com|o[uù]|pourquoi|"
        r"ce que))",
        "",
    ),
    (
        r"(?:je (?:voudrais|veux|souhaite|souhaiterais)|j'aimerais) savoir (?=(?:qu|com|o[uù]|"
        r"pourquoi))",
        "",
    ),
    (r"(?:hallo|guten (?:tag|morgen|abend)|moin|servus)\s*[,.!]+\s*", ""),
    (
        r"(?:k[oö]nnten sie|k[oö]nnen sie|kannst du|k[oö]nntest du) (?:mir|"
        r"uns)(?: bitte)? (?:sagen|erkl[aä]ren|verraten),? (?=(?:w[aeio]|ob))",
        "",
    ),
    (rf"bitte,?\s+{_NOT_ABOUT}(?=[a-zäöüß]+)", ""),
    (r"(?:ich (?:m[oö]chte|w[uü]rde gerne?|will)) wissen,? (?=w[aeio])", ""),
)

_THANKS = (
    r"(?:many thanks|thanks?(?: you)?|thank u|thx|tysm|ty|cheers|much appreciated|"
    r"(?:that|it) would be (?:great|appreciated|helpful|much appreciated)|"
    r"(?:any|your) (?:help|advice) (?:is|would be)(?: (?:much|greatly|really))? appreciated|"
    r"(?:muchas )?gracias(?: de antemano)?|merci(?: (?:beaucoup|d'avance|bien))?|"
    r"danke(?: (?:sch[oö]n|im voraus|sehr))?|vielen dank(?: im voraus)?)"
    r"(?: (?:so much|very much|a lot|a million|again|in advance|everyone|all|guys|for your help|"
    r"for the help|for any help))*"
)
_CLOSINGS: tuple[str, ...] = (
    rf"(?:\s*,|(?<=[.?!;\n)`\"']))\s*{_THANKS}\s*[,.!]*(?:\s*\n\s*\w+[.!]*)?\Z",
    r"(?<!\b(?:for|and|the|say|not|can|how))(?<!\b(?:of|or|is|to|my|no|as))"
    r"(?<!\b(?:with|word|give|many|than))"
    r"\s+(?:thanks|thank you|thx|tysm)(?: in advance| so much| a lot)?\s*[.!]*\Z",
    r"\s*,\s*(?:please|pls|plz|kindly|por favor|s'il (?:vous|te) pla[iî]t|svp|stp|"
    r"bitte)(?=\s*[.!?]*\Z)",
    r"(?<!\b(?:please))(?<!\b(?:yes))(?<!\bno)\s+(?:(?-i:please)|pls|plz)(?=\s*[.!?]*\Z)",
    r"[,]?\s+(?:por favor|s'il (?:vous|te) pla[iî]t|svp|stp|bitte)(?=\s*[.!?]*\Z)",
    r"\s*,?\s*(?:if you don't mind|if you do not mind|if that's ok(?:ay)?|"
    r"when you (?:have|get) (?:a )?(?:chance|moment|minute|time))(?=\s*[.!?]*\Z)",
    r"[,，。.!！?？;； ]+(?:谢谢|多谢|感谢|谢了|拜托了?|麻烦了|十分感谢|非常感谢|万分感谢)"
    r"(?:你|您|大家|各位|啦|了|哦|呀|啊)*[!！。.~～]*\Z",
    r"(?<=[吗呢么吧样做办])(?:谢谢|多谢|感谢|拜托)(?:你|您|大家|啦|了|哦|呀|啊)*[!！。.~～]*\Z",
)
# Here the polite words may be the subject: nothing is taken off the end.
_ABOUT_WORDS = re.compile(
    r"\b(?:translat\w*|say|says|saying|said|spell\w*|pronounc\w*|mean|means|meaning|word|words|"
    r"phrase|sentence|synonym\w*|etymology|rewrite|rephrase|paraphrase|proofread|correct|grammar|"
    r"repl(?:y|ies)|respond|response|letter|note|speech|caption|lyrics|song|"
    r"polite\w*|write|writing|draft|compose|traduc\w*|tradui\w*|[uü]bersetz\w*|"
    r"french|german|spanish|chinese|japanese|korean|italian|english|russian|arabic)\b"
    r"|翻译|怎么说|怎么写|意思|英语|英文|日语|韩语|法语|德语|回复|造句|歌词|歌曲|写信|一封信|感谢信|语气|礼貌|改写|润色",
    re.IGNORECASE,
)
# "Please Please Me", "Tell Me Why": the polite word begins a name.
_TITLE = re.compile(r"\A(?i:please|thank you|thanks|sorry|kindly|tell|show)\s+(?!I\b)[A-Z]")
# A Chinese polite word as the subject: 不好意思用英语怎么说, 劳驾是什么意思.
_ABOUT_CHINESE = re.compile(
    r"\A[你您大哈嗨]?(?:请问|请教|想问|好|不好意思|打扰一下|打扰了|劳驾|我?想知道|我?想了解)"
    r"[,，]?(?:用|的|是|怎|这|英|日|韩|法|德|翻|和|与|跟|一词|二字|两个字|几个字).*"
    r"(?:怎么说|怎么写|怎么读|意思|英语|英文|翻译|区别|区分|含义|义词|拼音|读音|造句|笔顺|成语|词语)",
    re.DOTALL,
)
_ABOUT_TITLES = re.compile(
    r"\b(?:lyrics|song|album|movie|film|novel|band|single|episode|chords|synopsis)\b|歌词|歌曲|电影|小说",
    re.IGNORECASE,
)

_OPENING_RULES = tuple((re.compile(p, re.IGNORECASE), to) for p, to in _OPENINGS)
# One pattern that any opening matches, since most texts match none.
_ANY_OPENING = re.compile("|".join(f"(?:{p})" for p, _ in _OPENINGS), re.IGNORECASE)
_CLOSING_RULES = tuple(re.compile(p, re.IGNORECASE) for p in _CLOSINGS)
# A cheap look at the last characters before the closing rules, which search the whole text.
_CLOSING_CUE = re.compile(
    r"please|pls|plz|kindly|thank|thx|ty\b|tysm|cheers|appreciated|great|helpful|mind|ok\b|okay|"
    r"chance|moment|minute|time\b|gracias|merci|dank|favor|pla[iî]t|svp|stp|bitte|谢|拜托|麻烦",
    re.IGNORECASE,
)

_BE_LAST = re.compile(
    rf"\A(?P<wh>{_WH}) (?P<subject>(?:the|a|an|my|your|our|this|that|these|those)\b[^.,;:!?\n]*?) "
    r"(?P<be>is|are|was|were)(?P<end>\s*[.?!]*)\Z",
    re.IGNORECASE,
)
_MODAL_AFTER = re.compile(
    r"\A(?P<wh>how|when|where|why) (?P<who>i|we|you) (?P<modal>can|could|should|would|must)\b", re.I
)
# 可以告诉我怎么退货吗: the final 吗 belonged to the wrapper that went.
_WRAPPED_MA = re.compile(r"(?P<ask>(?:什么|怎么|如何|多少|哪|谁)[^。?？\n]*)吗(?=[?？。]*\Z)")
_TELL_NOUN = re.compile(
    r"\A(?:tell me|give me) (?P<noun>(?:the|my|your|our) (?P<head>[a-z]+)(?: [a-z]+){0,2}?) "
    r"(?P<tail>(?:of|for|in|on|between)\b[^.!?\n]*)(?P<end>[.?!]*)\Z",
    re.IGNORECASE,
)


_CLOSING_REACH = 100
# Politeness comes in layers (a greeting, a wrapper, a please); nobody writes more of them.
_LAYERS = 6


@lru_cache(maxsize=64)
def strip_politeness(text: str) -> str:
    """Return `text` without greetings, please, thanks and polite wrappers: the default `core=`.

    What is left is a plain question or request. Text that is about polite words, and text that
    would end up blank, comes back as it is.

    >>> strip_politeness("Hi! Could you please tell me what the capital of Peru is? Thanks!")
    'what is the capital of Peru?'
    >>> strip_politeness("请问怎么退货？谢谢")
    '怎么退货'
    >>> strip_politeness("Thank you letter for a teacher")
    'Thank you letter for a teacher'
    """
    core = text.strip()
    has_closing = _CLOSING_CUE.search(core[-_CLOSING_REACH:]) is not None
    if has_closing and _ABOUT_WORDS.search(core) is None:
        core = _strip_closings(core)
    if _ANY_OPENING.match(core) is not None and not _is_about_openings(core):
        core = _strip_openings(core)
    return core if any(map(str.isalnum, core)) else text


def _is_about_openings(text: str) -> bool:
    return bool(_ABOUT_TITLES.search(text) or _ABOUT_CHINESE.match(text))


def _strip_closings(text: str) -> str:
    for _ in range(_LAYERS):
        before, tail = text, text[-_CLOSING_REACH:]
        for rule in _CLOSING_RULES:
            shorter = rule.sub("", tail)
            if shorter != tail and any(map(str.isalnum, text[:-_CLOSING_REACH] + shorter)):
                text, tail = text[:-_CLOSING_REACH] + shorter, shorter
        if text == before:
            break
    return text


def _strip_openings(text: str) -> str:
    first = text
    for _ in range(_LAYERS):
        if _ANY_OPENING.match(text) is None:
            break
        if _TITLE.match(text) is not None and not text.isupper():
            break
        for rule, replacement in _OPENING_RULES:
            shorter = rule.sub(replacement, text, count=1) if rule.match(text) else text
            if any(map(str.isalnum, shorter)):
                text = shorter
    return text if text == first else _as_question(text)


def _as_question(text: str) -> str:
    """Turn what a wrapper leaves (what X is, how I can, tell me the X of) into a plain question."""
    match = _BE_LAST.match(text)
    if match is not None:
        return f"{match['wh']} {match['be']} {match['subject']}{match['end']}"
    match = _MODAL_AFTER.match(text)
    if match is not None:
        return f"{match['wh']} {match['modal']} {match['who']}{text[match.end() :]}"
    match = _TELL_NOUN.match(text)
    if match is not None and not match["noun"].endswith("s"):
        return f"what is {match['noun']} {match['tail']}{match['end']}"
    return _WRAPPED_MA.sub(r"\g<ask>", text)
