"""What names look like, and the words that begin like them."""

from __future__ import annotations

import re
from collections.abc import Callable

from turnloom.corpus.privacy.first_names import FIRST_NAMES
from turnloom.corpus.privacy.pattern import Pattern, hint_of

__all__ = [
    "CAPITAL",
    "FOLLOWS",
    "FULL",
    "NAME",
    "NO_NAMES",
    "PARTICLES",
    "STOP",
    "TITLE",
    "after",
    "is_any",
    "is_first_name",
    "is_name",
    "is_small_name",
    "named",
]

CAPITAL = r"[A-ZÀ-ÞŁŚŻŽČĆÇŞİĐŠŘŌŪ]"
NAME = (
    r"(?:[OD]['’](?=[A-Z]))?[A-ZÀ-ÖØ-ÞŁŚŻŽČĆÇŞİĐŠŘŌŪ](?:[a-zà-öø-ÿĀ-ɏḀ-ỿ]{1,20}|"
    r"\.)(?:['’-]?[A-Z][a-zà-öø-ÿ]{1,20}|"
    r"-[a-zà-öø-ÿ]{1,20})?"
)
PARTICLES = r"(?:(?:de|del|van|von|der|den|da|dos|al|el|bin|la|ten|ter|di|du|le) ){0,2}"
FULL = rf"{NAME}(?: {PARTICLES}{NAME}){{0,3}}"
TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mx|Mister|Rev|Capt|Dr|Prof|Herr|Herrn|Frau|Madame|Monsieur|Mme|Señora|Señor|Sra|Sr|Sig|"
    r"Signor|Signora|"
    r"Sig\.ra|Mevrouw|Meneer|Pan|Pani)\.?"
)
NO_NAMES = frozenset(
    """
    there team all everyone everybody guys folks friend friends again sir madam customer customers customer's
    support service you your yours the this that these those we i it its it's i'm i've i'd for and or but so if in
    on at of to as is are was be my our good morning afternoon evening day night world kitty please thanks thank
    sorry hello hi hey dear welcome yes no not now just can could would will do does did what when where why who how
    have has had let lets we'll we're we've you're they he she her his their there's that's here today tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december happy glad great nice best kind regards with from also still any
    anyone someone one two three first back much very lot another more most agent representative rep account order
    flight delta united american southwest jetblue alaska virgin british airways lufthansa amazon google apple
    microsoft samsung facebook twitter instagram paypal netflix spotify uber airlines airline dm dms us usa uk eu pm
    am ok okay oh well then alright sure absolutely certainly mr mrs ms done sent paid gone found made ready seen
    left lost wait look listen anyway besides instead therefore thus hence alas siri alexa cortana bot assistant
    admin moderator manager ladies gentlemen mom dad bro dude man buddy everything each both dm'd however meanwhile
    otherwise indeed correct further furthermore perhaps next apologies yikes ouch wow hmm ugh regardless definitely
    until once while though although since because after before during per unless additionally hopefully currently
    usually likely maybe true right exactly agreed awesome fantastic excellent amazing wonderful cool fine yep yeah
    yup nope passenger traveler traveller flyer valued ma'am maam santa god lord jesus christ christmas new year
    easter thanksgiving crew tweet jets people employee partners sales billing accounts claims finance hr legal
    reception returns deliveries logistics marketing engineering security fraud operations maintenance urgent
    ridiculous black white prime premium gold silver platinum plus pro max mini air pixel galaxy iphone ipad windows
    android chrome outlook gmail hotmail yahoo tesla bmw audi ford toyota honda visa mastercard amex discover
    vodafone verizon comcast xfinity sprint telekom orange ee o2 bt sky tmobile att dhl fedex ups usps hermes evri
    dpd royal walmart target ikea argos tesco costco ebay etsy zalando asos nike adidas airbnb booking expedia
    emirates etihad qatar easyjet ryanair wizz jet2 klm iberia qantas cathay lyft deliveroo doordash revolut monzo
    starling barclays lloyds natwest hsbc santander halifax citibank chase hulu disney youtube whatsapp telegram
    signal zoom teams slack discord steam xbox playstation nintendo sony lg dell hp lenovo asus acer bosch dyson
    nest ring fitbit garmin hilton marriott hyatt sheraton ibis starbucks subway mcdonalds france germany spain
    italy portugal england scotland wales ireland britain poland austria switzerland belgium netherlands holland
    denmark sweden norway finland greece turkey russia ukraine india china japan korea thailand vietnam australia
    canada mexico brazil argentina chile peru colombia egypt morocco kenya nigeria ghana dubai texas california
    florida ohio london paris berlin madrid rome milan vienna prague warsaw lisbon dublin manchester birmingham
    liverpool leeds glasgow edinburgh cardiff bristol boston chicago dallas houston denver seattle atlanta miami
    phoenix philadelphia detroit toronto vancouver montreal sydney melbourne auckland tokyo delhi mumbai singapore
    frankfurt munich hamburg amsterdam brussels zurich geneva barcelona orlando vegas heathrow gatwick stansted
    luton jfk lax europe asia africa america french german spanish italian english irish scottish welsh indian
    chinese japanese korean mexican canadian australian dutch polish russian turkish greek jewish muslim christian
    catholic vegan gluten internet wifi broadband fibre netbanking bluetooth covid monday's wrong tried trying
    waiting calling writing asking looking getting going having being feeling using unable able keen desperate
    fuming livid disgusted furious angry upset annoyed worried confused interested stuck late early busy free sick
    tired bored last final extra under over never always only even almost about around between such same different
    bad worse worst better big small old young long short high low fast slow full empty relations experience exec
    executive club college church school university hospital hotel park station airport intel nvidia amd linux
    ubuntu debian java python centre center department desk line office island lake river which whose whom whatever
    whenever wherever sort code number name address phone email card ticket password pin date birth time id passport
    """.split()
)


_NO_ENDING = re.compile(
    r"(?:ous|ful|less|[ai]ble|tion|ments?|ness|ingly|[a-z]{4}ing|ically|ish|ism|ized|ised|n't|gate)$"
)


_DEPARTMENTS = re.compile(r" (?:Team|Department|Dept|Desk|Services?|Support|Care|Relations|Office|Line|Centre|Center)$")


def is_name(value: str, before: str) -> bool:
    """Whether the first word of what is written like a name can be one."""
    word = re.split(r"[ .]", value.lower())[0]
    if _DEPARTMENTS.search(value):
        return False
    return word in FIRST_NAMES or (word not in NO_NAMES and _NO_ENDING.search(word) is None)


def is_first_name(value: str, before: str) -> bool:
    """Whether the first word is a common first name."""
    return re.split(r"[ ]", value.lower())[0] in FIRST_NAMES


STOP = r"(?= ?(?:[,.!?:;…\n)–—&]|-(?!\w)|$|http|<|[\U0001F300-\U0001FAFF☀-➿]))"
FOLLOWS = r"(?=[\s,.!?:;…)–—-]|$)"


def after(cues: str, value: str, gap: str = r"[ ,:\n]{1,3}") -> re.Pattern[str]:
    """Compile a shape of what stands after one of several cues."""
    return re.compile(rf"(?<![\w<@#])(?=\w)(?i:{cues})(?:{gap}){value}")


def named(hint: str, shape: re.Pattern[str] | str, check: Callable[[str, str], bool] = is_name) -> Pattern:
    """Make a pattern of a name."""
    return Pattern("NAME", hint_of(hint), re.compile(shape), check, digits=False)


def is_any(value: str, before: str) -> bool:
    """Accept: the shape says enough."""
    return True


_ABOUT_NAMES = frozenset(
    "spelled spelt misspelled misspelt wrong incorrect missing different changed spelling listed under "
    "registered showing same correct "
    "visible hidden long short required needed too being written there here blocked sure nobody none".split()
)


def is_small_name(value: str, before: str) -> bool:
    """Whether words that answer to a name are one, and not about it."""
    return not (NO_NAMES | _ABOUT_NAMES) & set(value.lower().split())
