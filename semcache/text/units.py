"""Units of measure: their names in English and Chinese, and their size in a base unit.

Data for `numbers`. Two spellings of one unit have one name; sizes are exact fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["CURRENCY_SIGNS", "UNITS", "UNIT_NAMES", "UNIT_PATTERN", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: `scale` of it make one base unit of its `dimension`; `offset` is for temperatures."""

    dimension: str
    scale: Fraction
    offset: Fraction = Fraction(0)


# name: (dimension, size in the base unit, spellings)
_TABLE: dict[str, tuple[str, str, str]] = {
    "millimetre": ("length", "1/1000", "mm millimeter millimetre millimeters millimetres 毫米"),
    "centimetre": ("length", "1/100", "cm centimeter centimetre centimeters centimetres 厘米 公分"),
    "metre": ("length", "1", "m meter metre meters metres 米 公尺"),
    "kilometre": ("length", "1000", "km kms kilometer kilometre kilometers kilometres 公里 千米"),
    "inch": ("length", "254/10000", "inch inches 英寸"),
    "foot": ("length", "3048/10000", "ft foot feet 英尺"),
    "yard": ("length", "9144/10000", "yd yard yards 码"),
    "mile": ("length", "1609344/1000", "mi mile miles 英里"),
    "milligram": ("mass", "1/1000", "mg milligram milligrams 毫克"),
    "gram": ("mass", "1", "g gram grams gramme grammes 克"),
    "kilogram": ("mass", "1000", "kg kgs kilo kilos kilogram kilograms 公斤 千克"),
    "jin": ("mass", "500", "斤 市斤"),
    "tonne": ("mass", "1000000", "tonne tonnes 吨"),
    "pound": ("mass", "45359237/100000", "lb lbs 磅"),
    "ounce": ("mass", "28349523125/1000000000", "oz ounce ounces 盎司"),
    "millilitre": ("volume", "1/1000", "ml mL milliliter millilitre milliliters millilitres 毫升"),
    "litre": ("volume", "1", "l L liter litre liters litres 升 公升"),
    "gallon": ("volume", "3785411784/1000000000", "gallon gallons 加仑"),
    "millisecond": ("time", "1/1000", "ms millisecond milliseconds 毫秒"),
    "second": ("time", "1", "s sec secs second seconds 秒 秒钟"),
    "minute": ("time", "60", "min mins minute minutes 分钟 分鐘"),
    "hour": ("time", "3600", "h hr hrs hour hours 小时 小時 个小时 個小時 钟头 个钟头"),
    "day": ("time", "86400", "day days 天 日"),
    "week": ("time", "604800", "wk week weeks 周 星期 个星期 礼拜 个礼拜"),
    "month": ("months", "1", "mo month months 个月 個月"),
    "year": ("months", "12", "yr yrs year years 年"),
    "percent": ("share", "1/100", "% ％ percent pct"),
    "celsius": ("temperature", "1", "°C ℃ celsius 摄氏度 度"),
    "fahrenheit": ("temperature", "5/9", "°F ℉ fahrenheit 华氏度"),
    "kelvin": ("temperature", "1", "kelvin kelvins"),
    "bit": ("bits", "1", "bit bits 比特"),
    "byte": ("bytes", "1", "B byte bytes 字节"),
    "kilobyte": ("bytes", "1000", "KB kB kb kilobyte kilobytes"),
    "megabyte": ("bytes", "1000000", "MB mb megabyte megabytes 兆"),
    "gigabyte": ("bytes", "1000000000", "GB gb gigabyte gigabytes"),
    "terabyte": ("bytes", "1000000000000", "TB tb terabyte terabytes"),
    "kibibyte": ("bytes", "1024", "KiB kibibyte kibibytes"),
    "mebibyte": ("bytes", "1048576", "MiB mebibyte mebibytes"),
    "gibibyte": ("bytes", "1073741824", "GiB gibibyte gibibytes"),
    "hertz": ("frequency", "1", "Hz hz hertz 赫兹"),
    "kilohertz": ("frequency", "1000", "kHz khz kilohertz"),
    "megahertz": ("frequency", "1000000", "MHz mhz megahertz"),
    "gigahertz": ("frequency", "1000000000", "GHz ghz gigahertz"),
    "watt": ("power", "1", "W watt watts 瓦"),
    "kilowatt": ("power", "1000", "kW kw kilowatt kilowatts 千瓦"),
    "volt": ("voltage", "1", "V volt volts 伏"),
    "calorie": ("energy", "1", "cal calorie calories 卡"),
    "kilocalorie": ("energy", "1000", "kcal kilocalorie kilocalories 千卡 大卡"),
    "kmh": ("speed", "1", "km/h kmh kph"),
    "mph": ("speed", "1609344/1000000", "mph"),
    "dollar": ("USD", "1", "dollar dollars USD usd buck bucks 美元 美金 刀"),
    "euro": ("EUR", "1", "euro euros EUR eur 欧元"),
    "sterling": ("GBP", "1", "GBP gbp quid 英镑"),
    "yuan": ("CNY", "1", "yuan RMB rmb CNY cny 元 块 块钱 塊 人民币 元人民币"),
    "yen": ("JPY", "1", "yen JPY jpy 日元 日圆 円"),
    "won": ("KRW", "1", "KRW 韩元"),
    "rupee": ("INR", "1", "rupee rupees INR inr 卢比"),
    "ordinal": ("ordinal", "1", ""),
    "acre": ("area", "40468564224/10000000", "acre acres 英亩"),
    "hectare": ("area", "10000", "ha hectare hectares 公顷"),
    "mu": ("area", "2000/3", "亩 畝"),
    "yen or yuan": ("yen or yuan", "1", ""),
    "pound of mass or money": ("pound", "1", "pound pounds"),
}
_OFFSETS = {"celsius": Fraction(27315, 100), "fahrenheit": Fraction(45967, 180)}

UNITS = {
    name: Unit(dimension, Fraction(scale), _OFFSETS.get(name, Fraction(0)))
    for name, (dimension, scale, _) in _TABLE.items()
}
UNIT_NAMES = {
    spelling: name for name, (_, _, spellings) in _TABLE.items() for spelling in spellings.split()
}
CURRENCY_SIGNS = {
    "$": "dollar",
    "€": "euro",
    "£": "sterling",
    "¥": "yen or yuan",
    "￥": "yen or yuan",
    "₹": "rupee",
}


def _escape(spelling: str) -> str:
    return spelling.replace("/", r"\/").replace("°", "°")


UNIT_PATTERN = "|".join(_escape(name) for name in sorted(UNIT_NAMES, key=len, reverse=True))
