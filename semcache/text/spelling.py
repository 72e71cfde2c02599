"""Spellings that mean the same word: British and American, contractions, common variants.

Rules over checked stems. A pair with two meanings anywhere must not be here: storey/story,
cheque/check, practice/practise, licence/license, draught/draft, disc/disk, dialogue/dialog (a
window), prologue/Prolog, defence/defense (two ministries), spectre/specter, whisky/whiskey, spelt
(a grain), labour/labor (two parties), metre/meter in the singular (a device) and analyses (a
plural as well as a verb).
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["CONTRACTIONS", "level_spelling"]

_OUR = (
    "arbour ardour armour behaviour candour clamour clangour colour demeanour discolour "
    "dishonour endeavour favour fervour flavour harbour honour humour misbehaviour neighbour odour "
    "parlour rancour rigour rumour saviour savour splendour succour tumour valour vapour vigour "
    "watercolour"
)
_OUR_ENDS = (
    " s ed ing ite ites itism able ably ful fully less er ers al ally ism ist hood hoods ly y ies "
    "ings"
)
_ISE = (
    "apolog author capital categor central character civil colon computer criminal crystall "
    "custom democrat digit econom emphas equal fantas familiar final formal general harmon "
    "hospital hypothes immun industrial initial international item jeopard legal liberal local "
    "material maxim mechan memor minim mobil modern monet monopol national natural neutral normal "
    "optim organ oxid parallel patron penal personal plagiar polar popular prior privat public "
    "random rational real recogn reorgan revital serial social special stabil standard steril "
    "subsid summar symbol sympath synchron synthes terror token urban util vandal visual vocal "
    "acclimat agon amort anonym antagon brutal canon cauter disorgan energ epitom eulog "
    "fossil fratern galvan homogen hypnot ideal ion italic marginal metabol moral "
    "mesmer natural parametr pasteur pressur pulver ritual sanit scandal scrutin "
    "sensit stigmat trivial unauthor uncategor unrecogn verbal victim vapor weapon"
)
_ISE_ENDS = "e es ed ing er ers ation ations able"
_YSE_ENDS = "e ed ing er ers able"
_YSE = "anal paral catal hydrol electrol dial psychoanal reanal overanal"
_RE = (
    "calibre centre epicentre fibre goitre kilometre centimetre millimetre micrometre litre "
    "millilitre centilitre lustre meagre nanometre ochre sabre saltpetre sceptre sepulchre sombre "
    "theatre amphitheatre"
)
_DOUBLED = (
    "barrel bevel cancel channel chisel counsel dial dishevel duel enamel equal flannel fuel "
    "funnel gravel grovel initial jewel kennel label laurel level libel marshal marvel "
    "model panel parcel pedal pencil pummel quarrel ravel refuel relabel remodel revel rival "
    "shovel shrivel signal snivel spiral stencil swivel symbol total towel travel tunnel "
    "unravel victual yodel"
)
_DOUBLED_ENDS = "ed ing er ers or ors ings ous ously"
_PAIRS = (
    "aeroplane:airplane aeroplanes:airplanes ageing:aging aluminium:aluminum amongst:among "
    "anaemia:anemia anaemic:anemic anaesthesia:anesthesia anaesthetic:anesthetic "
    "anaesthetist:anesthetist artefact:artifact artefacts:artifacts "
    "caesarean:cesarean catalogue:catalog catalogued:cataloged catalogues:catalogs "
    "cataloguing:cataloging analogue:analog analogues:analogs travelogue:travelog cosy:cozy "
    "cosier:cozier "
    "diarrhoea:diarrhea doughnut:donut doughnuts:donuts dreamt:dreamed encyclopaedia:encyclopedia "
    "enrol:enroll enrols:enrolls enrolment:enrollment enrolments:enrollments foetal:fetal "
    "foetus:fetus fulfil:fulfill fulfils:fulfills fulfilment:fulfillment grey:gray greys:grays "
    "greyed:grayed greyer:grayer greyish:grayish greyscale:grayscale gynaecologist:gynecologist "
    "gynaecology:gynecology haematology:hematology haemoglobin:hemoglobin haemophilia:hemophilia "
    "haemorrhage:hemorrhage haemorrhoids:hemorrhoids homoeopathy:homeopathy instalment:installment "
    "instalments:installments instil:instill jewellery:jewelry judgement:judgment "
    "judgements:judgments acknowledgement:acknowledgment learnt:learned leukaemia:leukemia "
    "manoeuvre:maneuver manoeuvres:maneuvers maths:math metres:meters mould:mold mouldy:moldy "
    "moulds:molds moustache:mustache moustaches:mustaches oesophagus:esophagus oestrogen:estrogen "
    "offence:offense offences:offenses omelette:omelet omelettes:omelets orthopaedic:orthopedic "
    "paediatric:pediatric paediatrician:pediatrician palaeontology:paleontology "
    "plough:plow ploughed:plowed ploughing:plowing ploughs:plows pretence:pretense "
    "programme:program programmes:programs pyjamas:pajamas sceptic:skeptic sceptical:skeptical "
    "scepticism:skepticism sceptics:skeptics skilful:skillful skilfully:skillfully "
    "smoulder:smolder sulphur:sulfur sulphuric:sulfuric sulphate:sulfate sulphide:sulfide "
    "towards:toward tyre:tire tyres:tires whilst:while wilful:willful "
    "woollen:woolen woolly:wooly yoghurt:yogurt yoghurts:yogurts e-mail:email e-mails:emails "
    "on-line:online web-site:website web-sites:websites wi-fi:wifi ok:okay"
)

_IS_AFTER = "what who where when why how that there it he she this"
_NOT_AFTER = "is are was were do does did have has had would should could"
_TAILS = (("re", "are"), ("ve", "have"), ("ll", "will"))

CONTRACTIONS: dict[str, tuple[str, ...]] = {
    **{f"{subject}'s": (subject, "is") for subject in _IS_AFTER.split()},
    **{
        f"{subject}'{tail}": (subject, word)
        for subject in ("you", "we", "they", "i")
        for tail, word in _TAILS
        if (subject, tail) != ("i", "re")
    },
    **{f"{subject}'ll": (subject, "will") for subject in ("he", "she", "it", "that", "what")},
    **{f"{verb}n't": (verb, "not") for verb in (*_NOT_AFTER.split(), "must", "need")},
    "i'm": ("i", "am"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    # Without the apostrophe only where that is no other word: not cant, wont, were, ill, its, im.
    "whats": ("what", "is"),
    "wheres": ("where", "is"),
    "hows": ("how", "is"),
    **{f"{verb}nt": (verb, "not") for verb in _NOT_AFTER.split()},
}


@lru_cache(maxsize=1)
def _variants() -> dict[str, str]:
    table = dict(pair.split(":") for pair in _PAIRS.split())
    for stem in _OUR.split():
        table |= {stem + end: stem[:-3] + "or" + end for end in _OUR_ENDS.split(" ")}
    for stem in _ISE.split():
        table |= {f"{stem}is{end}": f"{stem}iz{end}" for end in _ISE_ENDS.split()}
    for stem in _YSE.split():
        table |= {f"{stem}ys{end}": f"{stem}yz{end}" for end in _YSE_ENDS.split()}
    for word in _RE.split():
        level = word[:-2] + "er"
        table |= {word: level, word + "s": level + "s", word + "d": level + "ed"}
    for stem in _DOUBLED.split():
        table |= {f"{stem}l{end}": stem + end for end in _DOUBLED_ENDS.split()}
    return table


def level_spelling(word: str) -> str:
    """Return the American spelling of a lower-case English word, or the word itself.

    >>> level_spelling("organised"), level_spelling("advised"), level_spelling("storey")
    ('organized', 'advised', 'storey')
    """
    return _variants().get(word, word)
