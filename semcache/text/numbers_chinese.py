"""Chinese numerals as plain digits: 三百六十 is 360, 一九四九年 is 1949年, 半小时 is 0.5小时.

A numeral that is part of a word stays: 一下, 万一, 第一次, 三亚.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod

from semcache.text.numbers_english import plain_digits

__all__ = ["level_chinese"]

_ZH_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
    "肆": 4,
    "伍": 5,
    "陆": 6,
    "柒": 7,
    "捌": 8,
    "玖": 9,
    "兩": 2,
}
_ZH_SCALES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_ZH_BIG = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_ZH_CHARACTERS = "".join([*_ZH_DIGITS, *_ZH_SCALES, *_ZH_BIG])
_ZH_HAS = re.compile(f"[{_ZH_CHARACTERS}半]")
_ZH_RUN = re.compile(f"[{_ZH_CHARACTERS}]+(?:点[零〇一二三四五六七八九]+(?![钟半]))?")
_LONGEST_RUN = 60  # characters; what is longer is no number but a strain
_ZH_SIZE = "[十百千]?[万萬亿億]|[千百]"
_ZH_MIXED = re.compile(
    rf"(?<![\d.])(?:\d+(?:\.\d+)?[ ]?(?:{_ZH_SIZE}))+(?:\d+(?![\d.]))?"
    rf"(?![{_ZH_CHARACTERS}]|[一-鿿]?事)"
)
_ZH_PART = re.compile(rf"(\d+(?:\.\d+)?)[ ]?({_ZH_SIZE}|)")
_ZH_PERCENT = re.compile(
    rf"百分之(\d+(?:\.\d+)?|[{_ZH_CHARACTERS}]+(?:点[零〇一二三四五六七八九]+)?)"
)
_ZH_FRACTION = re.compile(rf"([{_ZH_CHARACTERS}]{{1,12}})分之([{_ZH_CHARACTERS}]{{1,12}})")
# Measure words and units after which a single numeral is a number.
_ZH_MEASURE = (
    "个|個|年|月|日|号|號|天|岁|歲|元|块|塊|角|毛|小时|小時|分钟|分鐘|分|秒|周(?!年|围|边|末)|星期|礼拜|斤|公斤|千克|克|吨|"
    "公里|千米|厘米|毫米|米|英里|英尺|英寸|里路|亩|升|毫升|度|倍|名|位|条|條|张|張|本|件|只|隻|支|台|辆|輛|架|"
    "部|篇|首|句|段|页|頁|章|节|節|层|層|楼|次|种(?!下|植|子)|種|款|套|双|對|对|杯|瓶|碗|道|题|門|门|间|家|所|"
    "行|列|步|点(?!儿)|點|美元|欧元|人(?!们|类|生)|口人|集|季(?!节)|届|届|字|词|項|项|组|批|排|份|封|颗|棵|朵|匹|头|维"
)
_ZH_IS_MEASURED = re.compile(_ZH_MEASURE)
_ZH_NOT_NUMBERS = re.compile(
    "一点(?!钟|半|[零〇一二三四五])|一点[也都]|一下|一起|一直|一些|一定|一般|一样|一旦|一切|一向|一律|一致|一共|一边|一面|一路|"
    "一心|一生|一时|一带|一再|一度|一体|一线|一道|一对一|一方面|第一次|第一时间|统一|唯一|万一|之一|一次性|一年级|一日游|"
    "千万(?!元|美元|人|级|年|个)|万分|万岁|万物|万事|十分(?!钟|鐘)|十足|百度|百科|百货|百姓|百合|百事|千里|千古|千金|万能|万圣|"
    "万年历|三明治|三角|三维|二维码|二手|二胎|二进制|十进制|八进制|十六进制|一元论|一口气|一会|一句话|一分为二|四季|"
    "五官|五金|七夕|八卦|九宫|三国|三亚|四川|三星|五粮|六一|五一|十一黄金|双十一|三八|九一八|七七事变|一带一路|"
    "星期[一二三四五六]|周[一二三四五六](?!年)|礼拜[一二三四五六]|五四|三七|一二九|不三不四|两(?=者|国|岸|侧|边|性|极)|一方|"
    "一氧化|二氧化|三氧化|零食|零售|零件|零钱|零碎|两会|万科|万达|千年(?=虫)|百年(?=孤独)|三体|一九|半"
)
_ZH_HALF_UNIT = re.compile(
    r"半(个)?(?=小时|小時|年(?!级)|天(?!空)|月(?!板|刊)|个月|星期|斤|公斤|公里|升|米|分钟|学期|杯|瓶)"
)
_ZH_AND_HALF = re.compile(r"(\d+)(个|年|天|斤|公斤|公里|岁|小时|米|倍|升)半(小时|月|星期|钟头)?")


def level_chinese(text: str) -> str:
    """Rewrite the Chinese numerals of a text.

    >>> level_chinese("三百六十元，百分之二十，万一")
    '360元，20%，万一'
    """
    if not _ZH_HAS.search(text):
        return text
    text = _ZH_MIXED.sub(_rewrite_mixed, text)
    text = _ZH_PERCENT.sub(_rewrite_percent, text)
    text = _ZH_FRACTION.sub(_rewrite_zh_fraction, text)
    text = _rewrite_runs(text)
    if "半" in text:
        text = _ZH_AND_HALF.sub(lambda m: f"{m[1]}.5{m[2]}{m[3] or ''}", text)
        text = _ZH_HALF_UNIT.sub(lambda m: f"0.5{m[1] or ''}", text)
    return text


def _rewrite_runs(text: str) -> str:
    kept = {
        place: match.end()
        for match in _ZH_NOT_NUMBERS.finditer(text)
        for place in range(*match.span())
    }

    def rewrite(match: re.Match[str]) -> str:
        start, end = match.span()
        if start in kept and (end <= kept[start] or end - start == 1):
            return match.group()
        if end - start > _LONGEST_RUN:
            return match.group()
        return _chinese_digits(match) or match.group()

    return _ZH_RUN.sub(rewrite, text)


def _chinese_digits(match: re.Match[str]) -> str:
    """Digits for a run of Chinese numerals; the empty string if it is not a number."""
    run = match.group()
    whole, _, decimals = run.partition("点")
    text, end = match.string, match.end()
    measured = bool(_ZH_IS_MEASURED.match(text, end))
    ordinal = match.start() > 0 and text[match.start() - 1] == "第"
    before_digit = match.start() > 0 and text[match.start() - 1].isdigit()
    if before_digit:
        return ""
    if all(character in _ZH_DIGITS for character in whole):
        is_long = len(whole) >= 3 or (len(whole) == 2 and text.startswith("年", end))
        if not (is_long or decimals or (len(whole) == 1 and (measured or ordinal))):
            return ""
        shown = "".join(str(_ZH_DIGITS[character]) for character in whole)
    else:
        value = _chinese_value(whole)
        if value is None or (len(whole) == 1 and not (measured or ordinal)):
            return ""
        shown = str(value)
    return shown + ("." + "".join(str(_ZH_DIGITS[c]) for c in decimals) if decimals else "")


def _chinese_value(run: str) -> int | None:
    """Value of a numeral with place names (三百六十 = 360, 两万五 = 25000), or None."""
    total, section, digit, place = 0, 0, -1, 0
    zero = False
    for character in run:
        if character in _ZH_DIGITS:
            if digit > 0:
                return None
            digit = _ZH_DIGITS[character]
            zero = zero or digit == 0
        elif character in _ZH_SCALES:
            place = _ZH_SCALES[character]
            if digit == -1 and (section or place > 10):
                return None
            section += (digit if digit > 0 else 1) * place
            digit, zero = -1, False
        else:
            place = _ZH_BIG[character]
            section += max(digit, 0)
            if section == 0:
                return None
            total = (total + section) * place if place == 10**8 else total + section * place
            section, digit, zero = 0, -1, False
    if digit > 0:
        short = place >= 100 and not zero and not (section % place if place < 10**4 else section)
        section += digit * (place // 10) if short else digit
    return total + section


def _number_value(text: str) -> Fraction | None:
    if len(text) > _LONGEST_RUN:
        return None
    if text[0].isdigit():
        return Fraction(text)
    whole, _, decimals = text.partition("点")
    if all(character in _ZH_DIGITS for character in whole):
        value: int | None = int("".join(str(_ZH_DIGITS[character]) for character in whole))
    elif whole == "百":
        value = 100
    else:
        value = _chinese_value(whole)
    if value is None:
        return None
    tail = "".join(str(_ZH_DIGITS[character]) for character in decimals)
    return Fraction(f"{value}.{tail or 0}")


def _rewrite_mixed(match: re.Match[str]) -> str:
    """3万5千 and 3万5 are 35000, 1亿2000万 is 120000000."""
    if len(match.group()) > _LONGEST_RUN:
        return match.group()
    total, scale = Fraction(0), 1
    for digits, name in _ZH_PART.findall(match.group()):
        before, scale = scale, prod((_ZH_BIG | _ZH_SCALES)[character] for character in name)
        is_short = not name and len(digits) == 1
        total += Fraction(digits) * (before // 10 if is_short else scale)
    return plain_digits(total)


def _rewrite_percent(match: re.Match[str]) -> str:
    value = _number_value(match.group(1))
    return match.group() if value is None else f"{plain_digits(value)}%"


def _rewrite_zh_fraction(match: re.Match[str]) -> str:
    bottom, top = _number_value(match.group(1)), _number_value(match.group(2))
    if bottom is None or top is None:
        return match.group()
    return f"{plain_digits(top)}/{plain_digits(bottom)}"
