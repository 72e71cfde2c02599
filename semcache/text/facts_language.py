"""Which script and which language a prompt is written in, from its letters and small words.

Says "" rather than guess: a language it does not know is one that no guard can read.
"""

from __future__ import annotations

import re

from semcache.text.facts_rules import others

__all__ = ["language_of", "level_for_language", "script_of", "simplified"]

_SCRIPTS = (
    ("kana", re.compile("[\u3041-\u30ff]")),
    ("hangul", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
    ("han", re.compile("[\u3400-\u9fff\uf900-\ufaff]")),
    ("cyrillic", re.compile("[\u0400-\u04ff]")),
    ("arabic", re.compile("[\u0600-\u06ff]")),
    ("devanagari", re.compile("[\u0900-\u097f]")),
    ("greek", re.compile("[\u0370-\u03ff]")),
    ("hebrew", re.compile("[\u0590-\u05ff]")),
    ("thai", re.compile("[\u0e00-\u0e7f]")),
)
_OF_SCRIPT = {
    "kana": "ja",
    "hangul": "ko",
    "han": "zh",
    "cyrillic": "ru",
    "arabic": "ar",
    "devanagari": "hi",
    "greek": "el",
    "hebrew": "he",
    "thai": "th",
}
_LATIN = re.compile("[A-Za-zÀ-ɏḀ-ỿ]+")
_FOREIGN_LETTER = re.compile("[à-öø-ɏḀ-ỿ]")
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_PERSIAN = re.compile("[پچژگکی]")
_ENGLISH = frozenset(
    "the a an of to in is are was were do does did how what which who when where why can could "
    "should would will for and or with my your it this that on at from by be not have has i you we "
    "if there please than as between about give me write explain list tell make need want "
    "get".split()
)

_TRADITIONAL = (
    "開關門問間聞閱閉買賣貴價錢費貸銀鐵鋼銅錄鎖鍵鏡鐘長張東車軍輕輛轉輸運達過還這進遠邊選適遲遞遙遊"
    "時實寫學習書畫聽說話語詞譯讀誰請課談論證識記許該設計試詢詳誤認讓議護變譜訂訊訪評訴診註誌諾謝"
    "電腦網絡線級細組織經結給統維縮縣約紅紙終絕編緩練績繼續總綠紀紹純紐縱"
    "國圖園圓團圍場塊壞壓報執墻壘夠夢奪奮婦媽嬰孫寶寧審對導屆層屬島嶼幣帶師幫幾廣廠庫應廢廳"
    "強彈歸當徑從復後徵德憶懷態慣慮憂戲戰戶擇擊擔據擴擺攝敗數斷舊暫曆曉術機殺權條樂樓標樣樹橋檢歐歡歲歷殘毀氣"
    "決沒淚測漢湯溝準滅滿漲漸潔潛濟濕灣無熱燈營爾牆狀獨獲獎環現產畢異療癥發盡監盤眾睜礎確碼礦禮禍種稱穩積窮競筆節範簡簽類糧"
    "約純紛細聯聰職肅腳臉臺與興舉舊艱藝藥蘇處號虧蟲衛衝裝補製複見規視覺覽觀觸訓"
    "豐豬財責貨質購貼費資賓賞賠賽贈贏負貧趕趙趨跡踐軟較載輯農連週遊鄉郵醫釋釐鄰針釣鈔鉛銷錯錦鍋鎮閃閒閣陣陰陽陳陸階際隊隨險隱隻雙雜雞離難雲霧靈靜頁項順須預領頭題顏願顧顯風飛飯飲館養餘馬駕驗驚驗體鬥魚鮮鳥鳴鹽麗麥黃點黨齊齒龍龜"
    "愛為們個來倉優傳傷億儲兒內兩冊冷凍劃劇劉劍創動務勝勞勢勵區協卻參員單嗎嘆啟嚴嘗響喪噴圖於萬葉僅僑備側債價儀"
    "辦訴驅雖廁妳麼裡佈佔併捲麵鬆髮鬍閱讓繫屍蠅蝦貓貝員圓匯滙"
    "紙蘋樓獄輪聲歸齡鍾讚檔徹積舖擁擾攔攤撥擠揀捨損換損滾濃濾滯潤渦漁渾溫瀏覽營燒煙爐"
)
_SIMPLIFIED = (
    "开关门问间闻阅闭买卖贵价钱费贷银铁钢铜录锁键镜钟长张东车军轻辆转输运达过还这进远边选适迟递遥游"
    "时实写学习书画听说话语词译读谁请课谈论证识记许该设计试询详误认让议护变谱订讯访评诉诊注志诺谢"
    "电脑网络线级细组织经结给统维缩县约红纸终绝编缓练绩继续总绿纪绍纯纽纵"
    "国图园圆团围场块坏压报执墙垒够梦夺奋妇妈婴孙宝宁审对导届层属岛屿币带师帮几广厂库应废厅"
    "强弹归当径从复后征德忆怀态惯虑忧戏战户择击担据扩摆摄败数断旧暂历晓术机杀权条乐楼标样树桥检欧欢岁历残毁气"
    "决没泪测汉汤沟准灭满涨渐洁潜济湿湾无热灯营尔墙状独获奖环现产毕异疗症发尽监盘众睁础确码矿礼祸种称稳积穷竞笔节范简签类粮"
    "约纯纷细联聪职肃脚脸台与兴举旧艰艺药苏处号亏虫卫冲装补制复见规视觉览观触训"
    "丰猪财责货质购贴费资宾赏赔赛赠赢负贫赶赵趋迹践软较载辑农连周游乡邮医释厘邻针钓钞铅销错锦锅镇闪闲阁阵阴阳陈陆阶际队随险隐只双杂鸡离难云雾灵静页项顺须预领头题颜愿顾显风飞饭饮馆养余马驾验惊验体斗鱼鲜鸟鸣盐丽麦黄点党齐齿龙龟"
    "爱为们个来仓优传伤亿储儿内两册冷冻划剧刘剑创动务胜劳势励区协却参员单吗叹启严尝响丧喷图于万叶仅侨备侧债价仪"
    "办诉驱虽厕你么里布占并卷面松发胡阅让系尸蝇虾猫贝员圆汇汇"
    "纸苹楼狱轮声归龄钟赞档彻积铺拥扰拦摊拨挤拣舍损换损滚浓滤滞润涡渔浑温浏览营烧烟炉"
)
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def simplified(text: str) -> str:
    """Write the common traditional Chinese characters in their simplified form.

    >>> simplified("開關門")
    '开关门'
    """
    return text.translate(_TO_SIMPLIFIED)


_TURKISH_LETTER = re.compile("[ıİğĞşŞ]")
_COMMA = re.compile(r"(?<=\d),(?=\d)")


def level_for_language(text: str) -> str:
    """Write capitals and decimal commas as the language of the text means them.

    In Turkish the small letter of I is ı: "SINIR" is a border, "sinir" a nerve. A decimal comma
    becomes "٫", so that nothing takes it for a mark that groups thousands.

    >>> level_for_language("SINIR nedir")
    'SıNıR nedir'
    >>> level_for_language("Wie viel sind 1,250 kg?"), level_for_language("What is 1,250 kg?")
    ('Wie viel sind 1٫250 kg?', 'What is 1,250 kg?')
    """
    has_capital, has_comma = "I" in text or "İ" in text, _COMMA.search(text) is not None
    if not (has_capital or has_comma) or script_of(text) != "latin":
        return text
    votes = _votes(text)
    if votes.pop("en"):
        return text
    if has_capital and (votes["tr"] or _TURKISH_LETTER.search(text)):
        text = text.replace("I", "ı").replace("İ", "i")
    return _COMMA.sub("٫", text) if has_comma and any(votes.values()) else text


def script_of(text: str) -> str:
    """The script of a text: the first of kana, hangul, han, ... that it holds, else latin or "".

    >>> script_of("怎么用 Python 排序"), script_of("How?"), script_of("42")
    ('han', 'latin', '')
    """
    if text.isascii():
        return "latin" if _LATIN.search(text) else ""
    for name, pattern in _SCRIPTS:
        if pattern.search(text):
            return name
    return "latin" if _LATIN.search(text) else ""


def language_of(text: str, script: str) -> str:
    """ISO 639-1 code of the language, "" if it is not one that is known here.

    >>> language_of("¿Cómo puedo abrir la ventana?", "latin")
    'es'
    """
    if script == "cyrillic":
        return "uk" if _UKRAINIAN.search(text) else "ru"
    if script == "arabic":
        return "fa" if _PERSIAN.search(text) else "ar"
    if script == "han" and _mostly_latin(text):
        return _latin_language(text)
    if script == "latin":
        return _latin_language(text)
    return _OF_SCRIPT.get(script, "")


def _mostly_latin(text: str) -> bool:
    words = [word.lower() for word in _LATIN.findall(text)]
    return len(words) >= 4 and sum(word in _ENGLISH for word in words) >= 2


def _votes(text: str) -> dict[str, int]:
    """How many small words of each language that is written in Latin letters a text holds."""
    words = [word.lower() for word in _LATIN.findall(text)]
    votes = {"en": sum(word in _ENGLISH for word in words)}
    if votes["en"] >= 3 and 3 * votes["en"] >= len(words) and text.isascii():
        return votes | dict.fromkeys(others(), 0)
    for code, language in others().items():
        votes[code] = sum(word in language.function for word in words)
    return votes


def _latin_language(text: str) -> str:
    votes = _votes(text)
    best = max(votes, key=lambda code: votes[code])
    if votes[best] > votes["en"] and (votes[best] >= 2 or _FOREIGN_LETTER.search(text.lower())):
        return best
    if votes["en"]:
        return "en"
    return "" if _FOREIGN_LETTER.search(text.lower()) else "en"
